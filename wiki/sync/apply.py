"""Writing pages to the index: rows, names, links, full text, levels. All of it in the caller's transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from vault.links import text_key
from vault.pages import ParsedPage, parse_page
from wiki import changes as feed
from wiki.models import Alias, Citation, Link, LinkKind, LinkState, Page, Tag
from wiki.prime.atoms.pagetext import PageText
from wiki.prime.atoms.rows import remove_levels, write_levels
from wiki.rows import chunks, index_lock, insert, reserve_ids, update
from wiki.search import PageWords, index_words, remove_words
from wiki.sync.early import EarlyAnswers
from wiki.sync.known import KnownPage
from wiki.sync.links import StaleNames
from wiki.sync.reads import Change
from wiki.sync.values import (
    LINK_FIELDS,
    PAGE_FIELDS,
    WRITTEN,
    citation_keys,
    key,
    link_rows,
    names_of,
    page_values,
)

_STATE: Final = LINK_FIELDS.index("state")
_TARGET: Final = LINK_FIELDS.index("target")
_TEXT: Final = LINK_FIELDS.index("text")
_KIND: Final = LINK_FIELDS.index("kind")
_NAME_KEY, _TITLE, _TITLE_KEY, _TYPE, _SOURCES, _RESERVED = (
    PAGE_FIELDS.index(name) for name in ("name_key", "title", "title_key", "type", "sources", "reserved")
)


@dataclass(frozen=True, slots=True)
class OldPage:
    """What a page's row said before."""

    pk: int
    uid: UUID
    path: str
    content_hash: str
    deleted_at: object
    name_key: str
    title: str
    title_key: str
    type: str | None
    sources: list[str]
    reserved: bool

    @property
    def live(self) -> bool:
        """Whether its file was in the vault."""
        return self.deleted_at is None


@dataclass(slots=True)
class Applied:
    """What writing some pages did.

    ``pks`` by page id. ``stale`` are the names that came or went, ``dirty`` pages whose edges are to be computed
    again, ``facts`` those among them whose own row weighs otherwise now, ``noted`` pages for the feed of changes:
    those written; ``linked`` are those that gained or lost a link in. ``left`` are paths that were not written because
    a service wrote that page meanwhile.
    """

    pks: dict[UUID, int] = field(default_factory=dict)
    stale: StaleNames = field(default_factory=StaleNames)
    dirty: set[int] = field(default_factory=set)
    facts: set[int] = field(default_factory=set)
    noted: set[int] = field(default_factory=set)
    linked: set[int] = field(default_factory=set)
    left: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """One page on its way to the index: its change, its old row, and what it will be."""

    change: Change
    old: OldPage | None
    parsed: ParsedPage
    values: tuple[Any, ...]
    aliases: list[str]
    pk: int = 0

    @property
    def path(self) -> str:
        """Where the page is now."""
        return self.change.read.path

    @property
    def before(self) -> OldPage | None:
        """The old row if its file was in the vault: what links could lead to."""
        return self.old if self.old and self.old.live else None


def write_pages(changes: Sequence[Change], *, conditional: bool = True, early: EarlyAnswers | None = None) -> Applied:
    """Write pages to the index. Links whose answer is not known from before wait in state ``pending``.

    With ``conditional`` a page is left out when its row is no longer the one that the change started from: a
    service has written it meanwhile, and knows better. ``early`` answers links of a first scan at once.
    """
    applied = Applied()
    rows = _rows(changes, applied, conditional=conditional)
    _write_page_rows(rows)
    known = [row.pk for row in rows if row.old]
    aliases, links = _old_aliases(known), _old_links(known)
    for row in rows:
        applied.pks[row.change.uid] = row.pk
        _note_names(row, aliases.get(row.pk, []), applied.stale)
        if row.before and _facts(row.before) != _facts(row):
            applied.facts.add(row.pk)
    applied.dirty |= applied.facts
    applied.noted.update(applied.pks.values())
    _write_names(rows, aliases)
    _write_citations(rows)
    if early:
        early.add_pages((row.path, row.pk) for row in rows)
    _write_links(rows, links, applied, early)
    # Reserved pages are in no search, and the catalog of a large vault is long and often written.
    listed = [row for row in rows if not row.values[_RESERVED]]
    index_words(map(_words, listed))
    write_levels(((row.pk, row.path, PageText.of_page(row.parsed)) for row in listed), replacing=known)
    remove_words([row.pk for row in rows if row.values[_RESERVED] and row.before and not row.before.reserved])
    return applied


def remove_pages(pages: Sequence[KnownPage], *, conditional: bool = True) -> Applied:
    """Take pages out of the index whose files are gone; the rows stay and revive with their files."""
    applied = Applied()
    started = {page.uid: (page.path, page.content_hash) for page in pages}
    old = [
        page
        for page in _old_pages(started)
        if page.live and (not conditional or started[page.uid] == (page.path, page.content_hash))
    ]
    aliases = _old_aliases(page.pk for page in old)
    for page in old:
        applied.pks[page.uid] = page.pk
        applied.dirty.add(page.pk)
        _note_old_names(page, aliases.get(page.pk, []), applied.stale)
    pks = [page.pk for page in old]
    applied.noted.update(pks)
    for chunk in chunks(pks):
        led_to = Link.objects.filter(source__in=chunk, target__isnull=False).order_by()
        applied.linked.update(led_to.values_list("target_id", flat=True))
        for model in (Alias, Tag, Citation):
            model.objects.filter(page__in=chunk).delete()
        Link.objects.filter(source__in=chunk).delete()
        Page.objects.filter(pk__in=chunk).update(deleted_at=timezone.now())
    remove_words(pks)
    remove_levels(pks)
    return applied


def touch_pages(changes: Sequence[Change]) -> None:
    """Note a new stat, and for pages whose bytes could not be had the reason; what is indexed of them stays.

    Call it in a transaction of its own.
    """
    stats = ("size", "mtime_ns", "inode", "birth_ns", "read_ns")
    same, unread = [], []
    for change in changes:
        read, known = change.read, change.known
        if known is None:
            continue
        values = (read.size, read.mtime_ns, read.inode, read.birth_ns, read.read_ns)
        condition = (known.pk, known.content_hash)
        if read.content_hash == known.content_hash:
            same.append((*values, *condition))
        else:
            flags = [{"code": code, "reason": reason} for code, reason in read.flags]
            unread.append((*values, flags, *condition))
    if unread:
        index_lock()
        feed.note(pages={row[-2] for row in unread})
    update(Page, stats, same, match=("id", "content_hash"))
    update(Page, (*stats, "flags"), unread, match=("id", "content_hash"))


def _rows(changes: Sequence[Change], applied: Applied, *, conditional: bool) -> list[_Row]:
    by_uid = {page.uid: page for page in _old_pages(change.uid for change in changes)}
    taken: dict[UUID, Change] = {}
    for change in changes:
        if not conditional or _is_as_known(change, by_uid.get(change.uid)):
            taken.setdefault(change.uid, change)
    _leave_occupied(taken, by_uid)
    applied.left += [change.read.path for change in changes if taken.get(change.uid) is not change]
    rows = []
    for change in taken.values():
        old = by_uid.get(change.uid)
        parsed = change.read.parsed or parse_page(change.read.path, b"")
        values = page_values(change.read, parsed)
        rows.append(_Row(change, old, parsed, values, names_of(parsed.aliases), old.pk if old else 0))
    new = [row for row in rows if row.old is None]
    for row, pk in zip(new, reserve_ids(Page, len(new)), strict=True):
        row.pk = pk
    return rows


def _leave_occupied(taken: dict[UUID, Change], by_uid: dict[UUID, OldPage]) -> None:
    """Leave out pages whose path another live page has, unless that one moves away in the same batch."""
    holders = {
        path: uid
        for chunk in chunks(change.read.path for change in taken.values())
        for path, uid in Page.objects.live().filter(path__in=chunk).order_by().values_list("path", "uid")
    }
    left: list[UUID] | None = None
    while left is None or left:
        leaving = {uid for uid, change in taken.items() if uid in by_uid and by_uid[uid].path != change.read.path}
        left = [
            uid
            for uid, change in taken.items()
            if holders.get(change.read.path, uid) != uid and holders[change.read.path] not in leaving
        ]
        for uid in left:
            del taken[uid]


def _is_as_known(change: Change, old: OldPage | None) -> bool:
    """Whether the row is still the one that the scan started from: none, a deleted one, or the same file and bytes."""
    if change.known is None:
        return old is None or not old.live
    if old is None or not old.live:
        return False
    return (old.path, old.content_hash) == (change.known.path, change.known.content_hash)


def _old_pages(uids: Iterable[UUID]) -> list[OldPage]:
    names = [field.name for field in fields(OldPage)]
    return [
        OldPage(*values)
        for chunk in chunks(uids)
        for values in Page.objects.filter(uid__in=chunk).order_by().values_list(*names)
    ]


def _old_aliases(pks: Iterable[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for chunk in chunks(pks):
        for pk, name in Alias.objects.filter(page__in=chunk).order_by("pk").values_list("page_id", "name"):
            found.setdefault(pk, []).append(name)
    return found


def _old_links(pks: Iterable[int]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for chunk in chunks(pks):
        links = Link.objects.filter(source__in=chunk).order_by("source", "order")
        for pk, *values in links.values_list("source_id", *LINK_FIELDS):
            found.setdefault(pk, []).append(tuple(values))
    return found


def _write_page_rows(rows: list[_Row]) -> None:
    now = timezone.now()
    moving = [row.pk for row in rows if row.before and row.before.path != row.path]
    for chunk in chunks(moving):
        # Names may be swapped: all leave their old paths before any takes its new one.
        Page.objects.filter(pk__in=chunk).update(deleted_at=now)
    update(
        Page,
        (*PAGE_FIELDS, "indexed_at", "deleted_at"),
        [(*row.values, now, None, row.pk) for row in rows if row.old],
    )
    # What is embedded of a page begins with its title, which a move may change where its text stays the same. A copy of
    # its vectors elsewhere has its path too: it is sent again, and nothing is embedded for that.
    stale = {row.pk for row in rows if row.old and row.old.title != row.values[_TITLE]}
    if settings.QDRANT_URL:
        stale.update(moving)
    for chunk in chunks(sorted(stale)):
        Page.objects.filter(pk__in=chunk).update(vectors_hash="")
    insert(
        Page,
        ("id", "uid", *PAGE_FIELDS, "graph_dirty", "indexed_at", "deleted_at"),
        [(row.pk, row.change.uid, *row.values, False, now, None) for row in rows if not row.old],
    )


def _note_names(row: _Row, aliases: Sequence[str], stale: StaleNames) -> None:
    """Note under which keys links may have another answer now."""
    before = row.before
    if before is None or before.path != row.path:
        stale.names.add(row.values[_NAME_KEY])
        stale.texts.update([row.values[_TITLE_KEY], *map(_alias_key, row.aliases)])
        if before:
            _note_old_names(before, aliases, stale)
        return
    if before.title != row.values[_TITLE]:
        stale.texts.update((before.title_key, row.values[_TITLE_KEY]))
    stale.texts.update(map(_alias_key, set(aliases) ^ set(row.aliases)))


def _note_old_names(page: OldPage, aliases: Iterable[str], stale: StaleNames) -> None:
    stale.names.add(page.name_key)
    stale.texts.update([page.title_key, *map(_alias_key, aliases)])


def _alias_key(alias: str) -> str:
    return key(text_key(alias))


def _facts(page: OldPage | _Row) -> tuple[object, ...]:
    """What of a page's own row its edges depend on."""
    if isinstance(page, OldPage):
        return page.type, set(page.sources), page.reserved
    return page.values[_TYPE], set(page.values[_SOURCES]), page.values[_RESERVED]


def _write_names(rows: list[_Row], aliases: dict[int, list[str]]) -> None:
    """Aliases where they changed, and tags."""
    renamed = [row for row in rows if aliases.get(row.pk, []) != row.aliases]
    for chunk in chunks(row.pk for row in renamed if row.old):
        Alias.objects.filter(page__in=chunk).delete()
    insert(
        Alias,
        ("page", "name", "key"),
        [(row.pk, alias, _alias_key(alias)) for row in renamed for alias in row.aliases],
    )
    for chunk in chunks(row.pk for row in rows if row.old):
        Tag.objects.filter(page__in=chunk).delete()
    insert(
        Tag,
        ("page", "name", "key"),
        [(row.pk, tag, key(tag.casefold())) for row in rows for tag in names_of(row.parsed.tags)],
    )


def _write_citations(rows: list[_Row]) -> None:
    """Which raw sources the pages name, where that changed."""
    new: list[tuple[int, str]] = []
    replaced: list[int] = []
    for row in rows:
        before = row.before.sources if row.before else []
        if before == row.values[_SOURCES]:
            continue
        if before:
            replaced.append(row.pk)
        new += [(row.pk, found) for found in citation_keys(row.values[_SOURCES])]
    for chunk in chunks(replaced):
        Citation.objects.filter(page__in=chunk).delete()
    insert(Citation, ("page", "key"), new)


def _write_links(
    rows: list[_Row], old: dict[int, list[tuple[Any, ...]]], applied: Applied, early: EarlyAnswers | None
) -> None:
    """Replace the links of pages that have others now; what leads where is kept for targets that stay."""
    new: list[tuple[Any, ...]] = []
    replaced: list[int] = []
    for row in rows:
        before = old.get(row.pk, [])
        stays = row.before is not None and row.before.path == row.path
        links = link_rows(row.path, row.parsed)
        if stays and [link[:WRITTEN] for link in links] == [link[:WRITTEN] for link in before]:
            continue
        if before:
            replaced.append(row.pk)
        if stays:
            answers = {_asks(link): link[_STATE:] for link in before if link[_STATE] != LinkState.PENDING}
            links = [(*link[:_STATE], *answers.get(_asks(link), link[_STATE:])) for link in links]
        if early:
            links = early.answered(row.path, links)
        was, now = _leads_to(before), _leads_to(links)
        if was != now:
            applied.dirty.add(row.pk)
            applied.linked.update((was - now) + (now - was))
        new += [(row.pk, *link) for link in links]
    for chunk in chunks(replaced):
        Link.objects.filter(source__in=chunk).delete()
    insert(Link, ("source", *LINK_FIELDS), new)


def _asks(link: tuple[Any, ...]) -> tuple[str, bool]:
    """What the answer of a link depends on, besides the page it is on and the vault."""
    return link[_TEXT], link[_KIND] == LinkKind.MARKDOWN


def _leads_to(links: Collection[tuple[Any, ...]]) -> Counter[int]:
    return Counter(link[_TARGET] for link in links if link[_TARGET] is not None)


def _words(row: _Row) -> PageWords:
    return PageWords(
        row.pk, row.values[_TITLE], row.parsed.body, row.parsed.lang, row.aliases, names_of(row.parsed.tags)
    )
