"""Which page went where: moves, renames in place and swapped names, told from deletions and new files.

An inode alone proves nothing, since a file system gives the number of a deleted file to the next new one. It
counts together with the same content or the same time of birth. Content alone counts when exactly one page
vanished and exactly one file appeared with it, and it is not empty.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from wiki.sync.diff import Seen
from wiki.sync.known import KnownPage

T = TypeVar("T")
Move = tuple[KnownPage, Seen]


def find_moves(
    *,
    vanished: Iterable[KnownPage],
    new: Iterable[Seen],
    changed: Iterable[tuple[KnownPage, Seen]],
    content_hash: Callable[[str], str | None],
    birth_ns: Callable[[str], int | None],
) -> list[Move]:
    """Pairs of a known page and the file that it is now.

    ``changed`` are pages whose path holds a file still, by their row and that file: where the inode differs, names
    may have been swapped. ``content_hash`` and ``birth_ns`` look at a path on disk (None: can't be told); they are
    asked only for files that could have been moved.
    """
    gone = {page.path: page for page in vanished}
    arrived = {seen.path: seen for seen in new}
    replaced = {page.path: (page, seen) for page, seen in changed if page.inode != seen.inode}
    moves = _by_inode(gone, arrived, replaced, content_hash, birth_ns)
    for page, seen in moves.values():
        gone.pop(page.path, None)
        arrived.pop(seen.path, None)
    return [*moves.values(), *_by_content(gone.values(), arrived.values(), content_hash)]


def _by_inode(
    gone: dict[str, KnownPage],
    arrived: dict[str, Seen],
    replaced: dict[str, tuple[KnownPage, Seen]],
    content_hash: Callable[[str], str | None],
    birth_ns: Callable[[str], int | None],
) -> dict[str, Move]:
    """Moves by the path they led to."""
    owners = [*gone.values(), *(page for page, _ in replaced.values())]
    places = [*arrived.values(), *(seen for _, seen in replaced.values())]
    owner = _only_one(owners, lambda page: page.inode)
    place = _only_one(places, lambda seen: seen.inode)
    moves: dict[str, Move] = {}
    for inode in owner.keys() & place.keys():
        page, seen = owner[inode], place[inode]
        if page.path != seen.path and _is_same_file(page, seen, content_hash, birth_ns):
            moves[seen.path] = (page, seen)
    return _without_overwritten(moves, replaced)


def _without_overwritten(moves: dict[str, Move], replaced: dict[str, tuple[KnownPage, Seen]]) -> dict[str, Move]:
    """Leave out moves onto a page that is found nowhere else: it was saved through another file, and stays itself."""
    while True:
        moved_away = {page.path for page, _ in moves.values()}
        kept = {path: move for path, move in moves.items() if path not in replaced or path in moved_away}
        if len(kept) == len(moves):
            return kept
        moves = kept


def _is_same_file(
    page: KnownPage,
    seen: Seen,
    content_hash: Callable[[str], str | None],
    birth_ns: Callable[[str], int | None],
) -> bool:
    if page.birth_ns is not None and page.birth_ns == birth_ns(seen.path):
        return True
    return 0 < page.size == seen.size and page.content_hash == content_hash(seen.path)


def _by_content(
    gone: Iterable[KnownPage], arrived: Iterable[Seen], content_hash: Callable[[str], str | None]
) -> list[Move]:
    vanished = [page for page in gone if page.size and page.content_hash]
    sizes = {page.size for page in vanished}
    places: dict[str, list[Seen]] = defaultdict(list)
    for seen in arrived:
        if seen.size in sizes and (found := content_hash(seen.path)):
            places[found].append(seen)
    owners = Counter(page.content_hash for page in vanished)
    return [
        (page, places[page.content_hash][0])
        for page in vanished
        if owners[page.content_hash] == 1 and len(places.get(page.content_hash, ())) == 1
    ]


def _only_one(items: Iterable[T], key: Callable[[T], int]) -> dict[int, T]:
    """Items by key, without those whose key is not theirs alone (hard links) or says nothing (0)."""
    counted: dict[int, list[T]] = defaultdict(list)
    for item in items:
        counted[key(item)].append(item)
    return {inode: found[0] for inode, found in counted.items() if len(found) == 1 and inode}
