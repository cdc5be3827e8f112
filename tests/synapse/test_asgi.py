"""The server's life: it says that it has started once its tools are there, and does not start without them."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2 as httpx
import pytest

from mcpapi import server
from synapse.asgi import application


def live() -> list[dict[str, Any]]:
    """The messages that the application sends from start to stop."""
    asked = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return asked.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(application({"type": "lifespan"}, receive, send))
    return sent


def test_it_starts_and_stops():
    assert [message["type"] for message in live()] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_it_does_not_start_when_a_tool_is_missing_and_names_it(monkeypatch):
    monkeypatch.setattr(server, "listed", lambda *_: [])
    (failed,) = live()
    assert failed["type"] == "lifespan.startup.failed"
    assert "get_page" in failed["message"]


@pytest.mark.parametrize("kind", ["application/json; charset*=none'en'x", "application/json; a*=x-none'en'b"])
@pytest.mark.parametrize("path", ["/pages", "/admin/login/", "/nowhere"])
def test_a_content_type_that_nobody_can_read_is_refused_before_any_view(kind, path):
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(path, content=b"{}", headers={"content-type": kind})

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["error_code"]) == (415, "unsupported_media_type")
