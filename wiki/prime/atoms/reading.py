"""Reading: the atoms of the vault, found by any of their names, with the texts of their levels and their relations."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from wiki.models import AtomRow, LinkState
from wiki.prime.atoms.index import Atom, AtomIndex
from wiki.prime.atoms.levels import Level, full_of
from wiki.prime.atoms.loading import atoms, forget_atoms
from wiki.prime.atoms.relations import DERIVED, RELATED, VERBS
from wiki.rows import chunks, select
from wiki.search import texts

__all__ = ["Atom", "AtomIndex", "Relation", "atoms", "forget_atoms", "level_texts", "relations"]

_LINKS: Final = (
    'SELECT source_id, "order", text, property, state, target_path, target_id FROM {link} '
    'WHERE source_id IN {items} ORDER BY source_id, "order"'
)
_WRITTEN: Final = (
    'SELECT page_id, verb, text, link_order FROM {relation} WHERE page_id IN {items} ORDER BY page_id, "order"'
)
_SOURCES: Final = "sources"
#: How often a text that is being written is read anew.
_READ_AGAIN: Final = 3
_ORDER: Final = {verb: number for number, verb in enumerate(VERBS)}
_Link = tuple[int, str, str, str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to another page: ``target`` is its row, None where ``text`` leads to no page, or to several."""

    verb: str
    target: int | None
    text: str


def level_texts(pks: Iterable[int], level: Level) -> dict[int, str]:
    """The exact words of a level, by the page's row; pages without an atom are left out."""
    if level is not Level.FULL:
        found: dict[int, str] = {}
        for chunk in chunks(pks):
            found.update(AtomRow.objects.filter(page__in=chunk).values_list("page_id", level.value))
        return found
    return dict(_full_texts(list(pks), _READ_AGAIN))


def _full_texts(pks: list[int], again: int) -> Iterator[tuple[int, str]]:
    """Full texts from their parts. A page written between the look at its atom and at its body is read again."""
    atoms_of, bodies = _parts(pks), dict(texts(pks))
    now = _newest(pks) if again else {}
    changed = [pk for pk, newest in now.items() if pk in atoms_of and atoms_of[pk][0] != newest]
    for pk, (_, core, rest, tail) in atoms_of.items():
        if pk not in changed:
            yield pk, full_of(core, bodies.get(pk, ""), rest, tail)
    if changed:
        yield from _full_texts(changed, again - 1)


def _parts(pks: list[int]) -> dict[int, tuple[int, str, int, str]]:
    found: dict[int, tuple[int, str, int, str]] = {}
    for chunk in chunks(pks):
        rows = AtomRow.objects.filter(page__in=chunk).values_list("page_id", "id", "core", "rest", "tail")
        found.update((pk, (number, core, rest, tail)) for pk, number, core, rest, tail in rows)
    return found


def _newest(pks: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for chunk in chunks(pks):
        found.update(AtomRow.objects.filter(page__in=chunk).values_list("page_id", "id"))
    return found


def relations(pks: Collection[int]) -> dict[int, list[Relation]]:
    """What pages have to do with others, each once: verbs in their order, then plain links as ``related``.

    A page's source that is a page is ``derived-from``. Links to the page itself, to files and to reserved pages are
    left out; those that lead nowhere have no target. A page that is tied by a verb is not ``related`` as well.
    """
    index = atoms()
    links: dict[int, list[_Link]] = defaultdict(list)
    for pk, *link in select(_LINKS, pks):
        links[pk].append((link[0], link[1], link[2], link[3], link[4], link[5]))
    written: dict[int, list[tuple[str, str, int | None]]] = defaultdict(list)
    for pk, verb, text, order in select(_WRITTEN, pks):
        written[pk].append((verb, text, order))
    return {pk: list(_of_page(index, pk, links[pk], written[pk])) for pk in pks if pk in index.by_pk}


def _of_page(
    index: AtomIndex, pk: int, links: list[_Link], written: list[tuple[str, str, int | None]]
) -> Iterator[Relation]:
    by_order = {link[0]: link for link in links}
    used = {order for _, _, order in written}
    found = []
    for verb, text, order in written:
        link = by_order.get(order) if order is not None else None
        found += _by_link(index, verb, link) if link else [Relation(verb, _meant(index, text), text)]
    for link in links:
        if link[0] not in used and link[2].partition(".")[0].lower() == _SOURCES:
            used.add(link[0])
            # A source that is no page is a file or an address, and no relation at all.
            found += [relation for relation in _by_link(index, DERIVED, link) if relation.target]
    for source in index.by_pk[pk].sources:
        target = _page_of(index, source)
        if target:
            found.append(Relation(DERIVED, target, source))
    found.sort(key=lambda relation: _ORDER[relation.verb])
    for link in links:
        if link[0] not in used:
            found += _by_link(index, RELATED, link)
    yield from _each_once(pk, found)


def _each_once(pk: int, found: list[Relation]) -> Iterator[Relation]:
    seen: set[tuple[str, int | str]] = set()
    tied: set[int | str] = set()
    for relation in found:
        other = relation.text if relation.target is None else relation.target
        if other == pk or (relation.verb, other) in seen or (relation.verb == RELATED and other in tied):
            continue
        seen.add((relation.verb, other))
        tied.add(other)
        yield relation


def _by_link(index: AtomIndex, verb: str, link: _Link) -> list[Relation]:
    _, text, _, state, path, target = link
    if state == LinkState.SELF:
        return []
    if target is not None:
        return [Relation(verb, target, text)] if target in index.by_pk else []
    return [] if path and verb == RELATED else [Relation(verb, None, text)]


def _meant(index: AtomIndex, text: str) -> int | None:
    named = index.named(text)
    return named[0].pk if len(named) == 1 else None


def _page_of(index: AtomIndex, source: str) -> int | None:
    """The page that a source names by its path or its exact title."""
    named = index.named(source)
    exact = unicodedata.normalize("NFC", source)
    if len(named) != 1:
        return None
    atom = named[0]
    return atom.pk if exact in (atom.title, atom.id, *_paths(atom.path)) else None


def _paths(path: str) -> tuple[str, str]:
    path = unicodedata.normalize("NFC", path)
    return path, path[:-3] if path[-3:].lower() == ".md" else path
