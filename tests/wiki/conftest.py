"""The people of these tests: Claude writes through MCP, Alice through the REST door."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from vault.history import Author
from wiki.services import PageWritten, write_page

CLAUDE = Author("claude", "mcp-stdio")
ALICE = Author("alice", "rest")


class Writer:
    """Somebody who writes pages; what follows a commit has happened when a call returns."""

    def __init__(self, author: Author, committing: Callable[..., AbstractContextManager[Any]]) -> None:
        self.author = author
        self._committing = committing

    def do(self, service: Callable[..., Any], **arguments: Any) -> Any:
        """Call a service as this author."""
        with self._committing(execute=True):
            return service(author=self.author, **arguments)

    def write(
        self,
        title: str,
        content: str = "Text.\n",
        *,
        type: str = "concept",
        sources: tuple[str, ...] = ("raw/sources/a.md",),
        frontmatter: dict[str, Any] | None = None,
        **options: Any,
    ) -> PageWritten:
        """Write a page with the least that is required."""
        given = {"type": type, "title": title, "sources": list(sources), "lang": "en", **(frontmatter or {})}
        result: PageWritten = self.do(write_page, title=title, content=content, frontmatter=given, **options)
        return result


@pytest.fixture
def claude(django_capture_on_commit_callbacks: Any) -> Iterator[Writer]:
    """An agent."""
    yield Writer(CLAUDE, django_capture_on_commit_callbacks)


@pytest.fixture
def alice(django_capture_on_commit_callbacks: Any) -> Iterator[Writer]:
    """A person."""
    yield Writer(ALICE, django_capture_on_commit_callbacks)
