"""One call of one tool: found, validated, run in a thread within its time, and answered with one object."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any, Final

import anyio
from mcp.types import CallToolResult, TextContent

from mcpapi.callers import Caller
from mcpapi.profiles import Profile, tool_for
from mcpapi.registry import ToolSpec
from mcpapi.validation import validated
from mcpapi.workers import Workers
from vault.errors import ErrorCode, SynapseError

_READ_THREADS: Final = 16
_WRITE_THREADS: Final = 8

logger = logging.getLogger(__name__)


class Calls:
    """Runs the tools of one way in. ``active`` is the number of calls that have not been answered yet."""

    def __init__(self, profile: Profile, mode: str) -> None:
        self.active = 0
        self._profile = profile
        self._mode = mode
        # Reads that hang must not keep writes waiting.
        self._reads = Workers(_READ_THREADS)
        self._writes = Workers(_WRITE_THREADS)

    async def answer(self, name: str, arguments: Any, caller: Caller) -> CallToolResult:
        """The tool's result, or the error envelope; nothing is raised but cancellation."""
        self.active += 1
        try:
            tool = tool_for(name, self._profile, self._mode, caller)
            return _result(await self._run(tool, caller, validated(tool.input_schema, arguments)))
        except SynapseError as error:
            return _result(error.envelope(), is_error=True)
        except Exception:
            # Whatever it is, its text may quote a file: the log gets the place, the caller nothing of it.
            logger.exception("the tool %s failed", name if name.isidentifier() else "?")
            return _result(unforeseen().envelope(), is_error=True)
        finally:
            self.active -= 1

    async def close(self) -> None:
        """Let the threads and their database connections go."""
        await self._reads.close()
        await self._writes.close()

    async def _run(self, tool: ToolSpec, caller: Caller, values: dict[str, Any]) -> dict[str, Any]:
        work = partial(tool.handler, caller, **values)
        if tool.writes:
            # Not abandoned when the caller goes away: what has been begun ends, and is indexed.
            return await self._writes.run_to_end(work)
        with anyio.move_on_after(tool.seconds):
            return await self._reads.run(work)
        raise SynapseError(
            ErrorCode.TOOL_TIMEOUT,
            f"{tool.name} took longer than its {tool.seconds:g} seconds. Ask for less at a time, or try again.",
            seconds=tool.seconds,
        )


def unforeseen() -> SynapseError:
    """What the outside hears of a failure that nobody foresaw."""
    return SynapseError(ErrorCode.INTERNAL_ERROR, "Something went wrong here. The server's log has the place.")


def _result(body: dict[str, Any], *, is_error: bool = False) -> CallToolResult:
    """The object as structured content and, the same JSON, as text. ValueError if JSON can't hold it."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    text.encode()  # half a surrogate pair would otherwise fail in the transport, where no envelope can be made
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body, is_error=is_error)
