"""Answers of links that need not wait: while an empty index is filled, most links lead to the one file of that name.

The walk has named every file before the first page is read, and a path goes before titles and aliases. So a link is
answered when its page is written, if exactly one file has the name that it asks for and that file's page has its row.
All other links wait until all pages are there. What comes or goes later has those links resolved again that ask for
its name, as always.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from vault.links import RESOLVED, Targets, resolve
from wiki.models import LinkKind
from wiki.sync.values import LINK_FIELDS

_STATE: Final = LINK_FIELDS.index("state")
_KIND, _TEXT, _NAME_KEY = (LINK_FIELDS.index(name) for name in ("kind", "text", "name_key"))


class EarlyAnswers:
    """The files that a walk found in a vault of which the index knows nothing, and the rows of pages written since."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._targets = Targets()
        for path in paths:
            self._targets.add_file(path, page=True)
        self._pks: dict[str, int] = {}

    def add_pages(self, rows: Iterable[tuple[str, int]]) -> None:
        """Take in pages whose rows are written, as (path, number)."""
        self._pks.update(rows)

    def answered(self, source: str, links: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Links of the page at ``source`` (the values of LINK_FIELDS) with the answers that are certain by now."""
        return [self._answered(source, link) for link in links]

    def _answered(self, source: str, link: tuple[Any, ...]) -> tuple[Any, ...]:
        candidates = self._targets.files(link[_NAME_KEY])
        if len(candidates) != 1 or (pk := self._pks.get(candidates[0][1])) is None:
            return link
        markdown = link[_KIND] == LinkKind.MARKDOWN.value
        found = resolve(link[_TEXT], source=source, targets=self._targets, markdown=markdown)
        return (*link[:_STATE], found.state, found.path, pk) if found.state == RESOLVED else link
