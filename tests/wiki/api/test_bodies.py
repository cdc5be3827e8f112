"""Bodies and parameters that are not what they should be: each has its code, and none is an internal error."""

from __future__ import annotations

import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.wiki.api.conftest import Rest, frontmatter, refused
from wiki.models import Page

CREATE = {"title": "Ada", "content": "Text.\n", "frontmatter": frontmatter("Ada")}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"title": "a", "title": "b"}',
        b'{"frontmatter": {"a": 1, "\\u0061": 2}}',
        b'{"x": NaN}',
        b'{"x": -Infinity}',
        b'{"x": 1e999}',
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b"[]",
        b'"text"',
        b"null",
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b"{}{}",
        b'{"x": ' + b"9" * 5_000 + b"}",
        b"{'title': 1}",
        b"\x00",
    ],
)
def test_what_is_no_json_object(wanda: Rest, body: bytes) -> None:
    refused(wanda.post("/pages", body), 400, "malformed_body")


def test_an_empty_body_lacks_its_parameters(wanda: Rest) -> None:
    envelope = refused(wanda.post("/pages", b""), 400, "missing_required_params")
    assert set(envelope["fields"]) == {"title", "content", "frontmatter"}


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/json; charset=utf-16",
        "",
    ],
)
def test_only_json_is_taken(wanda: Rest, content_type: str) -> None:
    answer = wanda.post("/pages", json.dumps(CREATE).encode(), Content_Type=content_type)
    refused(answer, 415, "unsupported_media_type")


def test_json_may_say_that_it_is_utf_8(wanda: Rest) -> None:
    answer = wanda.post("/pages", CREATE, Content_Type='application/json; charset="UTF-8"')
    assert answer.status_code == 201


def test_a_compressed_body_is_not_unpacked(wanda: Rest) -> None:
    bomb = gzip.compress(b'{"title": "' + b"a" * 1_000_000 + b'"}')
    refused(wanda.post("/pages", bomb, Content_Encoding="gzip"), 415, "unsupported_media_type")


def test_a_body_over_the_limit(wanda: Rest, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    refused(wanda.post("/pages", {"title": "a" * 100}), 413, "payload_too_large")


def test_a_page_over_the_limit(wanda: Rest, settings: Any) -> None:
    settings.SYNAPSE_MAX_PAGE_BYTES = 100
    refused(wanda.post("/pages", {**CREATE, "content": "a" * 101}), 413, "payload_too_large")


@pytest.mark.parametrize("key", ["status", "created_by", "id", "path", "base_hash", "vault", "\ud800"])
def test_keys_that_nobody_asked_for(wanda: Rest, key: str) -> None:
    envelope = refused(wanda.post("/pages", {**CREATE, key: 1}), 400, "invalid_param_value")
    assert "Known: content, frontmatter, origin_source, title" in envelope["error"]
    assert not Page.objects.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", 5),
        ("title", True),
        ("title", None),
        ("title", ["a"]),
        ("content", {"a": 1}),
        ("content", 1.5),
        ("frontmatter", []),
        ("frontmatter", "type: entity"),
        ("frontmatter", None),
        ("origin_source", 0),
    ],
)
def test_wrong_types_are_told_by_name(wanda: Rest, name: str, value: Any) -> None:
    envelope = refused(wanda.post("/pages", {**CREATE, name: value}), 400, "invalid_param_type")
    assert list(envelope["fields"]) == [name]


@pytest.mark.parametrize("bad", ["\x00", "a\ud800b", "\udfff"])
@pytest.mark.parametrize("name", ["title", "content", "origin_source"])
def test_characters_that_no_file_can_keep(wanda: Rest, name: str, bad: str) -> None:
    refused(wanda.post("/pages", {**CREATE, name: f"a{bad}"}), 422, "invalid_content")


@pytest.mark.parametrize("value", ["\x00", "\ud800", ["\ud800"], {"\ud800": 1}, {"a": {"b": ["\x00"]}}])
def test_such_characters_in_properties(wanda: Rest, value: Any) -> None:
    body = {**CREATE, "frontmatter": {**frontmatter("Ada"), "note": value}}
    answer = wanda.post("/pages", body)
    assert answer.status_code == 422, answer.content
    assert answer.json()["error_code"] in ("invalid_content", "invalid_frontmatter")


def test_properties_that_are_nested_deeply(wanda: Rest) -> None:
    nested: Any = "x"
    for _ in range(900):
        nested = [nested]
    body = {**CREATE, "frontmatter": {**frontmatter("Ada"), "note": nested}}
    refused(wanda.post("/pages", body), 422, "invalid_frontmatter")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("restore", {"version": "1"}, "invalid_param_type"),
        ("restore", {"version": True}, "invalid_param_type"),
        ("restore", {"version": 1.5}, "invalid_param_type"),
        ("restore", {"version": 0}, "invalid_param_value"),
        ("restore", {}, "missing_required_params"),
        ("restore", {"version": 10**400}, "not_found"),
        ("retitle", {"title": "B", "preview": "yes"}, "invalid_param_type"),
        ("retitle", {"title": "B", "rename": 1}, "invalid_param_type"),
        ("move", {"path": 1}, "invalid_param_type"),
        ("move", {"path": "../x.md"}, "path_not_allowed"),
        ("move", {"path": "raw/x.md"}, "path_not_allowed"),
        ("move", {"path": "wiki/x.txt"}, "path_not_allowed"),
        ("move", {"path": "CLAUDE.md"}, "path_not_allowed"),
        ("move", {"path": "wiki/a\x00.md"}, "path_not_allowed"),
    ],
)
def test_bodies_of_the_other_changes(wanda: Rest, turing: Page, path: str, body: Any, code: str) -> None:
    answer = wanda.post(f"/pages/{turing.uid}/{path}", body)
    assert answer.json()["error_code"] == code, answer.content
    assert 400 <= answer.status_code < 500


def test_a_rescan_takes_no_parameters(wanda: Rest) -> None:
    refused(wanda.post("/sources/rescan", {"full": True}), 400, "invalid_param_value")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("ordering=password", "invalid_param_value"),
        ("format=xml", "invalid_param_value"),
        ("format=json", "invalid_param_value"),
        ("type=person", "invalid_param_value"),
        ("type=entity&type=concept", "invalid_param_value"),
        ("limit=many", "invalid_param_type"),
        ("limit=1.5", "invalid_param_type"),
        ("limit=" + "9" * 2_000, "invalid_param_value"),
        ("cursor=x", "invalid_cursor"),
        ("cursor=%00", "invalid_content"),
        ("%00=1", "invalid_param_value"),
        ("title__startswith=A", "invalid_param_value"),
    ],
)
def test_query_parameters_of_lists(rita: Rest, query: str, code: str) -> None:
    answer = rita.get(f"/pages?{query}")
    assert answer.json()["error_code"] == code, answer.content
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/pages"),
        ("PUT", "/pages/{id}"),
        ("DELETE", "/pages/{id}"),
        ("POST", "/pages/{id}/move"),
        ("POST", "/pages/{id}/retitle"),
        ("POST", "/pages/{id}/restore"),
        ("POST", "/sources/rescan"),
    ],
)
def test_a_change_takes_no_query_parameters(wanda: Rest, turing: Page, method: str, path: str) -> None:
    address = path.format(id=turing.uid) + "?preview=true"
    refused(wanda.call(method, address, {}, If_Match="*"), 400, "invalid_param_value")
    assert wanda.get(f"/pages/{turing.uid}").status_code == 200


@pytest.mark.parametrize("path", ["wiki/a\0.md", "wiki/\ud800.md", "../a.md", ""])
def test_a_path_is_judged_as_a_path_whatever_is_wrong_with_it(wanda: Rest, turing: Page, path: str) -> None:
    refused(wanda.post(f"/pages/{turing.uid}/move", {"path": path}), 403, "path_not_allowed")
    if path.isascii():
        refused(wanda.get(f"/pages/by-title?title=&path={quote(path)}"), 403, "path_not_allowed")


def test_a_whole_number_may_be_written_with_a_fraction_of_nothing(wanda: Rest, turing: Page) -> None:
    assert wanda.post(f"/pages/{turing.uid}/restore", {"version": 1.0}).status_code == 200
    refused(wanda.post(f"/pages/{turing.uid}/restore", {"version": 1.5}), 400, "invalid_param_type")


def test_an_unknown_key_is_told_without_what_no_screen_can_show(wanda: Rest) -> None:
    answer = wanda.post("/pages", {**CREATE, "a\ud800\x1b[31m": 1})
    assert "a??[31m" in refused(answer, 400, "invalid_param_value")["error"]


def test_a_name_of_no_letters_is_unknown_too(wanda: Rest) -> None:
    refused(wanda.post("/pages", {**CREATE, "": 1}), 400, "invalid_param_value")
    refused(wanda.get("/pages?=1"), 400, "invalid_param_value")
