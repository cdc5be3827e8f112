"""Writing the files that are not pages to the index: link targets, and sources with their hash."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.utils import timezone

from vault.errors import SynapseError
from vault.links import name_key, path_key
from vault.root import Vault
from wiki.models import File
from wiki.rows import chunks, insert, reserve_ids, update
from wiki.storable import key
from wiki.sync.diff import INODE_MASK, Seen
from wiki.sync.known import KnownFile
from wiki.sync.links import StaleNames

_FIELDS: Final = ("path", "path_key", "name_key", "kind", "content_hash", "size", "mtime_ns", "inode", "read_ns")
_HASH: Final = _FIELDS.index("content_hash")


class FileLook(NamedTuple):
    """A file as looked at; ``content_hash`` is empty for what is not a source, or can't be read (then read_ns is 0)."""

    path: str
    kind: str
    content_hash: str
    size: int
    mtime_ns: int
    inode: int
    read_ns: int

    def values(self) -> tuple[Any, ...]:
        """The values of a row."""
        return (self.path, key(path_key(self.path)), key(name_key(self.path)), *self[1:])


@dataclass(frozen=True, slots=True)
class AppliedFiles:
    """What writing some files did: ``stale`` are the names that came or went, ``noted`` what the feed is told."""

    stale: StaleNames
    noted: set[int]


def look(vault: Vault, seen: Seen) -> FileLook | None:
    """Hash a source; other files are taken as the walk saw them. None if it vanished or would not stay still."""
    started = time.time_ns()
    if seen.kind != "source":
        return FileLook(seen.path, seen.kind, "", seen.size, seen.mtime_ns, seen.inode, started)
    try:
        digest = vault.digest(seen.path)
    except SynapseError:
        return FileLook(seen.path, seen.kind, "", seen.size, seen.mtime_ns, seen.inode, 0)
    if not digest.stable:
        return None
    stat = digest.stat
    return FileLook(
        seen.path, seen.kind, digest.content_hash, stat.size, stat.mtime_ns, stat.inode & INODE_MASK, started
    )


def write_files(looks: Sequence[FileLook]) -> AppliedFiles:
    """Write files that are new, have changed or have come back."""
    rows: dict[str, tuple[int, bool]] = {}
    for chunk in chunks(found.path for found in looks):
        for pk, path, deleted_at in (
            File.objects.filter(path__in=chunk).order_by().values_list("pk", "path", "deleted_at")
        ):
            rows[path] = (pk, deleted_at is None)
    known = [found for found in looks if found.path in rows]
    new = [found for found in looks if found.path not in rows]
    pks = reserve_ids(File, len(new))
    update(File, (*_FIELDS, "deleted_at"), [(*found.values(), None, rows[found.path][0]) for found in known])
    insert(
        File,
        ("id", *_FIELDS, "deleted_at"),
        [(pk, *found.values(), None) for pk, found in zip(pks, new, strict=True)],
    )
    came = [found.path for found in (*new, *known) if found.path not in rows or not rows[found.path][1]]
    return AppliedFiles(_names(came), {*pks, *(rows[found.path][0] for found in known)})


def touch_files(looks: Sequence[FileLook]) -> None:
    """Note a new stat of files that are as they were."""
    write_files(looks)


def remove_files(files: Iterable[KnownFile]) -> AppliedFiles:
    """Take files out of the index that are gone."""
    gone = list(files)
    for chunk in chunks(file.pk for file in gone):
        File.objects.filter(pk__in=chunk).update(deleted_at=timezone.now())
    return AppliedFiles(_names(file.path for file in gone), {file.pk for file in gone})


def _names(paths: Iterable[str]) -> StaleNames:
    return StaleNames(names={key(name_key(path)) for path in paths})
