"""Requests that are not what they should be: each has its code, changes nothing, and is never an internal error."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from reviews.models import ReviewItem, Status
from tests.reviews.api.conftest import UNKNOWN, Rest, refused

CHANGES = [
    ("POST", "/review/queue"),
    ("PATCH", "/review/queue/{id}"),
    *[
        ("POST", f"/review/queue/{{id}}/{verb}")
        for verb in ("skip", "dismiss", "create", "approve", "deep-research", "mark-resolved", "reopen")
    ],
    ("POST", "/review/queue/bulk"),
    ("POST", "/review/queue/bulk-resolve"),
    ("POST", "/review/queue/sweep"),
    ("POST", "/research/runs/{id}/claim"),
    ("POST", "/research/runs/{id}/complete"),
    ("POST", "/research/runs/{id}/fail"),
]
EACH = pytest.mark.parametrize(("method", "path"), CHANGES)
NO_OBJECTS = [
    b"{",
    b'{"action": "skip", "action": "dismiss"}',
    b'{"note": "a", "\\u006eote": "b"}',
    b'{"note": NaN}',
    b'{"ids": [Infinity]}',
    b'{"lease_seconds": 1e999}',
    b"[" * 20_000,
    b'{"ids":' * 20_000,
    b'["skip"]',
    b'"skip"',
    b"null",
    b"7",
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}",
    b"{}{}",
    b'{"action": ' + b"9" * 5_000 + b"}",
    b"{'action': 'skip'}",
    b"\x00",
]


@EACH
def test_what_is_no_json_object(wanda: Rest, item: ReviewItem, method: str, path: str) -> None:
    for body in NO_OBJECTS:
        refused(wanda.call(method, path.format(id=item.pk), body), 400, "malformed_body")
    item.refresh_from_db()
    assert item.status == Status.PENDING


@EACH
def test_only_plain_json_is_taken(wanda: Rest, item: ReviewItem, method: str, path: str, settings: Any) -> None:
    address = path.format(id=item.pk)
    body = json.dumps({"action": "skip"}).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", ""):
        refused(wanda.call(method, address, body, Content_Type=kind), 415, "unsupported_media_type")
    bomb = gzip.compress(b'{"note": "' + b"a" * 1_000_000 + b'"}')
    refused(wanda.call(method, address, bomb, Content_Encoding="gzip"), 415, "unsupported_media_type")
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    refused(wanda.call(method, address, {"note": "a" * 100}), 413, "payload_too_large")
    item.refresh_from_db()
    assert item.status == Status.PENDING


@EACH
def test_keys_that_nobody_asked_for(wanda: Rest, item: ReviewItem, method: str, path: str) -> None:
    before = ReviewItem.objects.values().get()
    for name, value in [
        ("id", UNKNOWN),
        ("created_by", 1),
        ("reviewed_by", "user:ada"),
        ("claimed_by", "token:ada"),
        ("attempts", 0),
        ("vault", "other"),
        ("filter", {}),
        ("", 1),
        ("\ud800", 1),
        ("__proto__", {}),
    ]:
        answer = wanda.call(method, path.format(id=item.pk), {name: value})
        refused(answer, 400, "invalid_param_value")
    assert ReviewItem.objects.values().get() == before


@EACH
def test_a_change_takes_no_query_parameters(wanda: Rest, item: ReviewItem, method: str, path: str) -> None:
    for query in ("preview=true", "action=skip", "format=json", "status=all", "=1", "%00=1"):
        answer = wanda.call(method, f"{path.format(id=item.pk)}?{query}", {})
        refused(answer, 400, "invalid_param_value")
    item.refresh_from_db()
    assert item.status == Status.PENDING


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/review/queue", {"GET", "POST"}),
        ("/review/queue/bulk", {"POST"}),
        ("/review/queue/bulk-resolve/", {"POST"}),
        ("/review/queue/sweep", {"POST"}),
        (f"/review/queue/{UNKNOWN}", {"GET", "PATCH"}),
        (f"/review/queue/{UNKNOWN}/skip", {"POST"}),
        ("/research/runs", {"GET"}),
        (f"/research/runs/{UNKNOWN}/claim", {"POST"}),
    ],
)
def test_methods_that_an_address_does_not_take(wanda: Rest, vault: Any, path: str, allowed: set[str]) -> None:
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - allowed:
        answer = wanda.call(method, path)
        refused(answer, 405, "method_not_allowed")
        assert allowed <= set(answer["Allow"].split(", "))


@pytest.mark.parametrize(
    "path",
    [
        "/review",
        "/review/queue//",
        f"/review/queue/{UNKNOWN}/merge",
        f"/review/queue/{UNKNOWN}/skip/x",
        f"/review/queue/{UNKNOWN}/skip\n",
        "/reviews/queue",
        f"/research/runs/{UNKNOWN}",
        f"/research/runs/{UNKNOWN}/claim/now",
    ],
)
def test_addresses_that_are_none(wanda: Rest, vault: Any, path: str) -> None:
    refused(wanda.post(path.replace("\n", "%0A")), 404, "not_found")


def test_other_forms_are_not_served(rita: Rest, item: ReviewItem) -> None:
    for path in ("/review/queue", f"/review/queue/{item.pk}", "/research/runs"):
        refused(rita.get(path, Accept="text/html"), 406, "not_acceptable")


def test_what_escapes_a_service_says_nothing(wanda: Rest, item: ReviewItem, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: Any) -> Any:
        raise RuntimeError("/home/somebody SELECT secret")

    monkeypatch.setattr("reviews.services.resolve", broken)
    answer = wanda.post(f"/review/queue/{item.pk}/skip")
    refused(answer, 500, "internal_error")
    assert b"secret" not in answer.content
