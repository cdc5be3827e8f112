"""One envelope for every failure, whoever finds it: services, DRF, or Django itself. It never quotes what failed."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError
from rest_framework.exceptions import Throttled

from tests.wiki.api import contract
from tests.wiki.api.conftest import Rest, refused
from vault.errors import ErrorCode, SynapseError
from wiki import services
from wiki.models import Page

SECRET = "/home/somebody/vault SELECT secret FROM t"
NEVER = [b"/home/", b"SELECT", b"Traceback", b"secret"]


def fail_status(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let the service behind GET /status raise."""

    def broken() -> Any:
        raise error

    monkeypatch.setattr(services, "status", broken)


@pytest.mark.parametrize(
    "error",
    [RuntimeError(SECRET), ProgrammingError(SECRET), OSError(5, SECRET), KeyError(SECRET), RecursionError(SECRET)],
)
def test_what_escapes_a_service_says_nothing(
    rita: Rest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    fail_status(monkeypatch, error)
    answer = rita.get("/status")
    refused(answer, 500, "internal_error")
    assert not [word for word in NEVER if word in answer.content]
    assert "StatusView" in caplog.text


@pytest.mark.parametrize("error", [OperationalError(SECRET), InterfaceError(SECRET)])
def test_a_database_that_is_away_is_said_and_when_to_come_again(
    rita: Rest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    fail_status(monkeypatch, error)
    answer = rita.get("/status")
    envelope = refused(answer, 503, "dependency_missing")
    assert "database does not answer" in envelope["error"]
    assert answer["Retry-After"] == "5"
    assert not [word for word in NEVER if word in answer.content]
    assert "Traceback" not in caplog.text and SECRET not in caplog.text


def test_the_log_has_the_place_and_not_the_text(
    rita: Rest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from synapse.logs import JsonLineFormatter

    def broken() -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(services, "status", broken)
    with caplog.at_level(logging.ERROR):
        rita.get("/status")
    lines = [JsonLineFormatter().format(record) for record in caplog.records]
    assert any("RuntimeError" in line and "test_envelope.py" in line for line in lines)
    assert not [line for line in lines if "secret" in line or "/home/" in line]


def test_every_code_of_the_catalog_comes_with_its_status(rita: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "check", lambda *_: None)  # no service refuses all that is tried here
    for code in ErrorCode:

        def refuse(code: ErrorCode = code) -> Any:
            raise SynapseError(code, "A sentence.", hint="repair")

        monkeypatch.setattr(services, "status", refuse)
        answer = rita.get("/status")
        envelope = refused(answer, SynapseError(code, "").status, code.value)
        assert envelope == {"error": "A sentence.", "error_code": code.value, "hint": "repair"}


def test_throttling_says_how_long(rita: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    def throttled() -> Any:
        raise Throttled(wait=1.2)

    monkeypatch.setattr(contract, "check", lambda *_: None)
    monkeypatch.setattr(services, "status", throttled)
    answer = rita.get("/status")
    refused(answer, 429, "rate_limited")
    assert answer["Retry-After"] == "2"


def test_addresses_that_are_none(rita: Rest, nobody: Rest) -> None:
    for rest in (rita, nobody):
        refused(rest.get("/nothing/here"), 404, "not_found")
        refused(rest.get("/%00"), 404, "not_found")
        refused(rest.get("/wp-login.php"), 404, "not_found")


def test_a_host_that_is_not_served(rita: Rest) -> None:
    envelope = refused(rita.get("/status", Host="evil.example"), 400, "malformed_body")
    assert "SYNAPSE_ALLOWED_HOSTS" in envelope["error"]
    assert "evil" not in envelope["error"]


def test_a_host_that_is_not_served_is_no_failure_in_the_log(rita: Rest, caplog: pytest.LogCaptureFixture) -> None:
    rita.get("/status", Host="evil.example")
    records = [record for record in caplog.records if record.name == "django.security.DisallowedHost"]
    assert [(record.levelname, record.exc_info) for record in records] == [("WARNING", None)]


@pytest.mark.parametrize("method", ["PATCH", "DELETE", "TRACE", "BREW"])
def test_methods_that_an_address_does_not_take(wanda: Rest, method: str) -> None:
    answer = wanda.call(method, "/pages")
    refused(answer, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(answer["Allow"].split(", "))


def test_forms_that_are_not_served(rita: Rest, turing: Page) -> None:
    refused(rita.get(f"/pages/{turing.uid}", Accept="text/html"), 406, "not_acceptable")
    refused(rita.get("/docs", Accept="application/x-nothing"), 406, "not_acceptable")
    assert rita.get(f"/pages/{turing.uid}", Accept="text/html,*/*;q=0.1").status_code == 200


def test_the_page_of_the_documentation_can_only_be_got(rita: Rest) -> None:
    answer = rita.call("OPTIONS", "/docs")
    refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "GET, HEAD"


def test_the_documents_are_shown_to_those_who_may_read(rita: Rest) -> None:
    document = rita.get("/openapi.json", Accept="application/json")
    assert document.json()["openapi"].startswith("3.")
    page = rita.get("/docs", Accept="text/html")
    assert page.status_code == 200
    assert b"<script>" not in page.content
    assert b"https://" not in page.content


def test_a_failure_before_any_view_is_an_envelope_too(rita: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("django.contrib.sessions.middleware.SessionMiddleware.process_request", broken)
    rita.client.raise_request_exception = False
    answer = rita.get("/status")
    refused(answer, 500, "internal_error")
    assert b"secret" not in answer.content


def test_a_person_in_the_admin_gets_a_page_instead(nobody: Rest) -> None:
    answer = nobody.get("/admin/nothing/")
    assert answer.status_code in (302, 404)
    assert "json" not in answer["Content-Type"]
