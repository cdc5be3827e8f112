"""The callers of these tests: Rita reads, Paula proposes, Wanda writes, each with a token; Nobody shows none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from tests.conftest import VaultFolder
from tests.wiki.api import contract
from vault.history import Author
from wiki.models import Page, Scope
from wiki.services import write_page
from wiki.tokens import create_token

CLAUDE = Author("claude", "mcp-stdio")


class Rest:
    """A client of the REST surface that shows one token, or none."""

    def __init__(self, token: str | None = None) -> None:
        self.client = Client()
        self.token = token

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Send one request; ``body`` as JSON unless it is bytes. Header names with ``_`` for ``-``."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        content_type = sent.pop("Content-Type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(method, path, data, content_type=content_type, headers=sent)
        contract.check(method, path, response)
        return response

    def get(self, path: str, **headers: str) -> Any:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("POST", path, body, **headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("PUT", path, body, **headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.call("PATCH", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Any:
        return self.call("DELETE", path, **headers)


@pytest.fixture
def vault(vault_folder: VaultFolder, db: None) -> VaultFolder:
    """The vault that the server of these tests serves."""
    return vault_folder


@pytest.fixture
def nobody(vault: VaultFolder) -> Rest:
    return Rest()


@pytest.fixture
def rita(vault: VaultFolder) -> Rest:
    return Rest(create_token(name="rita", scope=Scope.READ)[1])


@pytest.fixture
def paula(vault: VaultFolder) -> Rest:
    return Rest(create_token(name="paula", scope=Scope.PROPOSE)[1])


@pytest.fixture
def wanda(vault: VaultFolder) -> Rest:
    return Rest(create_token(name="wanda", scope=Scope.WRITE)[1])


def frontmatter(title: str, kind: str = "concept") -> dict[str, Any]:
    """The least that a page needs."""
    return {"type": kind, "title": title, "sources": ["raw/sources/a.md"], "lang": "en"}


@pytest.fixture
def turing(vault: VaultFolder) -> Page:
    """A page that an agent has written."""
    return page("Alan Turing", "Alan Turing founded computer science.\n", kind="entity")


def page(title: str, content: str = "Text.\n", *, kind: str = "concept") -> Page:
    """Write a page as an agent does."""
    return write_page(title=title, content=content, frontmatter=frontmatter(title, kind), author=CLAUDE).page


def refused(response: Any, status: int, code: str) -> dict[str, Any]:
    """The envelope of a response that must be a refusal of this status and code."""
    assert response.status_code == status, response.content[:300]
    assert response["Content-Type"] == "application/json"
    envelope: dict[str, Any] = response.json()
    assert envelope["error_code"] == code, envelope
    assert isinstance(envelope["error"], str)
    return envelope
