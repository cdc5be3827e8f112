"""Rows of another database coming into this one: each once, and none over what stands here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from reviews.models import CitedSource, Evidence, Origin, ResearchRun, ReviewEvent, ReviewItem, Status
from reviews.services import events
from reviews.services.filing import FOLLOWS_EVIDENCE, filing_lock, last_of
from vault.history import Author
from wiki.models import File, Page
from wiki.rows import chunks, insert

_ITEM_COLUMNS: Final = tuple(field.name for field in ReviewItem._meta.concrete_fields)
_EVENT_COLUMNS: Final = ("item", "at", "what", "who", "door", "from_status", "to_status", "note")


@dataclass(slots=True)
class Arrivals:
    """What has come in so far. ``take`` is called with lines as they are read, ``settle`` once at the end."""

    author: Author
    items: int = 0
    runs: int = 0
    known: int = 0
    standing: int = 0
    settled: int = 0
    _keys: set[str] = field(default_factory=set)
    _ids: set[UUID] = field(default_factory=set)
    _follow: list[tuple[UUID, UUID]] = field(default_factory=list)

    def take(self, batch: list[dict[str, Any]]) -> None:
        """Take the lines of a batch in, in one transaction."""
        if not batch:
            return
        with transaction.atomic():
            filing_lock()
            self._take_runs([line for line in batch if line["line"] == "run"])
            self._take_sources([line for line in batch if line["line"] == "source"])
            self._take_items([line for line in batch if line["line"] == "item"])

    def settle(self) -> None:
        """Tie items to those they follow, and take back what a scan asked here that had been decided there."""
        for chunk in chunks(self._follow):
            with transaction.atomic():
                there = set(_known(ReviewItem, (previous for _, previous in chunk)))
                for item_id, previous in chunk:
                    if previous in there:
                        ReviewItem.objects.filter(pk=item_id).update(previous=previous)
        for keys in chunks(sorted(self._keys)):
            with transaction.atomic():
                filing_lock()
                self._settle(keys)

    def _take_runs(self, lines: list[dict[str, Any]]) -> None:
        there = set(_known(ResearchRun, (line["id"] for line in lines)))
        pages = _Pages(line["page"] for line in lines)
        for line in lines:
            if line["id"] in there:
                self.known += 1
                continue
            there.add(line["id"])
            values = {name: value for name, value in line.items() if name not in ("line", "page")}
            ResearchRun.objects.create(**values, page_id=pages.key(line["page"]))
            self.runs += 1

    def _take_sources(self, lines: list[dict[str, Any]]) -> None:
        """What pages agreed with before a source changed, where this index knows only what it has become."""
        for line in lines:
            fresh = CitedSource.objects.filter(path=line["path"], content_hash=line["noticed_hash"], noticed_hash="")
            fresh.update(**{name: line[name] for name in ("content_hash", "noticed_hash", "waiting")})

    def _take_items(self, lines: list[dict[str, Any]]) -> None:
        there = set(_known(ReviewItem, (line["id"] for line in lines)))
        new: dict[UUID, dict[str, Any]] = {}
        for line in lines:
            if line["id"] in there or line["id"] in new:
                self.known += 1
            else:
                new[line["id"]] = line
        self._make_room(new)
        if not new:
            return
        self._insert(list(new.values()))
        self.items += len(new)
        self._ids.update(new)
        self._keys.update(line["content_key"] for line in new.values())

    def _make_room(self, new: dict[UUID, dict[str, Any]]) -> None:
        """Of each question one item can be pending: what a scan has asked here gives way, anything else stays."""
        asked: set[str] = set()
        pending = {line["content_key"] for line in new.values() if line["status"] == Status.PENDING}
        standing = ReviewItem.objects.filter(content_key__in=pending, status=Status.PENDING)
        replaced = []
        for item in standing.only("content_key", "origin", "claim"):
            if item.origin == Origin.RULE and item.claim is None and item.pk not in self._ids:
                replaced.append(item.pk)
            else:
                asked.add(item.content_key)
        for line in list(new.values()):
            if line["status"] != Status.PENDING:
                continue
            if line["content_key"] in asked:
                del new[line["id"]]
                self.standing += 1
            asked.add(line["content_key"])
        ReviewItem.objects.filter(pk__in=replaced).delete()

    def _insert(self, lines: list[dict[str, Any]]) -> None:
        pages = _Pages(page for line in lines for page in (line["page"], line["created_page"]))
        paths = [line["file"]["path"] for line in lines if line["file"]]
        files = dict(File.objects.filter(path__in=paths).values_list("path", "pk"))
        runs = set(_known(ResearchRun, (line["research_run"] for line in lines if line["research_run"])))
        insert(ReviewItem, _ITEM_COLUMNS, [self._row(line, pages, files, runs) for line in lines])
        self._follow += [(line["id"], line["previous"]) for line in lines if line["previous"]]
        resting = _Pages({"id": uid, "path": ""} for line in lines for uid in line["evidence"])
        insert(
            Evidence,
            ("item", "page"),
            [
                (line["id"], page)
                for line in lines
                for uid in dict.fromkeys(line["evidence"])
                if (page := resting.key({"id": uid, "path": ""}))
            ],
        )
        rows = [
            (line["id"], *(event[name] for name in _EVENT_COLUMNS[1:])) for line in lines for event in line["events"]
        ]
        insert(ReviewEvent, _EVENT_COLUMNS, rows)
        events.append([line["id"] for line in lines], what="imported", author=self.author, at=timezone.now())

    def _row(self, line: dict[str, Any], pages: _Pages, files: dict[str, int], runs: set[UUID]) -> tuple[Any, ...]:
        path = line["file"]["path"] if line["file"] else ""
        values = {
            **{name: line[name] for name in _ITEM_COLUMNS if name in line},
            "page": pages.key(line["page"]),
            "created_page": pages.key(line["created_page"]),
            "file": files.get(path),
            "file_path": path,
            "research_run": line["research_run"] if line["research_run"] in runs else None,
            "previous": None,
            "claim": None,
            "claimed_at": None,
            "write_hash": "",
        }
        return tuple(values[name] for name in _ITEM_COLUMNS)

    def _settle(self, keys: list[str]) -> None:
        """As filing would have judged, had the history been there: decided questions are not asked again."""
        history: dict[str, list[ReviewItem]] = {}
        asked: list[ReviewItem] = []
        for item in ReviewItem.objects.filter(content_key__in=keys).defer("proposed_body", "proposed_text"):
            anew = item.status == Status.PENDING and item.origin == Origin.RULE and item.pk not in self._ids
            if anew and item.claim is None and item.previous_id is None:
                asked.append(item)
            else:
                history.setdefault(item.content_key, []).append(item)
        gone = []
        for item in asked:
            last = last_of(history.get(item.content_key, []))
            if last is None or last.status == Status.PENDING:
                continue
            same = last.evidence_hash == item.evidence_hash
            if last.status == Status.DISMISSED or (last.status in FOLLOWS_EVIDENCE and same):
                gone.append(item.pk)
            else:
                reason = "changed" if last.status in FOLLOWS_EVIDENCE else "regressed"
                ReviewItem.objects.filter(pk=item.pk).update(previous=last, previous_reason=reason)
        ReviewItem.objects.filter(pk__in=gone).delete()
        self.settled += len(gone)


class _Pages:
    """The keys of pages by what an export calls them: their id, else their path."""

    def __init__(self, named: Iterable[dict[str, Any] | None]) -> None:
        given = [page for page in named if page]
        self._by_id: dict[UUID, int] = {}
        self._by_path: dict[str, int] = {}
        for chunk in chunks({page["id"] for page in given if page["id"]}):
            self._by_id.update(Page.objects.filter(uid__in=chunk).values_list("uid", "pk"))
        for chunk in chunks({page["path"] for page in given if page["path"]}):
            self._by_path.update(Page.objects.live().filter(path__in=chunk).values_list("path", "pk"))

    def key(self, page: dict[str, Any] | None) -> int | None:
        """The page's key, None for one that is not here."""
        if page is None:
            return None
        return self._by_id.get(page["id"]) or self._by_path.get(page["path"])


def _known(model: Any, ids: Iterable[UUID]) -> Iterable[UUID]:
    for chunk in chunks(set(ids)):
        yield from model.objects.filter(pk__in=chunk).values_list("pk", flat=True)
