"""Moving the queue: out of one database as lines of JSON, and into another one of the same vault.

Ids are kept. Pages are found again by their id, else by their path, so the vault has to be scanned before. What is in
the queue already is never changed by an import: it adds, and a line that was taken once is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from reviews.models import CitedSource, Evidence, ResearchRun, ReviewEvent, ReviewItem
from reviews.services import events
from reviews.services.arriving import Arrivals
from reviews.services.lines import FORMAT, VERSION, read_line
from reviews.services.naming import iso
from reviews.services.reading import item_as_dict
from reviews.services.rules import check_may_decide, check_writes_allowed
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Audit, Page
from wiki.rows import chunks

#: Items read, or lines and their bytes written, in one transaction.
_BATCH: Final = 200
_BATCH_BYTES: Final = 8_000_000
#: What some readers take for the end of a line, written as JSON escapes; they occur within texts only.
_BREAKS: Final = {ord(mark): f"\\u{ord(mark):04x}" for mark in "\x85\u2028\u2029"}
#: Bad lines that are told one by one.
MAX_PROBLEMS: Final = 100


@dataclass(slots=True)
class Imported:
    """What an import did.

    ``items`` and ``runs`` that came in; ``known``: were there already; ``standing``: pending ones whose question is
    pending here under another id; ``settled``: questions that a scan had asked again here and that the import knew to
    be decided. ``problems``: {line, error, error_code}, the first hundred of ``refused``.
    """

    items: int = 0
    runs: int = 0
    known: int = 0
    standing: int = 0
    settled: int = 0
    refused: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("items", "runs", "known", "standing", "settled", "refused", "problems")
        return {name: getattr(self, name) for name in names}


def export_lines(*, progress: Callable[[int], None] | None = None) -> Iterator[str]:
    """The whole queue, a line at a time: header, research runs, changed sources, items with their events.

    The same queue gives the same lines. ``progress`` hears how many items are out.
    """
    yield _line({"line": "header", "format": FORMAT, "version": VERSION, "vault": str(current_vault().id)})
    for run in ResearchRun.objects.select_related("page").order_by("created_at", "pk").iterator():
        yield _line(_run_as_dict(run))
    for source in CitedSource.objects.exclude(noticed_hash="").order_by("path").iterator():
        names = ("path", "content_hash", "noticed_hash", "waiting")
        yield _line({"line": "source", **{name: getattr(source, name) for name in names}})
    # The ids first: items filed while the export is written out are left to the next one.
    ids = list(ReviewItem.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    done = 0
    for batch in chunks(ids, _BATCH):
        yield from map(_line, _items_as_dicts(batch))
        done += len(batch)
        if progress:
            progress(done)


def import_lines(
    *,
    lines: Iterable[tuple[int, bytes | None]],
    author: Author,
    any_vault: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Imported:
    """Take an export in: ``lines`` are numbered, as :func:`reviews.services.lines.bounded_lines` gives them.

    Decided items come in as history. Pending ones take the place of what a scan has asked meanwhile, and give way to
    what anybody else has. Of a line that can't be read nothing comes in. A second time nothing changes.

    Raises ``invalid_param_value`` for what is no export, or another vault's (unless ``any_vault``: then pages are found
    by their path), ``read_only``, ``forbidden``.
    """
    check_writes_allowed()
    check_may_decide(author)
    numbered = iter(lines)
    _check_header(next(numbered, (1, b"")), any_vault=any_vault)
    done = Imported()
    arrivals = Arrivals(author=author)
    batch: list[dict[str, Any]] = []
    size = 0
    for number, line in numbered:
        try:
            read = read_line(line)
            if read["line"] == "header":
                raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "A second header: two exports in one file.")
        except SynapseError as error:
            done.refused += 1
            if len(done.problems) < MAX_PROBLEMS:
                done.problems.append({"line": number, **error.envelope()})
            continue
        batch.append(read)
        size += len(line or b"")
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            arrivals.take(batch)
            batch, size = [], 0
        if progress:
            progress(number)
    arrivals.take(batch)
    arrivals.settle()
    done.items, done.runs, done.known = arrivals.items, arrivals.runs, arrivals.known
    done.standing, done.settled = arrivals.standing, arrivals.settled
    if done.items or done.runs:
        detail = {"items": done.items, "runs": done.runs}
        Audit.objects.create(actor=events.who(author), door=events.door(author), action="import", detail=detail)
    return done


def _check_header(numbered: tuple[int, bytes | None], *, any_vault: bool) -> None:
    try:
        header = read_line(numbered[1])
    except SynapseError:
        header = {}
    if header.get("line") != "header" or header["format"] != FORMAT:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "This is no export of a review queue: its header is missing.")
    if header["version"] != VERSION:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"The export has version {header['version']} of the format; this Synapse reads version {VERSION}.",
        )
    if header["vault"] != current_vault().id and not any_vault:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "The export is of another vault. Say --any-vault to take it in: pages are found by their path then.",
        )


def _items_as_dicts(ids: list[UUID]) -> list[dict[str, Any]]:
    """Items as they stand at one moment, with events and evidence; in the order given."""
    with transaction.atomic():
        items = ReviewItem.objects.select_related("page", "file", "created_page").in_bulk(ids)
        happened: dict[UUID, list[dict[str, Any]]] = {}
        # That an item was taken in is this database's own story.
        for event in ReviewEvent.objects.filter(item__in=ids).exclude(what="imported").order_by("pk"):
            happened.setdefault(event.item_id, []).append(_event_as_dict(event))
        resting: dict[UUID, list[str]] = {}
        live = Evidence.objects.filter(item__in=ids, page__deleted_at__isnull=True)
        for item_id, uid in live.values_list("item_id", "page__uid"):
            resting.setdefault(item_id, []).append(str(uid))
    return [
        _item_as_dict(items[item_id], sorted(resting.get(item_id, [])), happened.get(item_id, []))
        for item_id in ids
        if item_id in items
    ]


def _item_as_dict(item: ReviewItem, evidence: list[str], happened: list[dict[str, Any]]) -> dict[str, Any]:
    shown = item_as_dict(item, whole=True)
    more = ("target", "content_key", "evidence_hash", "page_path", "created_path", "proposed_text", "filed_via")
    return {
        "line": "item",
        **shown,
        **{name: getattr(item, name) for name in more},
        "page": _named_page(item.page),
        "created_page": _named_page(item.created_page),
        "refreshed_at": iso(item.refreshed_at),
        "evidence": evidence,
        "events": happened,
    }


def _event_as_dict(event: ReviewEvent) -> dict[str, Any]:
    names = ("what", "who", "door", "from_status", "to_status", "note")
    return {"at": iso(event.at), **{name: getattr(event, name) for name in names}}


def _run_as_dict(run: ResearchRun) -> dict[str, Any]:
    names = ("topic", "queries", "backend", "status", "claimed_by", "attempts", "page_path", "note")
    moments = ("lease_until", "created_at", "finished_at")
    return {
        "line": "run",
        "id": str(run.pk),
        "page": _named_page(run.page),
        **{name: getattr(run, name) for name in names},
        **{name: iso(getattr(run, name)) for name in moments},
    }


def _named_page(page: Page | None) -> dict[str, Any] | None:
    """A live page. A deleted one has no row in a database made anew; the path that is stored beside tells of it."""
    if page is None or page.deleted_at is not None:
        return None
    return {"id": str(page.uid), "title": page.title, "path": page.path}


def _line(entry: dict[str, Any]) -> str:
    text = json.dumps(entry, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.translate(_BREAKS) + "\n"
