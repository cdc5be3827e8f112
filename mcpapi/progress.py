"""Signs of life from a call that takes its time, for a client that asked for them with a progressToken.

How far a search or a write has come is not known, so no share of a whole is claimed: ``progress`` is how many seconds
the call has been at work. Over HTTP the first sign turns the answer into a stream of events.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

import anyio
from mcp.server.context import ServerRequestContext

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

#: Seconds between two signs; a call that is quicker gives none.
EVERY: Final = 1.0

logger = logging.getLogger(__name__)


def is_wanted(ctx: Context) -> bool:
    """Did the client ask for progress of this call?"""
    return bool(ctx.meta) and ctx.meta.get("progress_token") is not None  # type: ignore[union-attr]


async def told(ctx: Context, answer: Awaitable[T]) -> T:
    """The answer; meanwhile the client is told that it is being worked on."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, ctx)
        try:
            result = await answer
        finally:
            tasks.cancel_scope.cancel()
    return result


async def _tell(ctx: Context) -> None:
    begun = time.monotonic()
    while True:
        await anyio.sleep(EVERY)
        seconds = round(time.monotonic() - begun, 1)
        try:
            await ctx.session.report_progress(seconds, message=f"At work for {seconds:g} seconds.")
        except Exception:  # noqa: BLE001 - a client that does not listen any more must not lose a write its end
            logger.debug("a sign of life could not be given")
            return
