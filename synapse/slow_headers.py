"""An end to waiting for a request: a connection that says nothing, or a header a minute, would stay for ever."""

from __future__ import annotations

import asyncio

import h11
from django.conf import settings
from uvicorn.protocols.http.h11_impl import H11Protocol

from synapse.headers import missing


class TimelyProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it; a request's headers must be there within SYNAPSE_BODY_SECONDS.

    The time runs from the connection's begin, or from the first byte after an answer (until then uvicorn's own limit
    of idle connections holds). A connection that is late is closed without an answer: there is no request yet.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, unless a request has begun."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered before any application: here with the headers that every answer has.

        Where the answer to a request has begun, its body can turn out to be none: then the connection ends, and nothing
        is written into that answer or after it.
        """
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its application is told, and has no second answer
            self.cycle.message_event.set()
        lines = [b"HTTP/1.1 400 Bad Request", b"content-type: text/plain; charset=utf-8", b"connection: close"]
        lines += [b"%s: %s" % header for header in missing("", "", {"status": 400})]
        lines += [b"content-length: %d" % len(msg), b"", msg.encode("ascii")]
        self.transport.write(b"\r\n".join(lines))
        self.transport.close()

    def _wait(self) -> None:
        seconds: float = settings.SYNAPSE_BODY_SECONDS
        if self._late is None and seconds > 0 and not self.transport.is_closing():
            self._late = self.loop.call_later(seconds, self._close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._late = None
        self.transport.close()
