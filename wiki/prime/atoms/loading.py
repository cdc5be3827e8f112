"""The atoms of the vault from the database: read once in a process, then only those that have changed."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connection

from wiki.models import Page
from wiki.prime.atoms.index import Atom, AtomIndex
from wiki.rows import all_rows, from_json, select

_ATOMS: Final = (
    "SELECT a.id, a.page_id, a.slug, p.uid, a.kind, p.title, p.path, p.lang, a.description, p.sources, "
    "a.tokens_summary, a.tokens_core, a.tokens_full, a.quality, a.failed, a.lifecycle, a.version, a.created, "
    "a.updated, p.content_hash, a.contract FROM {atom} a JOIN {page} p ON p.id = a.page_id "
    "WHERE p.deleted_at IS NULL AND NOT p.reserved"
)
_TAGS: Final = "SELECT page_id, name, key FROM {tag}"
_ALIASES: Final = "SELECT page_id, name FROM {alias}"
_SLUG, _KIND, _PATH = 2, 4, 6  # places in a row of _ATOMS
#: More changed atoms than this, and all are read anew: many small reads cost as much.
_REREAD: Final = 2_000


class _State(NamedTuple):
    """Which index it is, and how far it is."""

    database: str
    vault: str
    scope: str
    version: int
    newest: int
    rows: int


class _Row(NamedTuple):
    """What the database has of an atom."""

    values: tuple[Any, ...]
    tags: list[tuple[str, str]]
    aliases: Iterable[str]


@dataclass(slots=True)
class _Kept:
    """What this process knows."""

    state: _State
    settled: bool
    rows: dict[int, _Row] = field(default_factory=dict)
    atoms: dict[int, Atom] = field(default_factory=dict)
    index: AtomIndex = field(default_factory=lambda: AtomIndex(()))


_lock: Final = threading.Lock()
_kept: _Kept | None = None


def atoms() -> AtomIndex:
    """The atoms as they are now; kept in this process until the index changes."""
    global _kept  # noqa: PLW0603 - one a process, under its lock
    with _lock:
        state = _state()
        kept = _kept
        if kept and kept.settled and kept.state == state:
            return kept.index
        if kept is None or kept.state[:3] != state[:3] or kept.state.newest > state.newest:
            kept = _Kept(state, settled=False)
        _refresh(kept, state)
        _kept = kept
        return kept.index


def forget_atoms() -> None:
    """Begin anew: for tests, and for whoever has changed rows behind this module's back."""
    global _kept  # noqa: PLW0603
    with _lock:
        _kept = None


def _state() -> _State:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT vault_id FROM wiki_vaultstate WHERE id = 1), "
            "(SELECT data_version FROM wiki_vaultstate WHERE id = 1), "
            "(SELECT max(id) FROM wiki_atomrow), (SELECT count(*) FROM wiki_atomrow)"
        )
        vault, version, newest, count = cursor.fetchone()
    database = str(connection.settings_dict["NAME"])
    return _State(database, str(vault), settings.SYNAPSE_PRIME_SCOPE, version or 0, newest or 0, count)


def _refresh(kept: _Kept, state: _State) -> None:
    """Read what changed since the last time."""
    # Edges that wait to be weighed are told by no version of the index.
    kept.settled = not Page.objects.filter(graph_dirty=True).exists()
    last = kept.state.newest if kept.rows else 0
    found = _changed(last)
    if last and len(found) > _REREAD:
        kept.rows, found = {}, _changed(0)
    changed = [row[1] for row in found] if kept.rows else None
    tags, aliases = _tags(changed), _aliases(changed)
    for row in found:
        pk = row[1]
        kept.atoms.pop(pk, None)
        kept.rows[pk] = _Row(row, tags.get(pk, []), aliases.get(pk, ()))
    if len(kept.rows) != state.rows:
        _drop_gone(kept)
    before, degrees = kept.atoms, _degrees()
    kept.atoms = {}
    for pk, name in _ids(kept, state.scope).items():
        degree, atom = degrees.get(pk, 0), before.get(pk)
        same = atom is not None and atom.id == name and atom.degree == degree
        kept.atoms[pk] = atom if atom and same else _atom(kept.rows[pk], name, degree)
    kept.index = AtomIndex(kept.atoms.values(), state.version)
    newest = max((row[0] for row in found), default=0)
    kept.state = state._replace(newest=max(newest, state.newest))


def _changed(last: int) -> list[tuple[Any, ...]]:
    if not last:
        return list(all_rows(_ATOMS))
    return list(select(_ATOMS + " AND a.id > {items}", [last]))


def _drop_gone(kept: _Kept) -> None:
    there = {pk for (pk,) in all_rows("SELECT page_id FROM {atom}")}
    for pk in kept.rows.keys() - there:
        del kept.rows[pk]


def _atom(row: _Row, name: str, degree: int) -> Atom:
    (_, pk, _, uid, kind, title, path, lang, description, sources, *rest) = row.values
    summary, core, full, quality, failed, lifecycle, version, created, updated, content_hash, contract = rest
    return Atom(
        id=name,
        pk=pk,
        uid=str(uid) if isinstance(uid, UUID) else f"{uid[:8]}-{uid[8:12]}-{uid[12:16]}-{uid[16:20]}-{uid[20:]}",
        kind=kind,
        title=title,
        path=path,
        lang=lang,
        description=description,
        tags=tuple(tag for tag, _ in row.tags),
        tag_keys=frozenset(key for _, key in row.tags),
        aliases=tuple(row.aliases),
        sources=() if sources == "[]" else tuple(from_json(sources)),
        tokens=(summary, core, full),
        quality=quality,
        failed=_failed(failed),
        degree=degree,
        lifecycle=lifecycle,
        version=version,
        created=created,
        updated=updated,
        content_hash=content_hash,
        contract={} if contract == "{}" else from_json(contract),
    )


def _failed(value: Any) -> tuple[str, ...]:
    """Few combinations, and many pages with each."""
    if not isinstance(value, str):
        return tuple(value)
    if value not in _FAILED:
        _FAILED[value] = tuple(json.loads(value))
    return _FAILED[value]


_FAILED: Final[dict[str, tuple[str, ...]]] = {}


def _tags(pks: list[int] | None) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for pk, name, key in _of_pages(_TAGS, pks):
        found[pk].append((name, key))
    return found


def _aliases(pks: list[int] | None) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for pk, name in _of_pages(_ALIASES, pks):
        found[pk].append(name)
    return found


def _of_pages(statement: str, pks: list[int] | None) -> Iterator[tuple[Any, ...]]:
    if pks is None:
        return all_rows(f"{statement} ORDER BY id")
    return select(statement + " WHERE page_id IN {items} ORDER BY id", pks)


def _degrees() -> dict[int, int]:
    """How many edges each page has."""
    found: dict[int, int] = {}
    for side in ("a_id", "b_id"):
        for pk, count in all_rows(f"SELECT {side}, count(*) FROM {{edge}} GROUP BY {side}"):  # noqa: S608
            found[pk] = found.get(pk, 0) + count
    return found


def _ids(kept: _Kept, scope: str) -> dict[int, str]:
    """The id of each page. Namesakes get -2, -3 and so on in the order of their paths; the first has none.

    A number that would make another page's own id is passed over. So ids depend on the live pages alone, not on the
    order in which they came.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for pk, row in kept.rows.items():
        groups[f"@{scope}/{row.values[_KIND]}-{row.values[_SLUG]}"].append(pk)
    ids = {pks[0]: name for name, pks in groups.items() if len(pks) == 1}
    taken = set(groups)
    for name in sorted(name for name, pks in groups.items() if len(pks) > 1):
        first, *others = sorted(groups[name], key=lambda pk: kept.rows[pk].values[_PATH])
        ids[first] = name
        number = 2
        for pk in others:
            while f"{name}-{number}" in taken:
                number += 1
            ids[pk] = f"{name}-{number}"
            taken.add(ids[pk])
    return ids
