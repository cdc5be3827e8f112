"""A log line is one line of JSON, without secrets, exception texts and absolute paths."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from synapse.logs import JsonLineFormatter, redact
from wiki.tokens import PREFIX


def line(message: str, *args: Any, name: str = "wiki", level: int = logging.INFO, exc_info: Any = None) -> str:
    return JsonLineFormatter().format(logging.LogRecord(name, level, "x.py", 1, message, args, exc_info))


def event(message: str, *args: Any, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line(message, *args, **options))
    return found


def test_an_event_has_time_level_logger_and_message() -> None:
    found = event("scanned %d pages", 3, level=logging.WARNING)
    assert (found["level"], found["logger"], found["message"]) == ("warning", "wiki", "scanned 3 pages")
    assert found["time"].endswith("+00:00")


def test_the_reason_is_told_without_secrets() -> None:
    record = logging.LogRecord("wiki", logging.WARNING, "x.py", 1, "job failed", (), None)
    record.reason = "OperationalError at postgres://user:hidden@db/x"
    assert json.loads(JsonLineFormatter().format(record))["reason"] == "OperationalError at postgres://user:***@db/x"


@given(st.text())
def test_no_message_can_forge_a_second_line(message: str) -> None:
    written = line("%s", message)
    assert written.isprintable()
    assert written.isascii()
    assert json.loads(written)["level"] == "info"


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Authorization: Bearer {secret} was sent", "Authorization: Bearer *** was sent"),
        ("bearer {secret}", "bearer ***"),
        ("GET /status?token={secret}&x=1", "GET /status?token=***&x=1"),
        ("GET /status?x=1&access_token={secret}", "GET /status?x=1&access_token=***"),
        ("POST /token?code={secret}&code_verifier={secret}", "POST /token?code=***&code_verifier=***"),
        ("/x?refresh_token={secret}&client_secret={secret}", "/x?refresh_token=***&client_secret=***"),
        ("postgres://user:{secret}@db:5432/name", "postgres://user:***@db:5432/name"),
        ("redis://:{secret}@cache/0", "redis://:***@cache/0"),
    ],
)
def test_secrets_are_blotted_out(message: str, kept: str) -> None:
    assert redact(message.format(secret="s3cret-Value_1")) == kept


def test_a_token_is_blotted_out_wherever_it_stands() -> None:
    raw = PREFIX + "A1b2_-" * 7 + "x"
    assert raw not in line(f"seen {raw}, twice: {raw}")
    assert redact(f"({raw})") == f"({PREFIX}***)"


@pytest.mark.parametrize("word", ["a", "bearer", "postgres://", "?token", "x-"])
def test_a_line_as_long_as_an_address_may_be_costs_no_time(word: str) -> None:
    started = time.process_time()
    redact(word * (65_536 // len(word)))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("name", ["sse_starlette.sse", "django.db.backends"])
def test_no_level_has_libraries_log_what_pages_say(name: str) -> None:
    assert not logging.getLogger(name).isEnabledFor(logging.DEBUG)
    assert settings.LOGGING["loggers"][name.split(".sse")[0]]["level"] == "INFO"


def test_plain_words_stay() -> None:
    message = "the bearer of news at https://example.org/path?page=2 has a key of syn_1"
    assert redact(message).replace("bearer ***", "bearer of") == message


def test_an_exception_is_told_by_kind_and_place_and_not_by_its_text() -> None:
    try:
        raise ValueError("the text of a page in /home/somebody/vault")
    except ValueError:
        found = event("it failed", level=logging.ERROR, exc_info=sys.exc_info())
    assert found["exception"] == "ValueError"
    assert found["frames"][-1].startswith("synapse/test_logs.py:")
    assert "somebody" not in json.dumps(found)


def test_a_chain_of_exceptions_does_not_tell_its_first_text_either() -> None:
    try:
        try:
            raise OSError(2, "No such file", "/home/somebody/vault/a.md")
        except OSError as error:
            raise RuntimeError("wrapped") from error
    except RuntimeError:
        written = line("it failed", exc_info=sys.exc_info())
    assert "somebody" not in written
    assert "wrapped" not in written


def test_libraries_do_not_tell_where_things_lie_on_this_machine() -> None:
    for name in ("django.db", "uvicorn.error", "mcp.server", "asyncio"):
        found = event("can't open /home/somebody/vault/a.md here", name=name)
        assert found["message"] == "can't open …/a.md here"


def test_a_long_message_is_cut() -> None:
    assert len(event("a" * 10_000)["message"]) == 2_000
