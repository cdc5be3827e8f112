"""The stdio door: one client, the process's own standard input and output, nothing else on either.

It ends when the client closes its input or a signal asks for it: calls in hand are answered or, if they write,
finished; waiting jobs are run; and if anything of that hangs, a watchdog ends the process. A write cut off there
leaves the old version or the new one, as at any other time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, BinaryIO, Final, cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError

from mcpapi import telemetry
from mcpapi.messages import complaint, longest_line
from mcpapi.profiles import Profile
from mcpapi.self_test import self_test
from mcpapi.server import Surface, build
from vault.strict_json import halves_as_nul
from wiki.embedding.thread import EmbedThread
from wiki.jobs import JobThread, drain, enqueue
from wiki.sync.watching import WatchThread

_END_WITHIN: Final = 4.5
_ANSWER_WITHIN: Final = 2.0
_TICK: Final = 0.05


def serve() -> None:
    """Serve until end of input, SIGTERM or SIGINT. RuntimeError if the tools are not those of the profile's table."""
    jobs = JobThread(threading.Event())
    enqueue("catch_up")  # the process before may have been killed in the middle of a write
    jobs.start()
    stop = threading.Event()
    # What a person edits meanwhile is found, also where no server watches the vault.
    WatchThread(stop, stand_in=True).start()
    embedding = EmbedThread(stop, stand_in=True)
    embedding.start()
    try:
        with telemetry.running():
            asyncio.run(_serve(build(Profile.STDIO)))
    except* BrokenPipeError:
        pass  # the client has gone without waiting for its answers
    finally:
        stop.set()
        embedding.end(timeout=0)
        jobs.end(timeout=2)
        drain()


async def _serve(surface: Surface) -> None:
    await self_test(surface)
    lines = _Lines(surface)
    try:
        async with stdio_server(stdin=cast("Any", lines)) as (read_stream, write_stream):
            lines.answers.set_result(write_stream)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_on_signal, tasks.cancel_scope)
                options = surface.server.create_initialization_options()
                await surface.server.run(read_stream, write_stream, options)
                tasks.cancel_scope.cancel()
            lines.close()
    finally:
        lines.close()


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            _end_soon()
            scope.cancel()
            return


def _end_soon() -> None:
    """End the process in a few seconds, whatever still runs then; a client waits no longer before it kills."""
    watchdog = threading.Timer(_END_WITHIN, os._exit, args=(1,))
    watchdog.daemon = True
    watchdog.start()


class _Lines:
    """The lines of standard input, as the SDK iterates over them.

    A thread of its own reads the descriptor: the SDK's reader can't be interrupted while it waits for a line,
    and would keep a process that was told to end. At the end of input, calls in hand are let finish, so that a
    script may pipe its requests in and read the answers. A line that is no message is answered here, by way of
    ``answers``; the SDK would pass over it in silence.
    """

    def __init__(self, surface: Surface) -> None:
        self._calls = surface.calls
        self._loop = asyncio.get_running_loop()
        self.answers: asyncio.Future[MemoryObjectSendStream[SessionMessage]] = self._loop.create_future()
        self._send: MemoryObjectSendStream[bytes]
        self._receive: MemoryObjectReceiveStream[bytes]
        self._send, self._receive = anyio.create_memory_object_stream[bytes]()
        threading.Thread(target=self._read, args=(os.dup(0),), name="stdin", daemon=True).start()

    def close(self) -> None:
        """End the iteration, though the client may go on writing."""
        self._send.close()

    async def __aiter__(self) -> AsyncIterator[str]:
        answers = await self.answers
        async for line in self._receive:
            fault = complaint(line)
            if fault is None:
                yield line.decode()
                continue
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended meanwhile
                await answers.send(SessionMessage(JSONRPCError.model_validate(fault)))
        _end_soon()
        with anyio.move_on_after(_ANSWER_WITHIN):
            await anyio.sleep(_TICK)
            while self._calls.active:
                await anyio.sleep(_TICK)
            await anyio.sleep(_TICK)

    def _read(self, descriptor: int) -> None:
        try:
            with os.fdopen(descriptor, "rb") as source:
                for line in _bounded(source):
                    if line.strip():
                        self._hand_over(self._send.send(halves_as_nul(line)))
            self._hand_over(self._send.aclose())
        except (OSError, RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the loop has ended, and with it whoever would read

    def _hand_over(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _bounded(source: BinaryIO) -> Iterator[bytes]:
    """The lines of a file; of one that is too long the beginning, which :func:`complaint` finds too long as well."""
    limit = longest_line()
    while line := source.readline(limit + 1):
        yield line
        while len(line) > limit and not line.endswith(b"\n"):
            line = source.readline(limit + 1)
            if not line:
                return
