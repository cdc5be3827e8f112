"""The one ASGI application: /mcp goes to the MCP transport, everything else to Django."""

from __future__ import annotations

import os
import warnings
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synapse.settings")
_django: Callable[..., Awaitable[None]] = get_asgi_application()

from django.urls import get_resolver  # noqa: E402  (Django must be set up first)

from mcpapi.http import lifespan, mcp_app  # noqa: E402
from synapse.body_limit import with_bodies_read_out, with_body_limit, with_timely_bodies  # noqa: E402
from synapse.connections import with_own_connections  # noqa: E402
from synapse.content_type import with_readable_content_type  # noqa: E402
from synapse.headers import with_safe_headers  # noqa: E402
from synapse.strangers import with_few_strangers  # noqa: E402

# WhiteNoise streams a static file from a plain iterator. Django reads that in a thread, as it should, but warns.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

# Next to Django: what is refused before it needs no thread.
_django = with_own_connections(_django)
_django = with_bodies_read_out(
    with_few_strangers(with_timely_bodies(with_body_limit(with_readable_content_type(_django))))
)
_mcp = with_bodies_read_out(with_few_strangers(with_timely_bodies(mcp_app)))

_ = get_resolver().url_patterns  # a mistake in them shows at start, and no request pays for loading them

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def _dispatch(scope: Scope, receive: Receive, send: Send) -> None:
    """Dispatch one connection by its path; the MCP session manager lives as long as the server."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "http" and (scope["path"] == "/mcp" or scope["path"].startswith("/mcp/")):
        await _mcp(scope, receive, send)
    elif scope["type"] == "http":
        await _django(scope, receive, send)
    elif scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})


application = with_safe_headers(_dispatch)


async def _live(receive: Receive, send: Send) -> None:
    await receive()  # lifespan.startup
    started = False
    try:
        async with lifespan():
            started = True
            await send({"type": "lifespan.startup.complete"})
            await receive()  # lifespan.shutdown
    except RuntimeError as error:
        if started:
            raise
        # Said in this way it stops the server; an exception would let it serve without its tools.
        await send({"type": "lifespan.startup.failed", "message": str(error)})
    else:
        await send({"type": "lifespan.shutdown.complete"})
