"""How much a caller may ask for in a minute. One place for every door; counted in this process, by a steady clock.

Of each kind a caller may have so many in any 60 seconds: a sliding minute, not a bucket, because a full bucket lets
twice its size through in the first minute. What is refused does not count. With several processes each counts for
itself.
"""

from __future__ import annotations

import hashlib
import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import Final

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

MINUTE: Final = 60
MAX_CALLERS: Final = 2_048


class Kind(StrEnum):
    """What is counted, each by a setting; 0 there means without a limit."""

    REQUESTS = "requests"
    WRITES = "writes"
    DECISIONS = "decisions"
    STRANGERS = "requests without a valid token or session"
    LOGINS = "attempts to log in"
    REGISTRATIONS = "registrations of clients"


_SETTINGS: Final = {
    Kind.REQUESTS: "SYNAPSE_RATE_PER_MINUTE",
    Kind.WRITES: "SYNAPSE_WRITES_PER_MINUTE",
    Kind.DECISIONS: "SYNAPSE_DECISIONS_PER_MINUTE",
    Kind.STRANGERS: "SYNAPSE_STRANGERS_PER_MINUTE",
    Kind.LOGINS: "SYNAPSE_LOGINS_PER_MINUTE",
    Kind.REGISTRATIONS: "SYNAPSE_REGISTRATIONS_PER_MINUTE",
}


class _Minute:
    """What one caller had in the last 60 seconds, a sum for each second in which there was something."""

    __slots__ = ("_seconds", "_total")

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, int]] = deque()
        self._total = 0

    def add(self, cost: int, limit: int, now: float) -> int:
        """0 and the cost is counted; else after how many seconds there will be room for it, 1 to 61."""
        self._drop_before(now)
        over = self._total + cost - limit
        if over > 0:
            return self._room_after(over, now)
        second = math.floor(now)
        if self._seconds and self._seconds[-1][0] == second:
            cost_then = self._seconds.pop()[1]
            self._seconds.append((second, cost_then + cost))
        else:
            self._seconds.append((second, cost))
        self._total += cost
        return 0

    def _drop_before(self, now: float) -> None:
        # A second is over for good when its last moment is a minute ago.
        while self._seconds and self._seconds[0][0] + 1 + MINUTE <= now:
            self._total -= self._seconds.popleft()[1]

    def _room_after(self, over: int, now: float) -> int:
        freed = 0
        for second, cost in self._seconds:
            freed += cost
            if freed >= over:
                return max(1, math.ceil(second + 1 + MINUTE - now))
        return MINUTE + 1


class Limits:
    """The counts of all callers, of each kind the MAX_CALLERS that came last. Threads may share it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_callers: int = MAX_CALLERS) -> None:
        self._clock = clock
        self._max_callers = max_callers
        self._lock = threading.Lock()
        # A kind apart each, so that no flood of strangers pushes a known caller's count out.
        self._minutes: dict[Kind, OrderedDict[str, _Minute]] = {kind: OrderedDict() for kind in Kind}

    def take(self, caller: str, kind: Kind, cost: int, limit: int) -> int:
        """0 where ``cost`` was within the limit and is counted now; else in how many seconds it would be.

        A cost above the limit itself counts as the whole of it: it waits for an idle minute, not for ever.
        """
        with self._lock:
            callers = self._minutes[kind]
            minute = callers.pop(caller, None) or _Minute()
            callers[caller] = minute
            if len(callers) > self._max_callers:
                callers.popitem(last=False)
            return minute.add(min(cost, limit), limit, self._clock())

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            for callers in self._minutes.values():
                callers.clear()


class Known:
    """The MAX_CALLERS Authorization headers that were last found valid, by their digests.

    Who shows one of them is no stranger, however many strangers call from the same address.
    """

    def __init__(self, limit: int = MAX_CALLERS) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._digests: OrderedDict[bytes, None] = OrderedDict()

    def add(self, header: bytes) -> None:
        """This header has been found valid."""
        digest = _digest(header)
        with self._lock:
            self._digests[digest] = None
            self._digests.move_to_end(digest)
            if len(self._digests) > self._limit:
                self._digests.popitem(last=False)

    def discard(self, header: bytes) -> None:
        """This header is not valid (any more)."""
        with self._lock:
            self._digests.pop(_digest(header), None)

    def __contains__(self, header: bytes) -> bool:
        return _digest(header) in self._digests


limits = Limits()
known = Known()


@lru_cache(maxsize=1_024)  # every request asks
def address_of(host: str | None) -> str:
    """Who an address counts as: an IPv4 address as itself, IPv6 by its network of 64 bits, which one person has."""
    try:
        address = ipaddress.ip_address(host or "")
    except ValueError:  # a local socket
        return "address:local"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return f"address:{ipaddress.ip_network((int(address), 64), strict=False)}"
        address = address.ipv4_mapped
    return f"address:{address}"


def check(caller: str, kind: Kind, cost: int = 1) -> None:
    """Count ``cost`` of a kind for a caller, as history names it (``token:laptop``), or for an address.

    Raises ``rate_limited`` with ``retry_after`` (whole seconds, at least 1); nothing is counted then.
    """
    limit = int(getattr(settings, _SETTINGS[kind]))
    if limit <= 0 or cost <= 0:
        return
    wait = limits.take(caller, kind, cost, limit)
    if wait:
        raise SynapseError(
            ErrorCode.RATE_LIMITED,
            f"More than {limit} {kind} in a minute. Wait {wait} seconds, then go on more slowly.",
            retry_after=wait,
        )


def _digest(header: bytes) -> bytes:
    return hashlib.sha256(header).digest()
