"""Resolving links: those that wait, and those whose answer a change of names can have changed, no others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import F, Q

from vault.links import Targets, resolve
from wiki import changes
from wiki.candidates import named, titled
from wiki.data_version import data_version
from wiki.models import Alias, File, Link, LinkKind, LinkState, Page
from wiki.rows import chunks, index_lock, update

#: Links of one transaction: ≤ 100 ms on SQLite.
LINKS_AT_ONCE: Final = 2_000
#: With more links than this to resolve, all names of the vault are loaded at once.
FEW: Final = 1_000

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class StaleNames:
    """Keys under which a file, title or alias came, went or changed."""

    names: set[str] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.names or self.texts)

    def links(self) -> Iterable[Any]:
        """QuerySets of the links that may have another answer now; together they may name a link twice."""
        for chunk in chunks(sorted(self.names)):
            yield Link.objects.filter(name_key__in=chunk).order_by()
        for chunk in chunks(sorted(self.texts)):
            # two questions, since the index of text_key leaves out links whose keys are the same
            yield Link.objects.filter(name_key__in=chunk, text_key=F("name_key")).order_by()
            yield Link.objects.filter(text_key__in=chunk).exclude(text_key=F("name_key")).order_by()


class WaitingLink(NamedTuple):
    """A link to be resolved, with the answer it has now."""

    pk: int
    source_id: int
    path: str
    kind: str
    text: str
    name_key: str
    text_key: str
    state: str
    target_path: str | None
    target_id: int | None


@dataclass(slots=True)
class Answered:
    """What answering links did: ``turned`` are pages whose links lead to another page now, ``noted`` those for the
    feed of changes: pages with a link that was looked at. ``linked`` are pages that gained or lost a link in."""

    turned: set[int] = field(default_factory=set)
    noted: set[int] = field(default_factory=set)
    linked: set[int] = field(default_factory=set)


_FIELDS: Final = ("pk", "source_id", "source__path", *WaitingLink._fields[3:])


@dataclass(slots=True)
class Places:
    """What links can lead to, and the numbers of the pages among them."""

    targets: Targets = field(default_factory=Targets)
    pks: dict[str, int] = field(default_factory=dict)

    def add_pages(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Take in pages as (pk, path, title), each once."""
        for pk, path, title in rows:
            if path not in self.pks:
                self.pks[path] = pk
                self.targets.add_file(path, page=True)
                if title:
                    self.targets.add_title(title, path)

    def add_rest(self, files: Iterable[str], aliases: Iterable[tuple[str, str]]) -> None:
        """Take in other files, and aliases as (alias, path)."""
        for path in files:
            self.targets.add_file(path, page=False)
        for alias, path in aliases:
            self.targets.add_alias(alias, path)


def whole_places() -> Places:
    """All names of the vault."""
    places = Places()
    places.add_pages(Page.objects.live().order_by().values_list("pk", "path", "title").iterator())
    places.add_rest(
        File.objects.filter(deleted_at__isnull=True).order_by().values_list("path", flat=True).iterator(),
        Alias.objects.values_list("name", "page__path").iterator(),
    )
    return places


def places_for(links: Iterable[WaitingLink]) -> Places:
    """The names that these links can lead to."""
    links = list(links)
    places, aliases, files = Places(), set(), set()
    texts = {link.text_key for link in links}
    pages: dict[int, tuple[int, str, str]] = {}
    for pk, path, title, alias in titled(texts):
        pages[pk] = (pk, path, title)
        if alias is not None:
            aliases.add((alias, path))
    for number, path in named({link.name_key for link in links}):
        if number is None:
            files.add(path)
        else:
            # Its title, when that matters here, was found above.
            pages.setdefault(number, (number, path, ""))
    places.add_pages(pages.values())
    places.add_rest(sorted(files), sorted(aliases))
    return places


def answer(links: Iterable[WaitingLink], places: Places) -> Answered:
    """Resolve links and write the answers that are new."""
    rows: list[tuple[Any, ...]] = []
    answered = Answered()
    for link in links:
        answered.noted.add(link.source_id)
        found = resolve(
            link.text, source=link.path, targets=places.targets, markdown=link.kind == LinkKind.MARKDOWN.value
        )
        # A page that no other link here names is not among the places, but it is there: [[#Heading]] leads to it.
        target = link.source_id if found.path == link.path else places.pks.get(found.path or "")
        if (found.state, found.path, target) != (link.state, link.target_path, link.target_id):
            rows.append((found.state, found.path, target, link.pk))
        if target != link.target_id:
            answered.turned.add(link.source_id)
            answered.linked.update(pk for pk in (target, link.target_id) if pk is not None)
    update(Link, ("state", "target_path", "target"), rows)
    return answered


def mark_stale(stale: StaleNames) -> None:
    """Have the links of changed names resolved again; they keep their old answer until then."""
    for links in stale.links():
        links.exclude(state=LinkState.PENDING).update(state=LinkState.PENDING)


def resolve_stale(source: int, stale: StaleNames) -> Answered:
    """Resolve the new links of one page, and those of changed names, in the caller's transaction."""
    found: dict[int, WaitingLink] = {}
    own = Link.objects.filter(Q(source=source), state=LinkState.PENDING).order_by()
    for links in [own, *stale.links()]:
        found.update((row[0], WaitingLink(*row)) for row in links.values_list(*_FIELDS))
    return answer(found.values(), whole_places() if len(found) > FEW else places_for(found.values()))


def resolve_waiting(progress: Progress | None = None, *, everything: bool = False) -> int:
    """Resolve all links that wait and mark the pages whose edges that changes; returns how many links those were.

    Runs its own transactions. What it leaves after a crash is found by the next call. With ``everything`` the feed of
    changes is told so, and no single page.
    """
    total = Link.objects.filter(state=LinkState.PENDING).count()
    places, version, done, last = None, -1, 0, 0
    while True:
        with transaction.atomic():
            index_lock()
            links = _next_waiting(last)
            if not links:
                return done
            if total > FEW and (places is None or version != data_version()):
                places, version = whole_places(), data_version()
            answered = answer(links, places or places_for(links))
            _mark_dirty(answered.turned)
            changes.note(pages=answered.noted, linked=answered.linked, everything=everything)
        done, last = done + len(links), links[-1].pk
        if progress:
            progress("links", min(done, total), total)


def _next_waiting(last: int) -> Sequence[WaitingLink]:
    waiting = Link.objects.filter(state=LinkState.PENDING, pk__gt=last).order_by("pk")
    return [WaitingLink(*row) for row in waiting.values_list(*_FIELDS)[:LINKS_AT_ONCE]]


def _mark_dirty(pages: Iterable[int]) -> None:
    for chunk in chunks(pages):
        Page.objects.filter(pk__in=chunk, graph_dirty=False).update(graph_dirty=True)
