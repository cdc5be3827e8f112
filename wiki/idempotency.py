"""A request that is sent again under its ``Idempotency-Key`` is answered again, not done again.

A key stands for one request of one caller: its row holds a digest of everything that shapes the effect, and is
committed before there is any. What the request is answered is kept for a day and replayed byte for byte. A run that
gives no sign of life for a minute has died; the next request with its key takes its place. What the dead run did
stands, and is judged anew like anybody's: the title it created is taken, the version it replaced is gone.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone

from vault.errors import ErrorCode, SynapseError
from wiki.models import IdempotencyKey

KEEP: Final = timedelta(hours=24)
DEAD_AFTER: Final = timedelta(seconds=60)
SIGN_OF_LIFE_SECONDS: Final = 15.0
MAX_KEY_CHARACTERS: Final = 255
#: An answer can hold three versions of a page (a conflict), and JSON may double one; this is beyond any.
MAX_ANSWER_PAGES: Final = 8
#: Headers that belong to the answer itself; the others are made anew for each.
KEPT_HEADERS: Final = ("ETag", "Location")
_KEY: Final = re.compile(rf"[\x21-\x7e]{{1,{MAX_KEY_CHARACTERS}}}")
_SHOWN_PATH: Final = 500
_PURGED_AT_ONCE: Final = 200
_ATTEMPTS: Final = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request under a key. ``path`` is without a slash at its end, with its query."""

    caller: str
    method: str
    path: str
    key: str
    digest: str

    @property
    def slot(self) -> str:
        """Where its row is found: sha256, hex."""
        return _sha256(self.caller, self.method, self.path, self.key)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """The right, and duty, to carry a request out: end it with :func:`finish` or :func:`release`."""

    pk: int
    run: UUID


def require_key(header: str) -> str:
    """The key as it was sent. Raises ``invalid_param_value`` unless it is 1 to 255 visible ASCII characters."""
    if not _KEY.fullmatch(header):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"An Idempotency-Key is 1 to {MAX_KEY_CHARACTERS} visible ASCII characters, for example a new UUID.",
        )
    return header


def digest_of(body: bytes, conditions: Mapping[str, str]) -> str:
    """What tells a request from another at the same address: sha256, hex, of its body and of such headers."""
    named = [part for name in sorted(conditions) for part in (name, conditions[name])]
    return _sha256(hashlib.sha256(body).hexdigest(), *named)


def begin(asked: Asked) -> Run | Answer:
    """Take the request on, committed before this returns; or what it was answered, if it was.

    Call it outside any transaction. Raises ``idempotency_conflict`` where the key stood for another request, and
    ``conflict`` with ``retry_after`` while that very request is being carried out.
    """
    for _ in range(_ATTEMPTS):
        mine = _insert(asked)
        row = IdempotencyKey.objects.filter(slot=asked.slot).first()
        if row is None:  # released, or forgotten, in between
            continue
        if row.run == mine:
            return _begun(Run(row.pk, mine))
        if _is_over(row):
            IdempotencyKey.objects.filter(_over(), pk=row.pk, run=row.run).delete()
            continue
        if row.digest != asked.digest:
            raise SynapseError(
                ErrorCode.IDEMPOTENCY_CONFLICT,
                "This Idempotency-Key was used with another body or other conditions. Use a new one for a new request.",
            )
        if row.status is not None:
            return _answer(row)
        if _is_dead(row) and _retake(row, mine):
            return _begun(Run(row.pk, mine))
        break
    raise SynapseError(
        ErrorCode.CONFLICT,
        "The request with this Idempotency-Key is being carried out. Send it again a little later.",
        retry_after=1,
    )


def finish(run: Run, answer: Answer) -> None:
    """Keep what the request was answered. A database that fails costs the copy, not the caller's answer."""
    _alive.drop(run)
    fits = len(answer.body) <= MAX_ANSWER_PAGES * settings.SYNAPSE_MAX_PAGE_BYTES
    kept = {"status": answer.status, "headers": dict(answer.headers), "body": answer.body if fits else None}
    try:
        IdempotencyKey.objects.filter(pk=run.pk, run=run.run).update(**kept)
    except DatabaseError:
        logger.warning("an answer could not be kept for a retry")


def release(run: Run) -> None:
    """Let the request be sent again as if it never had been: nothing was done, or it can't be told."""
    _alive.drop(run)
    try:
        IdempotencyKey.objects.filter(pk=run.pk, run=run.run).delete()
    except DatabaseError:
        logger.warning("a key could not be released; it is free again when its run counts as dead")


def is_kept(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer is one for good: an effect or a definite refusal.

    Not for good is what may go otherwise with the same request: a failure of ours, a login or a pause that is
    missing, and whatever says itself when to try again.
    """
    return status < 500 and status not in (401, 429) and "Retry-After" not in headers


def forget_expired() -> int:
    """Remove the rows that are older than a day; how many. In short steps, since rows can be large."""
    forgotten = 0
    while True:
        pks = list(IdempotencyKey.objects.filter(_over()).values_list("pk", flat=True)[:_PURGED_AT_ONCE])
        if not pks:
            return forgotten
        forgotten += IdempotencyKey.objects.filter(_over(), pk__in=pks).delete()[0]


def _insert(asked: Asked) -> UUID:
    """Make the row unless there is one; the run that it would then name."""
    mine = uuid4()
    row = IdempotencyKey(
        slot=asked.slot,
        caller=asked.caller,
        method=asked.method,
        path=asked.path[:_SHOWN_PATH],
        key=asked.key,
        digest=asked.digest,
        run=mine,
    )
    IdempotencyKey.objects.bulk_create([row], ignore_conflicts=True)
    return mine


def _begun(run: Run) -> Run:
    _alive.add(run)
    return run


def _answer(row: IdempotencyKey) -> Answer:
    if row.body is None:
        raise SynapseError(
            ErrorCode.CONFLICT,
            f"This request was carried out and answered {row.status}; the answer was too large to be kept. "
            "Read what it changed.",
        )
    return Answer(row.status or 200, row.headers, bytes(row.body))


def _over() -> Q:
    # A row from the future was made before a clock was set back; it is not kept until that day comes again.
    now = timezone.now()
    return Q(created_at__lt=now - KEEP) | Q(created_at__gt=now + KEEP)


def _is_over(row: IdempotencyKey) -> bool:
    return abs(timezone.now() - row.created_at) > KEEP


def _is_dead(row: IdempotencyKey) -> bool:
    return row.status is None and abs(timezone.now() - row.alive_at) > DEAD_AFTER


def _retake(row: IdempotencyKey, mine: UUID) -> bool:
    """Take a dead run's place; of several that try, one does."""
    held = IdempotencyKey.objects.filter(pk=row.pk, run=row.run, alive_at=row.alive_at, status__isnull=True)
    return held.update(run=mine, alive_at=timezone.now()) == 1


def _sha256(*parts: str) -> str:
    # Lengths between the parts: no two lists of parts read alike.
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()


class SignsOfLife:
    """Says, while a run takes long, that it goes on: a retitle of a thousand links may take more than a minute.

    A thread does it while there are runs. Quick ones cost no statement.
    """

    def __init__(self, every: float = SIGN_OF_LIFE_SECONDS) -> None:
        self._every = every
        self._lock = threading.Lock()
        self._beats: dict[Run, int] = {}
        self._working = False

    def add(self, run: Run) -> None:
        """Speak for this run until :meth:`drop`."""
        with self._lock:
            self._beats[run] = 0
            begin_thread, self._working = not self._working, True
        if begin_thread:
            threading.Thread(target=self._loop, name="signs-of-life", daemon=True).start()

    def drop(self, run: Run) -> None:
        """The run has ended."""
        with self._lock:
            self._beats.pop(run, None)

    def beat(self) -> int:
        """Write the time into the rows of the runs that were there at the last beat already; how many rows."""
        with self._lock:
            old = [run for run, beats in self._beats.items() if beats]
            self._beats = {run: beats + 1 for run, beats in self._beats.items()}
        rows = (IdempotencyKey.objects.filter(pk=run.pk, run=run.run) for run in old)
        return sum(row.update(alive_at=timezone.now()) for row in rows)

    def _loop(self) -> None:
        while self._goes_on():
            time.sleep(self._every)
            try:
                self.beat()
            except Exception as error:  # noqa: BLE001 - a thread that ended would leave every long run for dead
                logger.warning("long requests gave no sign of life", extra={"reason": type(error).__name__})
            finally:
                connection.close()

    def _goes_on(self) -> bool:
        with self._lock:
            self._working = bool(self._beats)
            return self._working


_alive: Final = SignsOfLife()
