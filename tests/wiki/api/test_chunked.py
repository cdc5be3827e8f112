"""A body that comes in chunks, its length unknown, is a body like any other."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from django.urls import resolve

from tests.wiki.api.conftest import Rest, frontmatter
from wiki.models import Page

ADA = {"title": "Ada", "content": "Text.\n", "frontmatter": frontmatter("Ada")}


def in_chunks(rest: Rest, path: str, body: bytes, *headers: tuple[bytes, bytes]) -> Any:
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-type", b"application/json"),
            (b"transfer-encoding", b"chunked"),
            (b"authorization", f"Bearer {rest.token}".encode()),
            *headers,
        ],
    }
    view, args, named = resolve(path)
    response = view(ASGIRequest(scope, io.BytesIO(body)), *args, **named)
    return response.render() if hasattr(response, "render") else response


@pytest.mark.parametrize("keyed", [(), ((b"idempotency-key", b"k"),)])
def test_it_is_read(wanda: Rest, keyed: Any) -> None:
    assert in_chunks(wanda, "/pages", json.dumps(ADA).encode(), *keyed).status_code == 201
    assert Page.objects.get().title == "Ada"


def test_what_it_holds_is_judged(wanda: Rest) -> None:
    for body, status in ((b'{"nonsense": 1}', 400), (b"{", 400), (b"", 202), (b"{}", 202)):
        assert in_chunks(wanda, "/sources/rescan", body).status_code == status
