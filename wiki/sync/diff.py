"""Which files differ from the index, told by what a walk sees: no file is opened here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from vault.paths import Kind, classify
from vault.root import Skipped, WalkEntry
from wiki.sync.known import Known, KnownFile, KnownPage

#: Clocks of file systems move in steps (a few milliseconds on Linux): a second save within one step keeps the mtime.
GRAIN_NS: Final = 20_000_000
#: Times without a fraction come from file systems that count in one or two seconds, or from a tool that set them.
COARSE_GRAIN_NS: Final = 2_000_000_000
#: inode numbers are 64 bits without a sign; the databases' integers have one.
INODE_MASK: Final = (1 << 63) - 1
#: What is skipped for one of these reasons is still there, so its rows stay.
STILL_THERE: Final = frozenset({"unreadable", "not_downloaded"})


class Seen(NamedTuple):
    """A file that the walk found."""

    path: str
    kind: Kind
    size: int
    mtime_ns: int
    inode: int


@dataclass(slots=True)
class Found:
    """What is on disk: pages and other files by path, and what was not taken."""

    pages: dict[str, Seen] = field(default_factory=dict)
    files: dict[str, Seen] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)

    def add(self, entry: WalkEntry | Skipped) -> None:
        """Take in one entry of a walk."""
        if isinstance(entry, Skipped):
            self.skipped.append(entry)
            return
        kind = classify(entry.path)
        if kind is not None:
            seen = Seen(entry.path, kind, entry.size, entry.mtime_ns, entry.inode & INODE_MASK)
            (self.pages if kind == "page" else self.files)[entry.path] = seen

    def hides(self, path: str) -> bool:
        """Whether the file may be there although it was not found: it, or a folder above it, could not be read."""
        return any(
            path == skipped.path or path.startswith(skipped.path + "/")
            for skipped in self.skipped
            if skipped.code in STILL_THERE
        )


@dataclass(slots=True)
class Diff:
    """Differences between disk and index, by path.

    ``changed`` holds pages whose stat differs or can't be trusted; whether their bytes differ is seen on reading.
    """

    new: list[Seen] = field(default_factory=list)
    changed: list[tuple[KnownPage, Seen]] = field(default_factory=list)
    vanished: list[KnownPage] = field(default_factory=list)
    new_files: list[Seen] = field(default_factory=list)
    changed_files: list[tuple[KnownFile, Seen]] = field(default_factory=list)
    vanished_files: list[KnownFile] = field(default_factory=list)


def compare(known: Known, found: Found, *, full: bool = False) -> Diff:
    """What differs; with ``full`` every file that has a hash counts as possibly changed."""
    diff = Diff()
    for path, seen in found.pages.items():
        page = known.pages.get(path)
        if page is None:
            diff.new.append(seen)
        elif full or is_doubtful(page, seen):
            diff.changed.append((page, seen))
    for path, seen in found.files.items():
        file = known.files.get(path)
        if file is None:
            diff.new_files.append(seen)
        elif file.kind != seen.kind or (seen.kind == "source" and full) or is_doubtful(file, seen):
            diff.changed_files.append((file, seen))
    diff.vanished = [page for path, page in known.pages.items() if path not in found.pages and not found.hides(path)]
    diff.vanished_files = [
        file for path, file in known.files.items() if path not in found.files and not found.hides(path)
    ]
    return diff


def is_doubtful(known: KnownPage | KnownFile, seen: Seen) -> bool:
    """Whether the stat differs, or is so fresh that a later save could have left it the same (git's racy rule)."""
    if (known.size, known.mtime_ns, known.inode) != (seen.size, seen.mtime_ns, seen.inode):
        return True
    if isinstance(known, KnownFile) and known.kind != "source":
        return False  # only sources are hashed
    if not known.read_ns:
        return True  # its bytes could not be had
    grain = GRAIN_NS if seen.mtime_ns % 1_000_000_000 else COARSE_GRAIN_NS
    return seen.mtime_ns > known.read_ns - grain


def merge(entries: Iterable[WalkEntry | Skipped]) -> Found:
    """The entries of a walk, sorted out."""
    found = Found()
    for entry in entries:
        found.add(entry)
    return found
