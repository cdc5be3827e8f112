"""Addresses at which there is nothing, and failures: a page for whoever looks, the envelope for programs."""

from __future__ import annotations

import re

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import URLResolver, get_resolver

from desk.views import failures, front
from desk.views.failures import FOR_PROGRAMS
from tests.conftest import VaultFolder

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
NOWHERE = ["/nothing", "/wiki/Alan", "/admin/nothing/", "/%00", "/keys/more", "/a/%3Cscript%3Ealert(1)%3C/script%3E"]
#: Addresses of the REST urls that are pages for people.
PAGES = {"docs", "authorize", "login", "logout"}


@pytest.mark.parametrize("address", NOWHERE)
def test_who_is_signed_in_is_told_where_to_go_on(reader: Client, wiki: VaultFolder, address: str) -> None:
    answer = reader.get(address, headers=BROWSER)
    html = answer.content.decode()
    assert answer.status_code == 404 and answer["Content-Type"].startswith("text/html")
    assert "Nothing is at this address" in html and 'aria-label="Main"' in html and html.count("<h1") == 1
    assert "<script>alert" not in html and "Traceback" not in html


@pytest.mark.parametrize("address", [address for address in NOWHERE if not address.startswith("/admin")])
def test_strangers_learn_nothing(client: Client, wiki: VaultFolder, address: str) -> None:
    answer = client.get(address, headers=BROWSER)
    html = answer.content.decode()
    assert answer.status_code == 404
    assert "Nothing is here" in html and "Sign in" in html
    assert 'aria-label="Main"' not in html and "Queue" not in html and "/admin/" not in html


@pytest.mark.parametrize("address", ["/api", "/api/v1/pages", "/mcp2", "/pages/x/y", "/search/x", "/.well-known/x"])
@pytest.mark.parametrize("accept", ["application/json", "*/*", None])
def test_programs_get_the_envelope(client: Client, db: None, address: str, accept: str | None) -> None:
    answer = client.get(address, headers={"Accept": accept} if accept else {})
    assert answer.status_code == 404
    assert answer.json()["error_code"] == "not_found"


@pytest.mark.parametrize("address", ["/api", "/api/v1/pages", "/pages/x/y", "/search/x", "/.well-known/x", "/static/x"])
def test_below_addresses_of_programs_a_browser_gets_the_envelope_too(client: Client, db: None, address: str) -> None:
    answer = client.get(address, headers=BROWSER)
    assert answer.status_code == 404
    assert answer.json()["error_code"] == "not_found"


def test_every_address_of_programs_is_known_as_one() -> None:
    included = [entry for entry in get_resolver().url_patterns if isinstance(entry, URLResolver)]
    patterns = [
        str(pattern.pattern)
        for entry in included
        if entry.app_name not in ("desk", "admin")
        for pattern in entry.url_patterns
    ]
    roots = {re.split(r"/|\?", pattern.lstrip("^").replace("\\", ""))[0] for pattern in patterns}
    assert {"pages", "review", ".well-known"} <= roots
    assert roots - PAGES <= FOR_PROGRAMS


def test_a_failure_of_ours_is_a_page_that_says_nothing_of_it(
    reader: Client, wiki: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(front, "trouble", broken)
    reader.raise_request_exception = False
    answer = reader.get("/", headers=BROWSER)
    assert answer.status_code == 500
    assert b"did not work" in answer.content and b"secret" not in answer.content
    assert reader.get("/").json()["error_code"] == "internal_error"


def test_a_database_that_is_away_is_told_without_it(
    reader: Client, wiki: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(front, "trouble", away)
    monkeypatch.setattr(failures.admin.site, "has_permission", away)
    reader.raise_request_exception = False
    for address in ("/", "/nothing"):
        answer = reader.get(address, headers=BROWSER)
        assert answer.status_code == 503
        assert b"did not work" in answer.content and answer["Retry-After"]


def test_an_account_without_the_permission_is_told_so(reader: Client, wiki: VaultFolder) -> None:
    answer = reader.get("/admin/wiki/page/", headers=BROWSER)
    assert answer.status_code == 403
    assert "may not do this" in answer.content.decode()
