"""Raw sources that changed or vanished under the pages that rest on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from reviews.models import CitedSource, ItemType, ReviewItem, Status
from reviews.services.findings import Finding, evidence_hash
from wiki.changes import Changed
from wiki.models import File, FileKind, Page
from wiki.rows import chunks
from wiki.services.citations import cited_by, pages_by_source, pages_missing, source_key, sources_at

#: A person said of the change what is to be said.
_DECIDED: Final = (Status.SKIPPED, Status.DISMISSED, Status.RESOLVED)


def _targets(changed: Changed) -> set[str]:
    """The sources that changed, and those that pages which changed rest on."""
    found = cited_by(changed.pages)
    for chunk in chunks(changed.files):
        files = File.objects.filter(pk__in=chunk, kind=FileKind.SOURCE).order_by()
        found.update(map(source_key, files.values_list("path", flat=True)))
    return found


@dataclass(slots=True)
class _Source:
    """A cited source: its file, the pages that cite it, and what is remembered of it."""

    file: File
    pages: list[Page]
    row: CitedSource | None = None

    @property
    def outdated(self) -> list[Page]:
        """The pages that cite another version than the file is now, and have not been rewritten since it changed."""
        row, now = self.row, self.file.content_hash
        if row is None or row.content_hash == now:
            return []
        if row.noticed_hash != now:
            return self.pages
        return [page for page in self.pages if row.waiting.get(str(page.uid)) == page.content_hash]


class SourceChanged:
    """A source that is no longer what it was when the pages that cite it were last known to agree with it.

    They agree with what it is when it is first seen cited, once all of them were rewritten after a change, and when a
    person has decided about the change. Its target is the source's key.
    """

    rule: Final = "source-changed"
    item_type: Final = ItemType.CONFIRM.value

    def targets(self, changed: Changed) -> set[str]:
        """The sources that changed, and those that pages which changed rest on."""
        return _targets(changed)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a source, of those whose change has been noticed."""
        rows = _rows(targets, noticed=True)
        for source in _cited(_by_key(sources_at(rows.keys())), rows):
            outdated = source.outdated
            if outdated and source.row is not None:
                yield self._finding(source.file, source.row.content_hash, outdated)

    def settle(self, targets: Collection[str] | None) -> None:
        """Notice what sources are and were, and which pages have followed."""
        files, rows = _by_key(_there() if targets is None else sources_at(targets)), _rows(targets)
        self._take_over_decisions(rows.values())
        # Nearly always a source is as it was, and that is told without asking who cites it.
        doubtful = {key: file for key, file in files.items() if not _is_as_it_was(file, rows.get(key))}
        cited = {source_key(source.file.path): source for source in _cited(doubtful, rows)}
        settled = [row for source in cited.values() if (row := _settled(source)) is not None]
        CitedSource.objects.bulk_create([row for row in settled if row.pk is None], batch_size=200)
        known = [row for row in settled if row.pk is not None]
        CitedSource.objects.bulk_update(known, ["content_hash", "noticed_hash", "waiting"], batch_size=200)
        self._forget((rows.keys() - files.keys()) | ((rows.keys() & doubtful.keys()) - cited.keys()))

    def _finding(self, file: File, before: str, outdated: list[Page]) -> Finding:
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=source_key(file.path),
            title=f"Source changed under {_counted(outdated)}: {file.path}",
            rationale=f"{file.path} is not what it was when {_counted(outdated)} that cite it were written. Read it "
            "again and bring them up to date; if they still hold, mark this as resolved.",
            file=file,
            references=outdated,
            evidence=[f"{before} {file.content_hash}"],
            rests_on=[page.pk for page in outdated],
            rank=len(outdated),
        )

    def _take_over_decisions(self, rows: Iterable[CitedSource]) -> None:
        """Where somebody has decided about a change, what the source had become is what pages agree with."""
        noticed = {row.path: row for row in rows if row.noticed_hash}
        for chunk in chunks(noticed):
            items = ReviewItem.objects.filter(rule=self.rule, target__in=chunk, status__in=_DECIDED, next__isnull=True)
            for target, evidence in items.order_by().values_list("target", "evidence_hash"):
                row = noticed[target]
                if evidence == _evidence(row):
                    row.content_hash, row.noticed_hash, row.waiting = row.noticed_hash, "", {}
                    row.save()

    def _forget(self, keys: Iterable[str]) -> None:
        """Forget sources that nobody cites any more; of one that is gone, what it was is kept for when it is back."""
        keys = set(keys)
        kept = pages_by_source(keys) if keys else {}
        for chunk in chunks(keys - kept.keys()):
            CitedSource.objects.filter(path__in=chunk).delete()


def _is_as_it_was(file: File, row: CitedSource | None) -> bool:
    """Whether there is nothing to settle."""
    return row is not None and not row.noticed_hash and row.content_hash == file.content_hash


def _evidence(row: CitedSource) -> str:
    finding = Finding(item_type="", rule="", target="", title="", evidence=[f"{row.content_hash} {row.noticed_hash}"])
    return evidence_hash(finding)


def _settled(source: _Source) -> CitedSource | None:
    """What is to be remembered of a source from now on, not saved; None where it is remembered already."""
    now, row, outdated = source.file.content_hash, source.row, source.outdated
    if row is None:
        return CitedSource(path=source_key(source.file.path), content_hash=now)
    was = (row.content_hash, row.noticed_hash, row.waiting)
    if outdated:
        row.noticed_hash = now
        row.waiting = {str(page.uid): page.content_hash for page in outdated}
    else:
        row.content_hash, row.noticed_hash, row.waiting = now, "", {}
    return row if was != (row.content_hash, row.noticed_hash, row.waiting) else None


def _rows(targets: Collection[str] | None, *, noticed: bool = False) -> dict[str, CitedSource]:
    rows = CitedSource.objects.order_by()
    if noticed:
        rows = rows.exclude(noticed_hash="")
    parts = [rows] if targets is None else [rows.filter(path__in=chunk) for chunk in chunks(targets)]
    return {row.path: row for part in parts for row in part}


def _there() -> QuerySet[File]:
    return File.objects.filter(kind=FileKind.SOURCE, deleted_at__isnull=True)


def _by_key(files: Iterable[File]) -> dict[str, File]:
    return {source_key(file.path): file for file in files}


def _cited(files: Mapping[str, File], rows: Mapping[str, CitedSource]) -> Iterator[_Source]:
    """Those of the sources, by key, that can be read and are cited, with what is remembered of them; by key."""
    citing = pages_by_source(files.keys()) if files else {}
    pages = _pages(page for numbers in citing.values() for page in numbers)
    for target in sorted(citing.keys() & files.keys()):
        if files[target].content_hash:
            yield _Source(files[target], _by_path(citing[target], pages), rows.get(target))


class SourceGone:
    """A source that pages cite and that is no longer in the vault. Its target is the source's key."""

    rule: Final = "source-gone"
    item_type: Final = ItemType.CONFIRM.value

    def targets(self, changed: Changed) -> set[str]:
        """The sources that changed, and those that pages which changed rest on."""
        return _targets(changed)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a source. One that never was in the vault is none: pages cite books and addresses too."""
        gone = {source_key(file.path): file for file in self._gone(targets)}
        there = {source_key(file.path) for file in sources_at(gone.keys())}
        citing = pages_missing([file for target, file in gone.items() if target not in there])
        pages = _pages(page for numbers in citing.values() for page in numbers)
        moved = _same_bytes(gone[target] for target in citing)
        for target in sorted(citing):
            file = gone[target]
            yield self._finding(file, _by_path(citing[target], pages), moved.get(file.content_hash))

    def _gone(self, targets: Collection[str] | None) -> list[File]:
        if targets is None:
            return list(File.objects.filter(kind=FileKind.SOURCE, deleted_at__isnull=False).order_by("path"))
        return sources_at(targets, gone=True)

    def _finding(self, file: File, citing: list[Page], moved: str | None) -> Finding:
        where = f" The same bytes are at {moved} now." if moved else ""
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=source_key(file.path),
            title=f"Source gone: {file.path} (cited by {_counted(citing)})",
            rationale=f"{file.path} was in the vault and is not any more.{where} Put it back, or correct the pages "
            "that cite it.",
            file=file,
            references=citing,
            evidence=[str(page.uid) for page in citing],
            rests_on=[page.pk for page in citing],
            rank=len(citing),
        )


def _same_bytes(files: Iterable[File]) -> dict[str, str]:
    """Where sources that are gone may have been moved to: paths of sources with the same bytes, by hash."""
    found: dict[str, str] = {}
    for chunk in chunks({file.content_hash for file in files} - {""}):
        alike = _there().filter(content_hash__in=chunk)
        found.update(alike.order_by("-path").values_list("content_hash", "path"))
    return found


def _pages(numbers: Iterable[int]) -> dict[int, Page]:
    """What findings say of these pages."""
    found: dict[int, Page] = {}
    for chunk in chunks(set(numbers)):
        rows = Page.objects.filter(pk__in=chunk).only("uid", "path", "title", "content_hash")
        found.update((page.pk, page) for page in rows)
    return found


def _by_path(numbers: Iterable[int], pages: dict[int, Page]) -> list[Page]:
    return sorted((pages[number] for number in numbers), key=lambda page: page.path)


def _counted(pages: Collection[object]) -> str:
    return "1 page" if len(pages) == 1 else f"{len(pages):,} pages"
