"""What the clients were told and what the editor saved, so that it can be looked for at the end."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

#: Answers that are right where many work on one vault: somebody else was first, or the page is not there any more.
EXPECTED: Final = frozenset(
    {
        "",
        "ambiguous_title",  # the editor copied a page, or wrote a title twice
        "base_required",
        "conflict",
        "idempotency_conflict",
        "invalid_frontmatter",  # the editor left a block that does not parse: such a page is not rewritten
        "page_not_found",
        "path_not_allowed",  # the editor moved the page out of the folders of agents
        "review_terminal",
        "stale_base",
    }
)
_MOST_FAILURES: Final = 200


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Written:
    """A version that somebody was told is written, or that the editor saved. ``page_id`` is empty for the editor's."""

    path: str
    content_hash: str
    at: float
    who: str
    page_id: str = ""


@dataclass
class Ledger:
    """Kept by all threads of a run."""

    acknowledged: list[Written] = field(default_factory=list)
    saves: list[Written] = field(default_factory=list)
    #: sha256 of what the editor's own saves and deletions went over, as any editor does.
    overwritten: set[str] = field(default_factory=set)
    #: Items that a decision was acknowledged for, and the status it led to.
    decided: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: Calls without an answer because the process that was asked was being killed or started.
    cut_off: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, what: str, seconds: float, answer: Mapping[str, Any], status: int = 200) -> None:
        """Note an answer; one that nobody should get is a failure of the run."""
        code = str(answer.get("error_code", "")) if isinstance(answer, Mapping) else ""
        with self._lock:
            self.seconds[what].append(seconds)
            self.answers[what, code] += 1
        if status >= 500 or code not in EXPECTED:
            self.failed(f"{what} was answered {status} {code}: {answer.get('error', '')} {answer.get('fields', '')}")

    def unanswered(self, what: str) -> None:
        with self._lock:
            self.cut_off[what] += 1

    def wrote(self, who: str, answer: Mapping[str, Any]) -> None:
        """Note an acknowledged write: an answer with path, content_hash and id."""
        entry = Written(answer["path"], answer["content_hash"], time.time(), who, str(answer["id"]))
        with self._lock:
            self.acknowledged.append(entry)

    def saved(self, how: str, path: str, data: bytes) -> None:
        with self._lock:
            self.saves.append(Written(path, sha256(data), time.time(), how))
            self.edits[how] += 1

    def went_over(self, data: bytes) -> None:
        with self._lock:
            self.overwritten.add(sha256(data))

    def decision(self, item: str, status: str) -> None:
        with self._lock:
            before = self.decided.setdefault(item, status)
        if before != status:
            self.failed(f"a review was decided twice: {before}, then {status}")

    def failed(self, reason: str) -> None:
        with self._lock:
            if len(self.failures) < _MOST_FAILURES and reason not in self.failures:
                self.failures.append(reason)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Nothing is noted inside the block: for counting."""
        with self._lock:
            yield

    def calls(self) -> int:
        with self._lock:
            return sum(self.answers.values())
