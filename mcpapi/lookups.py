"""What is asked beside tools, resources and prompts above all: run in a thread, refused as the protocol refuses.

A tool's failure is a result that an agent reads. A resource's or a prompt's is a JSON-RPC error, with our envelope as
its ``data``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final, TypeVar

import anyio
from mcp import types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from mcpapi import prompts, resources
from mcpapi.calls import Calls, unforeseen
from mcpapi.completions import complete
from mcpapi.workers import Workers
from vault.errors import ErrorCode, SynapseError
from wiki import faults
from wiki.deadlines import deadline, timed_out
from wiki.sync.values import storable

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

#: Nothing of the wiki is another caller's to see. What a page says can change at any moment, the lists seldom do.
CACHE_HINTS: Final[dict[CacheableMethod, CacheHint]] = {
    "resources/list": CacheHint(ttl_ms=5_000, scope="private"),
    "resources/templates/list": CacheHint(ttl_ms=60_000, scope="private"),
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
    "prompts/list": CacheHint(ttl_ms=60_000, scope="private"),
}

#: What a resource that is not there answers in revisions before 2026-07-28, which have a code of its own for it.
RESOURCE_NOT_FOUND: Final = -32002
_FIRST_WITHOUT: Final = "2026-07-28"
_THREADS: Final = 8
_SECONDS: Final = 5.0
_SHOWN_CHARACTERS: Final = 500

logger = logging.getLogger(__name__)


class Lookups:
    """Answers the look-ups of one way in.

    ``calls`` counts them among those that have not been answered yet; ``tools_of`` names the tools of whoever asks,
    and ``staged`` says that write_page proposes.
    """

    def __init__(self, calls: Calls, tools_of: Callable[[Context], Collection[str]], *, staged: bool) -> None:
        self._calls = calls
        self._tools_of = tools_of
        self._staged = staged
        self._workers = Workers(_THREADS)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Pages and sources."""
        return await self._answer(ctx, partial(resources.list_resources, params.cursor if params else None))

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """The forms of addresses."""
        require_no_cursor(ctx, params)
        return resources.TEMPLATES

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """One page or source."""
        return await self._answer(ctx, partial(resources.read_resource, str(params.uri)), uri=str(params.uri))

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """The prompts, the same for everybody."""
        require_no_cursor(ctx, params)
        return prompts.LISTED

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A prompt's message, for the tools that the caller has."""
        try:
            return prompts.get_prompt(params.name, params.arguments, tools=self._tools_of(ctx), staged=self._staged)
        except SynapseError as error:
            raise refusal(error, revision=ctx.protocol_version) from None

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What an argument could become."""
        return await self._answer(ctx, partial(complete, params))

    async def close(self) -> None:
        """Let the threads and their database connections go."""
        await self._workers.close()

    async def _answer(self, ctx: Context, work: Callable[[], T], *, uri: str = "") -> T:
        """What ``work`` gives. Raises MCPError for whatever it raises, and when it takes more than 5 seconds."""
        self._calls.active += 1
        try:
            with anyio.move_on_after(_SECONDS):
                return await self._workers.run(partial(_in_time, time.monotonic(), work))
            raise timed_out(_SECONDS)
        except SynapseError as error:
            raise refusal(error, revision=ctx.protocol_version, uri=uri) from None
        except Exception as error:
            if away := faults.as_error(error):
                raise refusal(away, revision=ctx.protocol_version, uri=uri) from None
            # Whatever it is, its text may quote a file: the log gets the place, the caller nothing of it.
            logger.exception("a look-up failed")
            raise refusal(unforeseen(), revision=ctx.protocol_version, uri=uri) from None
        finally:
            self._calls.active -= 1


def require_no_cursor(ctx: Context, params: types.PaginatedRequestParams | None) -> None:
    """Refuse a cursor for a list that is given whole, with ``invalid_cursor``."""
    if params is not None and params.cursor is not None:
        error = SynapseError(ErrorCode.INVALID_CURSOR, "This list is given whole. Leave the cursor out.")
        raise refusal(error, revision=ctx.protocol_version)


def _in_time(begun: float, work: Callable[[], T]) -> T:
    with deadline(_SECONDS, since=begun):
        return work()


def refusal(error: SynapseError, *, revision: str, uri: str = "") -> MCPError:
    """The JSON-RPC error for ours; with ``uri`` it is about a resource."""
    data: dict[str, Any] = error.envelope()
    if uri:
        data["uri"] = storable(uri[:_SHOWN_CHARACTERS])
    return MCPError(_code(error, revision, bool(uri)), error.message, data)


def _code(error: SynapseError, revision: str, resource: bool) -> int:
    if resource and error.status in (404, 410):
        # Source: the specification's page on resources, error handling, in either revision.
        return INVALID_PARAMS if revision >= _FIRST_WITHOUT else RESOURCE_NOT_FOUND
    server_fault = error.status >= 500 and error.code is not ErrorCode.TOOL_TIMEOUT
    return INTERNAL_ERROR if server_fault else INVALID_PARAMS
