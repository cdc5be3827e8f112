"""One call of one tool: found, validated, run in a thread within its time, answered with one object, and noted."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
from django.conf import settings
from mcp.types import CallToolResult, TextContent

from mcpapi import telemetry
from mcpapi.aliases import Alias, alias_of
from mcpapi.callers import Caller
from mcpapi.profiles import Profile, tool_for
from mcpapi.registry import ToolSpec
from mcpapi.telemetry import CallRecord, Outcome
from mcpapi.validation import validated
from mcpapi.workers import Workers
from vault.errors import ErrorCode, SynapseError
from wiki import faults
from wiki.deadlines import deadline, timed_out

_READ_THREADS: Final = 16
_WRITE_THREADS: Final = 8
_FAILED: Final = "the tool %s failed"

logger = logging.getLogger(__name__)


def seconds_of(tool: ToolSpec) -> float:
    """The tool's time limit: SYNAPSE_TIMEOUT_<TOOL>, else its own."""
    limits: dict[str, float] = settings.SYNAPSE_TIMEOUTS
    return limits.get(tool.name, tool.seconds)


@dataclass(slots=True)
class _Call:
    """A call on its way: what was asked, what it turned out to mean, and how it ended."""

    name: str
    arguments: Any
    caller: Caller
    begun: float = field(default_factory=time.monotonic)
    alias: Alias | None = None
    resolved: str = ""
    outcome: Outcome = Outcome.OK
    error_code: str = ""

    def shown_name(self) -> str:
        """The name asked for, if it can be a tool's."""
        return self.name if self.name.isidentifier() else "?"

    def marked(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer; one to an old name says so."""
        return {**body, **self.alias.marks()} if self.alias else body

    def failed(self, error: SynapseError, outcome: Outcome) -> dict[str, Any]:
        """The envelope that answers a failure."""
        self.outcome, self.error_code = outcome, error.code.value
        return self.marked(error.envelope())


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
        call = _Call(name, arguments, caller)
        try:
            body = await self._body(call)
            try:
                text = _as_text(body)
            except Exception:
                logger.exception(_FAILED, call.shown_name())
                body = call.failed(unforeseen(), Outcome.EXCEPTION)
                text = _as_text(body)
            self._note(call, body, len(text))
            return CallToolResult(
                content=[TextContent(type="text", text=text)],
                structured_content=body,
                is_error=call.outcome is not Outcome.OK,
            )
        finally:
            self.active -= 1

    async def close(self) -> None:
        """Let the threads and their database connections go."""
        await self._reads.close()
        await self._writes.close()

    async def _body(self, call: _Call) -> dict[str, Any]:
        try:
            call.alias = alias_of(call.name)
            meant = call.alias.target if call.alias else call.name
            tool = tool_for(meant, self._profile, self._mode, call.caller)
            call.resolved = tool.name
            arguments = call.alias.arguments(call.arguments) if call.alias else call.arguments
            return call.marked(await self._run(tool, call, validated(tool.input_schema, arguments)))
        except SynapseError as error:
            late = error.code is ErrorCode.TOOL_TIMEOUT
            return call.failed(error, Outcome.TIMEOUT if late else Outcome.STRUCTURED_ERROR)
        except Exception as error:
            if away := faults.as_error(error):
                return call.failed(away, Outcome.STRUCTURED_ERROR)
            # Whatever it is, its text may quote a file: the log gets the place, the caller nothing of it.
            logger.exception(_FAILED, call.shown_name())
            return call.failed(unforeseen(), Outcome.EXCEPTION)

    async def _run(self, tool: ToolSpec, call: _Call, values: dict[str, Any]) -> dict[str, Any]:
        seconds = seconds_of(tool)
        work = partial(_in_time, seconds, call.begun, partial(tool.handler, call.caller, **values))
        if tool.writes:
            # Not abandoned when the caller goes away: what has been begun ends, and is indexed.
            return await self._writes.run_to_end(work)
        # What hangs elsewhere than in the database holds its thread, but not its caller.
        with anyio.move_on_after(seconds):
            return await self._reads.run(work)
        raise timed_out(seconds)

    def _note(self, call: _Call, body: dict[str, Any], characters: int) -> None:
        telemetry.note(
            CallRecord(
                tool=call.name,
                resolved=call.resolved,
                profile=self._profile.value,
                client=call.caller.name,
                arguments=call.arguments,
                latency_ms=(time.monotonic() - call.begun) * 1_000,
                outcome=call.outcome,
                error_code=call.error_code,
                answer=body,
                characters=characters,
            )
        )


def unforeseen() -> SynapseError:
    """What the outside hears of a failure that nobody foresaw."""
    return SynapseError(
        ErrorCode.INTERNAL_ERROR,
        "Something went wrong here; trying the same again is not likely to help. The server's log has the place.",
    )


def _in_time(seconds: float, since: float, work: partial[dict[str, Any]]) -> dict[str, Any]:
    with deadline(seconds, since=since):
        return work()


def _as_text(body: dict[str, Any]) -> str:
    """The object as the same JSON that is its structured content. ValueError if JSON can't hold it."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    text.encode()  # half a surrogate pair would otherwise fail in the transport, where no envelope can be made
    return text
