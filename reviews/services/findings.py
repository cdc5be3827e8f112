"""Findings: what is put before the queue, and the digests by which the queue knows it again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from reviews.models import Origin, ReviewItem
from wiki.models import File, Page
from wiki.sync.values import storable

MAX_REFERENCES: Final = 8
MAX_QUERIES: Final = 3
#: Characters of a title and a rationale; longer ones are cut. What agents file is refused before (proposals).
MAX_TITLE: Final = 300
MAX_RATIONALE: Final = 4_000
MAX_QUERY: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a person should decide, as a producer or an agent finds it.

    ``item_type``, ``rule``, ``target`` (normalised text) and ``page`` are the question. ``evidence`` is what it rests
    on, in any order: a question that was skipped is asked again when that is different. ``rests_on`` are the keys of
    the pages whose change can change the answer. Of ``references`` the first 8 are kept, of ``search_queries`` 3.
    """

    item_type: str
    rule: str
    target: str
    title: str
    rationale: str = ""
    page: Page | None = None
    file: File | None = None
    proposed_title: str = ""
    proposed_page_type: str = ""
    proposed_frontmatter: dict[str, Any] | None = None
    proposed_body: str | None = None
    proposed_text: str = ""
    base_hash: str = ""
    references: Sequence[Page] = ()
    search_queries: Sequence[str] = ()
    evidence: Sequence[str] = ()
    rests_on: Sequence[int] = ()
    rank: int = 0


@dataclass(slots=True)
class Outcome:
    """What became of one finding: filed, refreshed, unchanged, refused (``reason``) or held_back.

    ``item`` is the item in the queue; for a refused finding the one that was decided already.
    """

    finding: Finding
    what: str
    item: ReviewItem | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Filed:
    """What became of all findings, in the order given."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def filed(self) -> list[ReviewItem]:
        """New items."""
        return self._items("filed")

    @property
    def refreshed(self) -> list[ReviewItem]:
        """Items that were pending, and have changed."""
        return self._items("refreshed")

    @property
    def unchanged(self) -> list[ReviewItem]:
        """Items that were pending, and say the same already."""
        return self._items("unchanged")

    @property
    def refused(self) -> list[Outcome]:
        """Findings that were decided before, each with the reason and the item."""
        return [outcome for outcome in self.outcomes if outcome.what == "refused"]

    @property
    def held_back(self) -> int:
        """New findings over the cap."""
        return sum(outcome.what == "held_back" for outcome in self.outcomes)

    def _items(self, what: str) -> list[ReviewItem]:
        return [outcome.item for outcome in self.outcomes if outcome.what == what and outcome.item is not None]


def content_key(finding: Finding, *, origin: str) -> str:
    """The sha256 (hex) of what makes two items the same question.

    What an agent files or stages is one question with its proposal: another text is another question.
    """
    page = str(finding.page.uid) if finding.page else ""
    parts: list[Any] = [finding.item_type, finding.rule, finding.target, page]
    if origin == Origin.AGENT:
        parts += [finding.proposed_frontmatter, finding.proposed_body, finding.proposed_text, finding.base_hash]
    return _digest(parts)


def evidence_hash(finding: Finding) -> str:
    """The sha256 (hex) of what a finding rests on; "" where it rests on nothing but the question."""
    return _digest(sorted(set(finding.evidence))) if finding.evidence else ""


def item_values(finding: Finding) -> dict[str, Any]:
    """The fields of an item that follow its finding for as long as it is pending."""
    page, file = finding.page, finding.file
    return {
        "title": _cut(" ".join(storable(finding.title).split()), MAX_TITLE),
        "rationale": _cut(storable(finding.rationale).strip(), MAX_RATIONALE),
        "rank": max(0, min(finding.rank, 2**31 - 1)),
        "page_id": page.pk if page else None,
        "page_path": page.path if page else "",
        "file_id": file.pk if file else None,
        "file_path": file.path if file else "",
        "proposed_title": storable(finding.proposed_title),
        "proposed_page_type": finding.proposed_page_type,
        "proposed_frontmatter": _as_stored(finding.proposed_frontmatter),
        "proposed_body": finding.proposed_body,
        "proposed_text": finding.proposed_text,
        "base_hash": finding.base_hash,
        "referenced_pages": [
            {"id": str(page.uid), "title": page.title, "path": page.path}
            for page in finding.references[:MAX_REFERENCES]
        ],
        "search_queries": [_cut(storable(query), MAX_QUERY) for query in finding.search_queries[:MAX_QUERIES]],
        "evidence_hash": evidence_hash(finding),
    }


def pages_rested_on(finding: Finding) -> frozenset[int]:
    """The keys of the pages that an item is found again by: those it rests on, and those it names."""
    return frozenset((*finding.rests_on, *(page.pk for page in finding.references)))


def _digest(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _as_stored(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """A mapping as it comes back from a JSON column, so that it can be compared with one."""
    stored: dict[str, Any] | None = json.loads(json.dumps(value, allow_nan=False))
    return stored


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
