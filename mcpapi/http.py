"""The HTTP door: streamable HTTP at /mcp and /mcp/server, with or without a slash, never a redirect.

Nothing is kept between two requests (stateless), so there is no session to steal or to flood. Order: host and
origin, the token, pace, method, form of the body; only then does the protocol see the request.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import HEADER_MISMATCH, INVALID_REQUEST, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION
from starlette.responses import JSONResponse

from mcpapi import gate, info, telemetry
from mcpapi.auth import authenticate, bearer_of
from mcpapi.callers import Caller
from mcpapi.calls import unforeseen
from mcpapi.gate import Receive, Scope, Send
from mcpapi.messages import fault_in, protocol_error
from mcpapi.oauth import addresses
from mcpapi.oauth.scopes import offered
from mcpapi.profiles import Profile
from mcpapi.self_test import self_test
from mcpapi.server import CALLER_KEY, build
from mcpapi.workers import Workers
from vault.errors import ErrorCode, SynapseError
from wiki import faults
from wiki.tokens import last_used

MOUNTS: Final = frozenset({"/mcp", "/mcp/server"})
INFO: Final = "/mcp/info"
_DOOR_THREADS: Final = 4

logger = logging.getLogger(__name__)


async def tested_server() -> Server[Any]:
    """The wiki's own server, after its self-test. RuntimeError if its tools are not those of the table."""
    surface = build(Profile.HTTP)
    await self_test(surface)
    return surface.server


class McpApp:
    """An ASGI application for the paths under /mcp; serves while its :meth:`lifespan` is entered.

    ``server`` makes what is served and ``let_in`` names the caller who shows a token, or raises
    ``unauthenticated``. A test of the transport alone gives others.
    """

    def __init__(
        self,
        server: Callable[[], Awaitable[Server[Any]]] = tested_server,
        let_in: Callable[[str | None, str | None], Caller] = authenticate,
    ) -> None:
        self._server = server
        self._let_in = let_in
        self._manager: StreamableHTTPSessionManager | None = None
        # Apart from the tools' own, so that slow tools don't keep anybody from being let in or turned away.
        self._workers = Workers(_DOOR_THREADS)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Build the server, test it, and serve until left. RuntimeError if its tools are not those of the table."""
        manager = StreamableHTTPSessionManager(
            await self._server(),
            stateless=True,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            # The gate judges hosts and origins, by the same lists as the rest of the server, and says what to do.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with manager.run():
            with last_used.running(), telemetry.running():
                self._manager = manager
                try:
                    yield
                finally:
                    self._manager = None
                    await self._workers.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request; every refusal is the error envelope."""
        try:
            await self._answer(scope, receive, send)
        except SynapseError as error:
            await _refusal(error, scope)(scope, receive, send)
        except Exception as error:
            if away := faults.as_error(error):
                await _refusal(away, scope)(scope, receive, send)
                return
            # The protocol's own failures are answered inside it, so no answer has begun here.
            logger.exception("a request to /mcp failed")
            await _refusal(unforeseen(), scope)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        gate.require_host_and_origin(scope)
        path = scope["path"].removesuffix("/")
        if path == INFO:
            _require_method(scope, "GET", "HEAD")
            await JSONResponse(await self._workers.run(info.describe))(scope, receive, send)
            return
        shown = bearer_of(scope["headers"])
        caller = await self._workers.run(partial(self._let_in, shown, _own_issuer(scope)))
        scope[CALLER_KEY] = caller
        gate.require_pace(scope, caller)
        if path not in MOUNTS:
            raise SynapseError(ErrorCode.NOT_FOUND, "There is nothing at this address. The MCP endpoint is /mcp.")
        _require_method(scope, "POST")
        gate.require_json(scope)
        gate.require_readable_answer(scope)
        try:
            message, body = await gate.read_object(scope, receive)
        except SynapseError as error:
            if error.code is not ErrorCode.MALFORMED_BODY:
                raise
            await _protocol_error(PARSE_ERROR, error)(scope, receive, send)
            return
        fault = fault_in(message, body)
        if fault is not None:
            await _protocol_error(INVALID_REQUEST, fault)(scope, receive, send)
            return
        try:
            gate.require_agreement(scope, message)
        except SynapseError as error:
            code = UNSUPPORTED_PROTOCOL_VERSION if isinstance(error, gate.UnknownRevisionError) else HEADER_MISMATCH
            await _protocol_error(code, error, message.get("id"))(scope, receive, send)
            return
        gate.require_pace_of_writes(message, caller)
        await self._serve(scope, gate.replay(body, receive), send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise RuntimeError("The lifespan of the MCP application has not been entered")
        await self._manager.handle_request(scope, receive, send)


def _require_method(scope: Scope, *allowed: str) -> None:
    if scope["method"] not in allowed:
        raise SynapseError(
            ErrorCode.METHOD_NOT_ALLOWED, f"This address takes {' and '.join(allowed)} only.", allowed=list(allowed)
        )


def _own_issuer(scope: Scope) -> str | None:
    return addresses.issuer(scope.get("scheme", "http"), gate.headers_of(scope, b"host")[0])


def _challenge(scope: Scope) -> str:
    """What a 401 tells the client to do: where to begin to sign in, and what to ask for (RFC 9728, 5.1; RFC 6750)."""
    own = _own_issuer(scope)
    parameters = {"realm": "synapse"}
    if bearer_of(scope["headers"]):
        parameters["error"] = "invalid_token"
    if own:
        parameters["resource_metadata"] = addresses.resource_metadata(own, scope["path"])
        parameters["scope"] = " ".join(offered())
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())


def _refusal(error: SynapseError, scope: Scope) -> JSONResponse:
    headers = {}
    if error.code is ErrorCode.UNAUTHENTICATED:
        headers["WWW-Authenticate"] = _challenge(scope)
    if error.code is ErrorCode.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(error.repair["allowed"])
    if "retry_after" in error.repair:
        headers["Retry-After"] = str(error.repair["retry_after"])
    return JSONResponse(error.envelope(), status_code=error.status, headers=headers)


def _protocol_error(code: int, error: SynapseError, number: Any = None) -> JSONResponse:
    return JSONResponse(protocol_error(code, error, number), status_code=error.status)


mcp_app: Final = McpApp()
lifespan: Final = mcp_app.lifespan
