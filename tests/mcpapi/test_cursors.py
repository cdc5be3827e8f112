"""Cursors that this server did not give for this list are refused, whatever is in them."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from typing import Any

import pytest
from django.core import signing

from mcpapi.callers import LOCAL
from mcpapi.calls import Calls
from mcpapi.profiles import Profile
from wiki.sync import scan

LISTS = ["list_pages", "list_reviews"]


def ask(*asked: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        calls = Calls(Profile.STDIO, "true")
        try:
            return [(await calls.answer(name, given, LOCAL)).structured_content or {} for name, given in asked]
        finally:
            await calls.close()

    return asyncio.run(run())


@pytest.fixture
def cursors(vault_folder, transactional_db) -> dict[str, str]:
    """A cursor that each list has given."""
    for name in ("earth", "moon", "sun"):
        vault_folder.write(f"wiki/entities/{name}.md", f"---\ntype: entity\ntitle: {name}\n---\nA body.\n")
    scan()
    items = [{"item_type": "confirm", "title": f"Is {name} round?"} for name in ("earth", "moon", "sun")]
    _, *lists = ask(("propose_review", {"items": items}), *((name, {"limit": 1}) for name in LISTS))
    given = {name: body["next_cursor"] for name, body in zip(LISTS, lists, strict=True)}
    assert all(given.values())
    return given


def hostile(good: str, name: str) -> dict[str, Any]:
    body, _, signature = good.rpartition(":")
    packed = base64.urlsafe_b64encode(zlib.compress(json.dumps([name, "x", 1]).encode())).decode()
    return {
        "made up": "made-up",
        "blank": " ",
        "a number": "1",
        "SQL": "' OR 1=1 --",
        "a path": "../../etc/passwd",
        "JSON": '["pages:", "", 0]',
        "cut": good[:-1],
        "longer": good + "A",
        "no signature": body,
        "only a signature": f":{signature}",
        "another signature": f"{body}:{signature[::-1]}",
        "another body": f"{packed}:{signature}",
        "a bomb unsigned": "." + base64.urlsafe_b64encode(zlib.compress(b"0" * 10_000_000)).decode() + ":x:y",
        "very long": "A" * 1_000_000,
        "not ASCII": "курсор:ü:中",
        "blanks around": f" {good} ",
        "signed for something else": signing.dumps([name, "x", 1], salt="synapse.other"),
        "signed with another key": signing.dumps([name, "x", 1], key="other", salt="synapse.cursor"),
        "no list of three": signing.dumps([name], salt="synapse.cursor"),
        "no list": signing.dumps({"a": 1}, salt="synapse.cursor"),
        "other types": signing.dumps([name, 1, "x"], salt="synapse.cursor"),
        "null inside": signing.dumps(None, salt="synapse.cursor"),
    }


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_that_was_not_given_is_refused_and_nothing_else_happens(cursors, name):
    bad = hostile(cursors[name], "pages:" if name == "list_pages" else "reviews:oldest:pending:::")
    answers = ask(*((name, {"cursor": cursor}) for cursor in bad.values()))
    assert {what: body.get("error_code") for what, body in zip(bad, answers, strict=True)} == dict.fromkeys(
        bad, "invalid_cursor"
    )
    for body in answers:
        assert set(body) == {"error", "error_code"}
        assert "leave it out" in body["error"].lower()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("list_pages", {"type": "entity"}),
        ("list_reviews", {"status": "all"}),
        ("list_reviews", {"item_type": "confirm"}),
    ],
    ids=["type", "status", "item_type"],
)
def test_a_cursor_of_another_list_is_refused(cursors, name, given):
    other = next(one for one in LISTS if one != name)
    of_other, with_filter, fine = ask(
        (name, {"cursor": cursors[other]}),
        (name, {**given, "cursor": cursors[name]}),
        (name, {"cursor": cursors[name]}),
    )
    assert of_other["error_code"] == with_filter["error_code"] == "invalid_cursor"
    assert len(fine["result"]) == 2


@pytest.mark.parametrize("cursor", [5, True, ["x"], {"after": 1}], ids=repr)
@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_is_a_text(name, cursor):
    (body,) = ask((name, {"cursor": cursor}))
    assert (body["error_code"], body["parameter"]) == ("invalid_param_type", "cursor")
