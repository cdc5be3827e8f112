"""What an item proposes beside what the page holds now: text, rows and texts for a conflict, all bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from reviews.actions import supported
from reviews.comparing import Comparison, Row, Segment, row_as_dict
from reviews.models import ReviewItem, Status
from reviews.services.bases import base_text
from reviews.services.creating import proposal
from vault import history
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import update
from vault.history import Author
from wiki.models import Page
from wiki.services import read_page
from wiki.services.approved import is_stale
from wiki.services.composing import today
from wiki.services.reading import titled

#: Bounds of what is shown: rows, characters of the rows and of the unified diff, characters of each text of a conflict.
MAX_ROWS: Final = 1_000
MAX_SHOWN: Final = 200_000
MAX_TEXT: Final = 200_000
#: Texts with more lines than this in all are not compared at all: no page that a person reads has so many.
MAX_LINES: Final = 400_000
_CONTEXT: Final = 3
#: In whose name a proposal is composed to be looked at: whoever looks is a person.
_PERSON: Final = Author("somebody", "admin")
#: A stretch of a line longer than this is shown by its two ends.
_LONG: Final = {False: 400, True: 4_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two texts beside each other; ``coarse`` as of an item's, ``cut``: not all of the change is in ``rows``."""

    rows: tuple[Row, ...]
    unified: Iterator[str]
    added: int
    removed: int
    coarse: bool
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDiff:
    """A proposal and the page's file as it is now.

    ``current`` is None where there is no file (a new page, or one that is gone). ``conflict``: what stands there is not
    what the proposal was made from; then ``base`` is that version, if the history still has it. ``coarse``: some of it
    was too large to be compared closely. ``truncated``: not all of the change is in ``rows`` or ``unified``.
    ``problem`` says why it could not be compared, or could not be written as it is.
    """

    path: str
    base_hash: str
    current_hash: str
    base: str | None
    current: str | None
    proposed: str
    conflict: bool
    unified: str
    rows: tuple[Row, ...]
    added: int
    removed: int
    coarse: bool
    truncated: bool
    problem: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the three texts only where there is a conflict, each cut at MAX_TEXT characters."""
        texts = {"base": self.base, "current": self.current, "proposed": self.proposed}
        return {
            "path": self.path,
            "new_page": self.current is None,
            "base_hash": self.base_hash,
            "current_hash": self.current_hash,
            "conflict": self.conflict,
            "added": self.added,
            "removed": self.removed,
            "unified": self.unified,
            "rows": [row_as_dict(row) for row in self.rows],
            "coarse": self.coarse,
            "truncated": self.truncated,
            "texts": {name: text and text[:MAX_TEXT] for name, text in texts.items()} if self.conflict else None,
            "problem": self.problem or None,
        }


def item_diff(item: ReviewItem, *, stubs: bool = False) -> ItemDiff | None:
    """The diff of an item that proposes a body or a staged text; None for one that proposes neither.

    What is shown of a pending item is what ``create`` would write today; with ``stubs`` also of one that proposes no
    text and that ``create`` makes a stub of. Reads files and takes locks, so it has no place in a transaction or in a
    list. What can't be read or composed is said in ``problem``.
    """
    pending = item.status == Status.PENDING
    proposes = item.proposed_body is not None or bool(item.proposed_text)
    if not proposes and not (stubs and pending and "create" in supported(item)):
        return None
    would = _would_write(item) if pending else _wrote(item)
    standing = would.standing or _standing(would.page, would.path)
    # What does not say what it was made from, and can't be written for another reason, is no conflict.
    comparable = not standing.problem and bool(item.base_hash or not would.problem)
    moved_on = would.stale or (comparable and standing.content_hash != item.base_hash)
    return _compared(item, would, standing, conflict=pending and moved_on)


def conflicting(items: QuerySet[ReviewItem]) -> QuerySet[ReviewItem]:
    """Those of the items whose page, as far as the index knows, is not what the proposal was made from.

    A page that has come to the title of a proposed new one counts too. The file itself is asked by :func:`item_diff`,
    and by whoever writes.
    """
    gone = Q(page__isnull=True) | Q(page__deleted_at__isnull=False)
    edited = ~Q(base_hash="") & (gone | ~Q(page__content_hash=F("base_hash")))
    namesake = Exists(Page.objects.live().filter(title=OuterRef("proposed_title")))
    proposes = Q(proposed_body__isnull=False) | ~Q(proposed_text="")
    return items.filter(edited | (Q(base_hash="") & ~Q(proposed_title="") & proposes & namesake))


@dataclass(frozen=True, slots=True)
class _Standing:
    """The text of a file and its sha256 (hex), None and "" where there is none; or why it can't be read."""

    text: str | None
    content_hash: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Proposed:
    """What would be written where; ``stale``: it would be refused, because of what stands there."""

    page: Page | None
    path: str
    text: str
    problem: str = ""
    stale: bool = False
    standing: _Standing | None = None


def _would_write(item: ReviewItem) -> _Proposed:
    """What ``create`` makes of the item now, as far as it can be told without writing."""
    try:
        made = proposal(item, author=_PERSON)
    except SynapseError as error:
        return _refused(item, error)
    page = made.page or titled(made.title).first()
    return _Proposed(page, page.path if page else made.path, _stamped(made.text))


def _wrote(item: ReviewItem) -> _Proposed:
    """What a decided item had proposed."""
    page = _own_page(item)
    return _Proposed(page, page.path if page else item.page_path, item.proposed_text or item.proposed_body or "")


def _refused(item: ReviewItem, error: SynapseError) -> _Proposed:
    """What was refused, from what the refusal says."""
    page = _own_page(item)
    stale = is_stale(error)
    text = error.repair.get("proposed") or item.proposed_text or item.proposed_body or ""
    standing = None
    if stale and "current" in error.repair:
        standing = _Standing(error.repair["current"], error.repair.get("content_hash") or "")
    path = error.repair.get("path") or (page.path if page else item.page_path)
    return _Proposed(page, str(path), text, "" if stale else error.message, stale, standing)


def _stamped(text: str) -> str:
    """The text with today as its ``updated``, as it is written."""
    try:
        return update(text, {"updated": today()})
    except SynapseError:
        return text


def _own_page(item: ReviewItem) -> Page | None:
    """The item's page, else one that has come to the proposed title since."""
    if item.page is not None:
        return item.page
    return titled(item.proposed_title).first() if item.proposed_title else None


def _standing(page: Page | None, path: str) -> _Standing:
    """What the file of a page, or another one at the path of a new page, holds now."""
    if page is not None and page.deleted_at is not None:
        return _Standing(None, "")
    try:
        if page is not None:
            read = read_page(page)
        elif path:
            read = current_vault().read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES)
        else:
            return _Standing(None, "")
    except SynapseError as error:
        absent = error.code in (ErrorCode.PAGE_NOT_FOUND, ErrorCode.NOT_FOUND)
        return _Standing(None, "", "" if absent else error.message)
    return _Standing(read.data.decode("utf-8", errors="replace"), read.content_hash)


def _compared(item: ReviewItem, would: _Proposed, standing: _Standing, *, conflict: bool) -> ItemDiff:
    old, new = standing.text or "", would.text
    beside = compare(old, new)
    unified, text_cut = _bounded_text(beside.unified)
    return ItemDiff(
        path=would.page.path if would.page else would.path,
        base_hash=item.base_hash,
        current_hash=standing.content_hash,
        base=_base(would.page, item.base_hash) if conflict else standing.text,
        current=standing.text,
        proposed=would.text,
        conflict=conflict,
        unified=unified,
        rows=beside.rows,
        added=beside.added,
        removed=beside.removed,
        coarse=beside.coarse,
        truncated=beside.cut or text_cut,
        problem=standing.problem or would.problem,
    )


def _base(page: Page | None, base_hash: str) -> str | None:
    """The version a proposal was made from, if it was kept with the proposal, or the history has its bytes."""
    if page is None or not base_hash:
        return None
    kept = base_text(base_hash)
    return kept if kept is not None else _displaced(page, base_hash)


def _displaced(page: Page, base_hash: str) -> str | None:
    """The version of the page in its history."""
    vault = current_vault()
    try:
        for version in history.versions(vault, page.uid):
            if base_hash in (version.content_hash, version.displaced_hash):
                displaced = base_hash == version.displaced_hash
                data = history.read_version(vault, page.uid, version.number, displaced=displaced)
                # An editor that still had the displaced file open may have gone on saving into it.
                if hashlib.sha256(data).hexdigest() == base_hash:
                    return data.decode("utf-8", errors="replace")
    except SynapseError:
        return None  # pruned, or the disk does not say: the other two texts are still of use
    return None


def compare(old: str, new: str) -> Compared:
    """Two texts beside each other. Of texts that are too long for that all counts as changed, and nothing is shown."""
    too_long = old.count("\n") + new.count("\n") > MAX_LINES
    comparison = Comparison("", "") if too_long else Comparison(old, new)
    rows, cut = _bounded(comparison.rows(context=_CONTEXT))
    return Compared(
        rows=rows,
        unified=comparison.unified(context=_CONTEXT),
        added=new.count("\n") if too_long else comparison.added,
        removed=old.count("\n") if too_long else comparison.removed,
        coarse=comparison.coarse or too_long,
        cut=cut or too_long,
    )


def _bounded(rows: Iterator[Row]) -> tuple[tuple[Row, ...], bool]:
    """The first rows, long stretches shortened, and whether anything of a change was left out."""
    kept: list[Row] = []
    size = 0
    cut = False
    for row in rows:
        short = replace(row, old=_shortened(row.old), new=_shortened(row.new))
        size += sum(len(part.text) for part in (*short.old, *short.new))
        if len(kept) == MAX_ROWS or size > MAX_SHOWN:
            return tuple(kept), True
        cut |= any(part.left_out and part.changed for part in (*short.old, *short.new))
        kept.append(short)
    return tuple(kept), cut


def _shortened(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """The segments, each long one as its beginning, how much is left out, and its end."""
    if all(len(part.text) <= _LONG[part.changed] for part in segments):
        return segments
    short: list[Segment] = []
    for part in segments:
        half = _LONG[part.changed] // 2
        if len(part.text) <= 2 * half:
            short.append(part)
            continue
        left_out = Segment("", part.changed, left_out=len(part.text) - 2 * half)
        short += [Segment(part.text[:half], part.changed), left_out, Segment(part.text[-half:], part.changed)]
    return tuple(short)


def _bounded_text(lines: Iterator[str]) -> tuple[str, bool]:
    kept: list[str] = []
    size = 0
    for line in lines:
        size += len(line)
        if size > MAX_SHOWN:
            return "".join(kept), True
        kept.append(line)
    return "".join(kept), False
