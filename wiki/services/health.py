"""Looking for what is wrong around this process: vault, disk, database, broker, vectors, watcher, clock.

What is cheap is asked each time; whoever may keep others waiting is asked once in FRESH_SECONDS, for all threads of the
process, and waited for PATIENCE_SECONDS. :mod:`wiki.faults` has the sentences.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection
from django.utils import timezone

from vault import watch
from vault.current import current_vault
from vault.errors import SynapseError
from vault.identity import STATE, is_folder, is_writable
from wiki import faults
from wiki.binding import check_binding
from wiki.data_version import STATE_PK
from wiki.faults import Fault
from wiki.models import Audit, EmbeddingState, Page, VaultState
from wiki.startup import has_no_index, pending_migrations
from wiki.vectors.embedders import embeddings_wanted, loaded_embedder
from wiki.vectors.patience import in_thread
from wiki.vectors.rows import model_problem

logger = logging.getLogger(__name__)

#: How long an answer of broker, store and disk holds.
FRESH_SECONDS: Final = 5.0
#: How long each of them is waited for.
PATIENCE_SECONDS: Final = 1.5
_CONNECT_SECONDS: Final = 1.0
#: With less than this a disk counts as full.
FULL_BYTES: Final = 32_000_000
#: Clocks of two machines may differ by so much.
CLOCK_SLACK: Final = timedelta(minutes=10)
#: A vault's index is found by the id in its .synapse folder.
_WITHOUT_ID: Final = "If this vault had one, its .synapse folder is lost: put that back first, and the index is there."
#: How often ``serve`` looks.
LOOK_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Trouble:
    """A fault that is there now; ``more`` is a sentence on this case, or empty."""

    fault: Fault
    more: str = ""

    @property
    def text(self) -> str:
        """What people are told."""
        return f"{faults.sentence(self.fault)} {self.more}".rstrip()

    @property
    def stops(self) -> bool:
        """Whether nothing can be served until it is over."""
        return faults.SAID[self.fault].stops

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable."""
        return {"fault": self.fault.value, "text": self.text, "stops": self.stops}


def troubles() -> list[Trouble]:
    """What is wrong now, the worst first. Never raises, and writes nothing."""
    found = [*_vault(), *_database()]
    if not any(trouble.fault is Fault.VAULT_GONE for trouble in found):
        found += _disk()
    known = {trouble.fault for trouble in found}  # Qdrant may be there and refuse what it is told
    found += [trouble for trouble in _elsewhere.look() if trouble.fault not in known]
    if watch.is_blind():
        found.append(Trouble(Fault.WATCHER_BLIND))
    return sorted(found, key=lambda trouble: not trouble.stops)


def _vault() -> Iterator[Trouble]:
    root = Path(settings.SYNAPSE_VAULT)
    if not is_folder(root):
        yield Trouble(Fault.VAULT_GONE)
        return
    if not is_writable(root):
        if not settings.SYNAPSE_READ_ONLY:
            yield Trouble(Fault.VAULT_READ_ONLY)
        return
    state = root / STATE
    if is_folder(state) and not is_writable(state):
        yield Trouble(Fault.STATE_NOT_WRITABLE)


def _database() -> Iterator[Trouble]:
    if has_no_index():  # looked for before it is opened: that would make an empty one, or say that nothing answers
        if settings.VAULT_ID is not None:
            yield Trouble(Fault.TABLES_MISSING)
        elif is_folder(Path(settings.SYNAPSE_VAULT)):
            others = any(settings.SYNAPSE_DATA.glob("*/index.sqlite3"))
            yield Trouble(Fault.TABLES_MISSING, _WITHOUT_ID if others else "")
        return
    try:
        known = VaultState.objects.filter(pk=STATE_PK).exists()
        if _tables.missing():
            yield Trouble(Fault.TABLES_MISSING)
            return
        yield from _bound(known=known)
        yield from _clock()
        yield from _embedding()
    except (DatabaseError, InterfaceError) as error:
        yield Trouble(faults.of_database(error) or Fault.DATABASE_AWAY)


def _bound(*, known: bool) -> Iterator[Trouble]:
    """The vault as this database knows it."""
    root = Path(settings.SYNAPSE_VAULT)
    if not known or not is_folder(root):
        return
    try:
        empty = not any(root.iterdir())
        if empty and Page.objects.live().exists():
            yield Trouble(Fault.VAULT_EMPTY)
            return
        _ = current_vault().id
    except (SynapseError, OSError):
        yield Trouble(Fault.VAULT_WITHOUT_ID)
        return
    stopped = VaultState.objects.filter(pk=STATE_PK).values_list("last_scan", flat=True).first() or {}
    if stopped.get("stopped"):
        yield Trouble(Fault.SCAN_STOPPED)
    try:
        check_binding()
    except SynapseError:
        yield Trouble(Fault.DATABASE_FOREIGN)


def _clock() -> Iterator[Trouble]:
    latest = timezone.now() + CLOCK_SLACK
    newest = Audit.objects.order_by("-pk").values_list("at", flat=True).first()
    scanned = VaultState.objects.filter(pk=STATE_PK).values_list("last_scan_at", flat=True).first()
    if any(moment is not None and moment > latest for moment in (newest, scanned)):
        yield Trouble(Fault.CLOCK_BEHIND)


def _embedding() -> Iterator[Trouble]:
    if not embeddings_wanted():
        return
    embedder = loaded_embedder()
    if embedder is not None and (problem := model_problem(embedder.model_id, embedder.dim)):
        yield Trouble(Fault.EMBEDDER_OTHER, problem)
        return
    said, of_store = EmbeddingState.objects.values_list("last_error", "store_failed").first() or ("", False)
    if said:
        yield Trouble(Fault.VECTORS_AWAY) if of_store else Trouble(Fault.EMBEDDER_AWAY, said)


def _disk() -> Iterator[Trouble]:
    for folder in (settings.SYNAPSE_VAULT, settings.SYNAPSE_DATA):
        try:
            room = os.statvfs(folder)
        except OSError:
            continue
        if room.f_frsize * room.f_bavail < FULL_BYTES:
            yield Trouble(Fault.DISK_FULL)
            return


class _Tables:
    """Whether the tables are those of this version: asked until they are, since they don't grow old under a process."""

    def __init__(self) -> None:
        self._whole = False

    def missing(self) -> bool:
        self._whole = self._whole or not pending_migrations()
        return not self._whole


class _Elsewhere:
    """Broker and store of vectors, asked in a thread each. While one hangs it is not asked again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[tuple[Fault, str], tuple[float, Any]] = {}

    def look(self) -> list[Trouble]:
        found = []
        for fault, address, question in (
            (Fault.BROKER_AWAY, settings.CELERY_BROKER_URL, _ask_broker),
            (Fault.VECTORS_AWAY, settings.QDRANT_URL, _ask_store),
        ):
            if address and not self._answers((fault, address), partial(question, address)):
                found.append(Trouble(fault))
        return found

    def _answers(self, key: tuple[Fault, str], question: Callable[[], object]) -> bool:
        now = time.monotonic()
        with self._lock:
            at, asked = self._asked.get(key, (-FRESH_SECONDS, None))
            if asked is None or (asked.done() and now - at >= FRESH_SECONDS):
                at, asked = now, in_thread(question)
                self._asked[key] = (at, asked)
        try:
            asked.result(max(0.0, PATIENCE_SECONDS - (now - at)))
        except Exception:  # noqa: BLE001 - a client raises what it likes, and being late is a failure too
            return False
        return True


def _ask_broker(address: str) -> None:
    """Any answer of Redis to its shortest question will do, also that it wants a password. Raises OSError."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 6379), _CONNECT_SECONDS) as line:
        if parts.scheme == "redis":
            line.sendall(b"PING\r\n")
            if not line.recv(1):
                raise ConnectionResetError


def _ask_store(address: str) -> None:
    """Any answer of Qdrant will do. Raises OSError or HTTPException."""
    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    line = kind(parts.hostname or "127.0.0.1", parts.port or 6333, timeout=_CONNECT_SECONDS)
    try:
        line.request("GET", "/healthz")
        line.getresponse()
    finally:
        line.close()


_tables: Final = _Tables()
_elsewhere: Final = _Elsewhere()


class LookoutThread(threading.Thread):
    """Says in the log of a server what goes wrong around it, once, and when it is over."""

    def __init__(self, stop: threading.Event, *, seconds: float = LOOK_SECONDS) -> None:
        super().__init__(name="lookout", daemon=True)
        self._stop_event = stop
        self._seconds = seconds
        self._there: set[Fault] = set()

    def run(self) -> None:
        """Look until the event is set."""
        while not self._stop_event.is_set():
            close_old_connections()
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - the thread must live; what it would have said is said elsewhere
                logger.warning("the server can't look around", extra={"reason": type(error).__name__})
            self._stop_event.wait(self._seconds)
        connection.close()

    def look(self) -> None:
        """One look; logs what is new."""
        found = {trouble.fault: trouble for trouble in troubles()}
        for fault, trouble in found.items():
            if fault not in self._there:
                logger.warning(trouble.text, extra={"fault": fault.value})
        for fault in self._there - found.keys():
            logger.warning("Over: %s", faults.SAID[fault].happened, extra={"fault": fault.value})
        self._there = set(found)
