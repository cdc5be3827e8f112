"""Which tools were called, by whom, how long it took and how it ended: rows for `manage.py mcp_stats` and the admin.

On the request path a call is noted in memory only. A thread writes the rows, a few at a time, so that no writer of
pages waits for them. What memory is not set aside for, and what the database refuses, is dropped and counted; a call
never fails because of it.

Nothing of it may hold a page's text, what was proposed, or a secret: an argument is kept as it is only when its name
is listed here. Of any other there is its length and, where nobody could guess the text by it, its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from mcpapi.models import Outcome, ToolCall
from wiki import jobs
from wiki.sync.values import storable

__all__ = ["JOB", "CallRecord", "Calls", "Outcome", "calls", "forget_old", "note", "running"]

#: The kind of job that removes rows which are old enough.
JOB: Final = "tool_calls"
#: Arguments that say what was looked for, and never what a page says.
KEPT: Final = frozenset(
    {"query", "k", "title", "path", "type", "limit", "offset", "depth", "status", "item_type", "id", "action"}
    | {"base_hash", "origin_source"}
    | {"scope", "tags", "level", "budget_tokens", "max_tokens", "kinds", "exclude_ids", "include_text"}
    | {"domain", "atom_set", "validators", "deep"}
)
#: The same of each of the items that are proposed.
KEPT_OF_ITEMS: Final = frozenset({"item_type", "page", "proposed_page_type", "base_hash"})
MAX_LIST: Final = 200
MAX_CHARACTERS: Final = 200
_MAX_PARAMS: Final = 8_000
_MAX_NAMES: Final = 50
#: A shorter text could be found by trying texts until the hash is the same.
_UNGUESSABLE: Final = 32
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}")
_TOKEN: Final = re.compile(r"(syn_|Bearer\s+)[A-Za-z0-9._~+/-]{8,}=*")
_LISTS: Final = ("result", "items", "nodes", "hits", "fixes", "diagnostics")
_BATCH: Final = 100
_FIRST_TIDY_SECONDS: Final = 60.0
_TIDY_SECONDS: Final = 3_600.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call as it was answered.

    ``tool`` is the name asked for, ``resolved`` the tool that ran ("" if none), ``arguments`` what was sent, any
    JSON. ``characters`` is the length of the answer as text, where whoever made the text knows it.
    """

    tool: str
    resolved: str
    profile: str
    client: str
    arguments: Any
    latency_ms: float
    outcome: Outcome
    error_code: str
    answer: dict[str, Any]
    characters: int | None = None


class Calls:
    """Calls noted and not yet written: at most ``limit``, beyond which they are dropped and counted."""

    def __init__(self, *, limit: int = 2_000) -> None:
        self.dropped = 0
        self._limit = limit
        self._rows: deque[ToolCall] = deque()
        self._lock = threading.Lock()
        self._many = threading.Event()

    def note(self, record: CallRecord) -> None:
        """Remember the call. Touches no database, and never raises."""
        if not settings.SYNAPSE_TELEMETRY:
            return
        if len(self._rows) >= self._limit:
            self.dropped += 1
            return
        try:
            self._rows.append(_row(record))
        except Exception:  # noqa: BLE001 - whatever it is, the caller must not pay for it
            self.dropped += 1
        if len(self._rows) * 2 >= self._limit:
            self._many.set()

    def flush(self) -> int:
        """Write what was noted, in short transactions; how many rows. A database that fails costs the rows."""
        written = 0
        with self._lock:
            while batch := self._taken():
                try:
                    ToolCall.objects.bulk_create(batch)
                except (DatabaseError, ValueError, OverflowError):
                    self.dropped += len(batch)
                else:
                    written += len(batch)
        return written

    def _taken(self) -> list[ToolCall]:
        batch: list[ToolCall] = []
        with suppress(IndexError):
            while len(batch) < _BATCH:
                batch.append(self._rows.popleft())
        return batch

    @contextmanager
    def running(self, every: float = 5) -> Iterator[None]:
        """Flush from a thread every so many seconds, and once more at the end; have old rows removed every hour."""
        stop = threading.Event()

        def loop() -> None:
            tidy_at = time.monotonic() + _FIRST_TIDY_SECONDS
            told = self.dropped
            while not stop.is_set():
                self._many.wait(every)
                self._many.clear()
                self.flush()
                if self.dropped > told:
                    logger.warning("calls of tools were not kept", extra={"rows": self.dropped - told})
                    told = self.dropped
                if time.monotonic() >= tidy_at:
                    tidy_at = time.monotonic() + _TIDY_SECONDS
                    _ask_to_forget()
                connection.close()
            self.flush()
            connection.close()

        thread = threading.Thread(target=loop, name="telemetry", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            self._many.set()
            thread.join(timeout=2)


def forget_old(payload: dict[str, Any] | None = None) -> dict[str, Any]:
    """Remove rows older than SYNAPSE_TOOL_CALLS_DAYS, and the oldest beyond SYNAPSE_TOOL_CALLS_MAX; how many.

    The handler of the job; some hundred rows at a time, so that no writer of pages waits for it. A day or a number
    that is not above 0 is without end.
    """
    days, most = settings.SYNAPSE_TOOL_CALLS_DAYS, settings.SYNAPSE_TOOL_CALLS_MAX
    removed = 0
    if days > 0:
        removed += _remove(at__lt=timezone.now() - timedelta(days=days))
    if most > 0:
        first_too_old = ToolCall.objects.order_by("-id").values_list("id", flat=True)[most : most + 1].first()
        if first_too_old is not None:
            removed += _remove(id__lte=first_too_old)
    return {"removed": removed}


def _remove(**which: Any) -> int:
    removed = 0
    while keys := list(ToolCall.objects.filter(**which).order_by("id").values_list("id", flat=True)[:500]):
        removed += ToolCall.objects.filter(id__in=keys).delete()[0]
    return removed


def _ask_to_forget() -> None:
    try:
        if not jobs.is_waiting(JOB):
            jobs.enqueue(JOB)
    except DatabaseError:
        pass  # asked again in an hour


def _row(record: CallRecord) -> ToolCall:
    characters = record.characters
    if characters is None:
        characters = len(json.dumps(record.answer, ensure_ascii=False))
    return ToolCall(
        at=timezone.now(),
        tool=_shown_name(record.tool),
        resolved=record.resolved[:64],
        profile=record.profile,
        client=storable(record.client)[:120],
        params=kept_params(record.arguments),
        latency_ms=round(record.latency_ms, 3),
        outcome=record.outcome,
        error_code=record.error_code,
        results=_results(record.answer),
        tokens=round(characters / 4),
        is_test=settings.SYNAPSE_TELEMETRY_IS_TEST,
    )


def _shown_name(name: Any) -> str:
    return name if isinstance(name, str) and _NAME.fullmatch(name) else "?"


def _results(answer: dict[str, Any]) -> int | None:
    """How many things an answer lists; None for one that is no list."""
    return next((len(answer[name]) for name in _LISTS if isinstance(answer.get(name), list)), None)


def kept_params(arguments: Any) -> dict[str, Any]:
    """What is kept of a call's arguments: never a page's text, never what was proposed, and of nothing too much."""
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        return {"?": _measured(arguments)}
    kept = _kept_of(arguments, KEPT)
    if any(isinstance(value, list) for value in kept.values()) and len(json.dumps(kept)) > _MAX_PARAMS:
        return {"?": _measured(arguments)}
    return kept


def _kept_of(arguments: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    first = list(arguments)[:_MAX_NAMES]
    return {_shown_name(name): _kept(name, arguments[name], names) for name in first}


def _kept(name: str, value: Any, names: frozenset[str]) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if name == "items" and isinstance(value, list):
        return [_kept_of(item, KEPT_OF_ITEMS) if isinstance(item, dict) else _measured(item) for item in _cut(value)]
    if name not in names:
        return _measured(value)
    if isinstance(value, list):
        return [_scalar(item) for item in _cut(value)]
    return _scalar(value)


def _cut(items: list[Any]) -> list[Any]:
    return items[:MAX_LIST]


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        text = value if len(value) <= MAX_CHARACTERS else value[:MAX_CHARACTERS] + "…"
        return _TOKEN.sub(r"\1…", storable(text))
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and abs(value) < 2**53:
        return value
    return value if value is None else _measured(value)


def _measured(value: Any) -> dict[str, Any]:
    """Of a value that is not kept: how long it is, and its SHA-256 where that gives nothing away."""
    if isinstance(value, int | float):
        return {"kind": "number"}
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    measured: dict[str, Any] = {"characters": len(text)}
    if len(text) >= _UNGUESSABLE:
        measured["sha256"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return measured


calls: Final = Calls()
note: Final = calls.note
running: Final = calls.running
