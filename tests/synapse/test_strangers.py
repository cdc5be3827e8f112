"""Requests without a valid token or session are few from one address; who is known is not shut out by them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from synapse.strangers import with_few_strangers
from wiki import throttling
from wiki.throttling import Kind, Known, Limits, address_of

GOOD, BAD = b"Bearer good", b"Bearer bad"
SESSION = (b"cookie", b"a=b; sessionid=x")


@pytest.fixture(autouse=True)
def three_a_minute(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    settings.SYNAPSE_STRANGERS_PER_MINUTE = 3
    monkeypatch.setattr(throttling, "limits", Limits(clock=lambda: 0.0))
    monkeypatch.setattr(throttling, "known", Known())
    yield


class Door:
    """An application with one valid token, which counts whom it was asked to look at."""

    def __init__(self) -> None:
        self.looked_at = 0
        self.valid = {GOOD}
        self._guarded = with_few_strangers(self._serve)

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        self.looked_at += 1
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        for value in set(shown) & self.valid:
            throttling.known.add(value)
        open_to_all = scope["path"].startswith(("/health", "/static", "/admin/login"))
        status = 200 if set(shown) & self.valid or open_to_all else 401
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    def ask(
        self,
        token: bytes | None = None,
        *headers: tuple[bytes, bytes],
        host: str | None = "192.0.2.1",
        path: str = "/pages",
        method: str = "GET",
    ) -> int:
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "client": (host, 1) if host else None,
            "headers": [*([(b"authorization", token)] if token else []), *headers],
        }
        answers: list[Any] = []

        async def send(message: Any) -> None:
            answers.append(message)

        asyncio.run(self._guarded(scope, None, send))  # type: ignore[arg-type]
        status: int = answers[0]["status"]
        if status == 429:
            assert dict(answers[0]["headers"])[b"retry-after"].isdigit()
            assert json.loads(answers[1]["body"])["error_code"] == "rate_limited"
        return status


@pytest.mark.parametrize("token", [None, BAD])
def test_strangers_are_few_and_not_looked_at_beyond(token: bytes | None) -> None:
    door = Door()
    assert [door.ask(token) for _ in range(5)] == [401, 401, 401, 429, 429]
    assert door.looked_at == 3


def test_guesses_are_not_answered_right_or_wrong_beyond() -> None:
    door = Door()
    for number in range(3):
        assert door.ask(b"Bearer %d" % number) == 401
    assert door.ask(GOOD) == 429, "the one that would have been right"
    assert door.ask(GOOD, host="192.0.2.2") == 200


def test_who_is_known_is_not_shut_out_by_others_at_the_address() -> None:
    door = Door()
    assert door.ask(GOOD) == 200
    assert [door.ask() for _ in range(3)] == [401, 401, 429]
    assert [door.ask(GOOD) for _ in range(9)] == [200] * 9


def test_a_token_that_was_revoked_is_not_known_any_more() -> None:
    door = Door()
    door.ask(GOOD)
    door.valid.clear()
    assert [door.ask(GOOD) for _ in range(4)] == [401, 401, 429, 429]


def test_a_session_is_looked_at_and_counts_when_it_is_none() -> None:
    door = Door()
    assert [door.ask(None, SESSION) for _ in range(4)] == [401] * 4
    assert door.ask(BAD) == 429
    assert door.ask(BAD, SESSION) == 429, "a cookie does not let tokens be guessed"


def test_passwords_are_tried_as_strangers_do() -> None:
    door = Door()
    tried = [door.ask(None, SESSION, path="/admin/login/", method="POST") for _ in range(4)]
    assert tried == [200, 200, 200, 429]
    assert door.ask(None, SESSION, path="/admin/login/") == 200


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/static/admin/css/base.css"])
def test_who_watches_over_the_server_is_not_counted(path: str) -> None:
    door = Door()
    assert [door.ask(path=path) for _ in range(9)] == [200] * 9
    assert door.ask() == 401


def test_without_a_limit(settings: Any) -> None:
    settings.SYNAPSE_STRANGERS_PER_MINUTE = 0
    door = Door()
    assert [door.ask(BAD) for _ in range(9)] == [401] * 9


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::1", "127.0.0.1", False),
        (None, "", True),
    ],
)
def test_who_an_address_counts_as(one: str | None, other: str, same: bool) -> None:
    assert (address_of(one) == address_of(other)) is same


def test_what_is_remembered_is_bounded() -> None:
    few = Known(limit=2)
    for header in (b"a", b"b", b"a", b"c"):
        few.add(header)
    assert [header in few for header in (b"a", b"b", b"c")] == [True, False, True]
    minute = Limits(clock=lambda: 0.0, max_callers=2)
    for caller in ("a", "b", "c"):
        assert minute.take(caller, Kind.STRANGERS, 1, 1) == 0
    assert [minute.take(caller, Kind.STRANGERS, 1, 1) > 0 for caller in ("c", "b")] == [True, True]
    assert minute.take("a", Kind.STRANGERS, 1, 1) == 0, "pushed out by the two that came later"


def test_the_server_stands_behind_it(settings: Any) -> None:
    """Both halves of what is served: /mcp and the rest."""
    from synapse.asgi import application

    for path in ("/mcp", "/nothing/here"):
        settings.SYNAPSE_STRANGERS_PER_MINUTE = 1
        throttling.limits.forget()
        door = Door()
        door._guarded = application
        throttling.check(address_of("192.0.2.1"), Kind.STRANGERS)
        assert door.ask(BAD, path=path) == 429
