"""What of the history is old enough to go, whatever the clock says meanwhile.

Age is counted in time that Synapse has lived through, and not in what the clock says. ``.synapse/history/clock.json``
adds that up: in one process what a clock counts that nobody can set, from one process to the next what the machine's
clock says, a day at most, and nothing if it was set back; where processes take turns, no hour is counted twice.
``seen.jsonl`` beside it says how much had been lived when each kept file was first seen by a pass. So no clock that is
set wrong, before or behind, makes anything old; what was not seen yet is new; and while Synapse does not run, nothing
ages by more than a day.

Bytes go, lines never do. Each file goes by one step, so a pass that dies leaves a history that can be read.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from vault.disk.state import state_folder, storage_guard
from vault.errors import SynapseError
from vault.writing import exchange
from vault.writing.orphans import ORPHANS, RECORDS
from vault.writing.pending import PENDING
from vault.writing.versions import HISTORY, LINES, encode_line, newest_first

if TYPE_CHECKING:
    from vault.root import Vault

#: What is younger is never removed, however large the history is.
LEAST_DAYS: Final = 30
CLOCK: Final = "clock.json"
SEEN: Final = "seen.jsonl"
_A_DAY: Final = 86_400.0
_NOT_PRUNED: Final = "The history could not be pruned; it can be read as before."
_NEVER: Final = (LINES, RECORDS)
_OF_DRAFTS: Final = "drafts/"
_TORN: Final = (ValueError, TypeError, KeyError, RecursionError)


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the history: ``old`` in days that were lived through; ``newest`` of its page, which always stays."""

    folder: str
    name: str
    size: int
    old: float
    newest: bool

    @property
    def key(self) -> str:
        """What ``seen.jsonl`` calls it."""
        return f"{self.folder}/{self.name}"


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pass did, or with ``dry_run`` would do: files and bytes that go, and those that stay.

    ``over`` is by how many bytes the rest is above the limit, 0 without one.
    """

    removed: int
    removed_bytes: int
    kept: int
    kept_bytes: int
    over: int
    dry_run: bool

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable."""
        return asdict(self)


def prune(
    vault: Vault,
    days: int,
    *,
    max_bytes: int = 0,
    dry_run: bool = False,
) -> Pruned:
    """Remove kept bytes older than ``days``, and of more than ``max_bytes`` (0: no limit) the oldest that are 30 days.

    Never the newest of a page. Orphans go by the same rules, and have no newest. While another process prunes nothing
    is done. Raises SynapseError(STORAGE_ERROR).
    """
    with storage_guard(_NOT_PRUNED), vault.try_lock("prune") as ours:
        if not ours or not _has_history(vault):
            return Pruned(0, 0, 0, 0, 0, dry_run)
        files = _files(vault, _advance(vault, dry_run=dry_run), dry_run=dry_run)
        going = _going(files, max(days, LEAST_DAYS), max_bytes)
        if not dry_run:
            for file in going:
                _remove(vault, file)
            gone_now = set(going)
            _forget_others(vault, {file.key for file in files if file not in gone_now}, drafts=False)
        gone = sum(file.size for file in going)
        left = sum(file.size for file in files) - gone
        over = max(0, left - max_bytes) if max_bytes else 0
        return Pruned(len(going), gone, len(files) - len(going), left, over, dry_run)


def expire_drafts(vault: Vault, days: int, *, dry_run: bool = False) -> list[str]:
    """Remove drafts older than ``days`` (at least 30) by the same clock; their ids.

    Raises SynapseError(STORAGE_ERROR).
    """
    from vault.drafts import DRAFTS, drop_draft, list_drafts

    drafts = {f"{DRAFTS}/{draft.id}": draft.id for draft in list_drafts(vault)}
    with storage_guard(_NOT_PRUNED), vault.try_lock("prune") as ours:
        if not ours:
            return []
        if not drafts:
            if not dry_run:
                _forget_others(vault, set(), drafts=True)
            return []
        lived = _advance(vault, dry_run=dry_run)
        seen = _read_seen(vault)
        new = [key for key in drafts if key not in seen]
        if new and not dry_run:
            _note(vault, new, lived)
        least = max(days, LEAST_DAYS) * _A_DAY
        expired = [key for key in drafts if lived - seen.get(key, lived) >= least]
        if not dry_run:
            for key in expired:
                with suppress(SynapseError):  # applied or dropped meanwhile
                    drop_draft(vault, drafts[key])
            _forget_others(vault, drafts.keys() - set(expired), drafts=True)
        return [drafts[key] for key in expired]


def _going(files: list[Kept], days: int, max_bytes: int) -> list[Kept]:
    going = [file for file in files if not file.newest and file.old >= days]
    left = sum(file.size for file in files) - sum(file.size for file in going)
    if not max_bytes or left <= max_bytes:
        return going
    chosen = set(going)
    rest = [file for file in files if file not in chosen and not file.newest and file.old >= LEAST_DAYS]
    for file in sorted(rest, key=lambda kept: (-kept.old, kept.folder, kept.name)):
        if left <= max_bytes:
            break
        going.append(file)
        left -= file.size
    return going


def _files(vault: Vault, lived: float, *, dry_run: bool) -> list[Kept]:
    """All kept bytes with their ages; those that no pass has seen are noted as seen now."""
    seen = _read_seen(vault)
    found, new = [], []
    for folder, name, status, newest in _kept(vault):
        key = f"{folder}/{name}"
        if key not in seen:
            new.append(key)
        found.append(Kept(folder, name, status.st_size, (lived - seen.get(key, lived)) / _A_DAY, newest))
    if new and not dry_run:
        _note(vault, new, lived)
    return found


def _kept(vault: Vault) -> Iterator[tuple[str, str, os.stat_result, bool]]:
    with state_folder(vault, HISTORY) as history, os.scandir(history) as entries:
        folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for folder in sorted(folders):
        if folder == PENDING:
            continue
        with state_folder(vault, HISTORY, folder) as opened:
            listed = dict.fromkeys(version.file for version in newest_first(opened) if version.file)
            with os.scandir(opened) as entries:
                files = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        there = {name for name, status in files if stat.S_ISREG(status.st_mode)}
        # The newest that is still there: one that a person has taken away by hand is no reason to lose the next.
        newest = next((name for name in listed if name in there), None)
        unlisted = max((name for name in there if name not in listed and name not in _NEVER), default=None)
        for name, status in sorted(files):
            if name in there and name not in _NEVER:
                last = name == newest or (newest is None and folder != ORPHANS and name == unlisted)
                yield folder, name, status, last


def _remove(vault: Vault, file: Kept) -> None:
    with state_folder(vault, HISTORY, file.folder) as folder, suppress(FileNotFoundError):
        exchange.unlink(folder, file.name)


def _has_history(vault: Vault) -> bool:
    try:
        with state_folder(vault, HISTORY):
            return True
    except FileNotFoundError:
        return False


# --- the clock ---


def _wall() -> float:
    return time.time()


def _steady() -> float:
    """Seconds by a clock that nobody can set; where the system has one, it goes on while the machine sleeps."""
    kind = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if kind is None else time.clock_gettime(kind)


class _Pace:
    """When this process last looked, by the steady clock, and what it left in the vault's clock."""

    def __init__(self) -> None:
        self.looked: dict[str, tuple[float, int]] = {}


_pace: Final = _Pace()


def _advance(vault: Vault, *, dry_run: bool) -> float:
    """The seconds that were lived through until now; kept for the next pass."""
    moment, wall, key = _steady(), _wall(), str(vault.state)
    lived, last = _read_clock(vault)
    before, left = _pace.looked.get(key, (None, None))
    since = _A_DAY if before is None else max(0.0, moment - before)
    if before is not None and lived == left:
        lived += since
    elif last is not None:  # another process has looked since: what it has counted is counted
        lived += min(max(0.0, wall - last), since)
    if not dry_run:
        _pace.looked[key] = (moment, round(lived))
        _replace(vault, CLOCK, encode_line({"lived": round(lived), "wall": round(wall)}))
    return lived


def _read_clock(vault: Vault) -> tuple[float, float | None]:
    """What was lived, and the machine's clock, at the last pass; of a damaged one what was seen last."""
    with suppress(FileNotFoundError, *_TORN), state_folder(vault, HISTORY) as folder:
        row = json.loads(exchange.read_file(folder, CLOCK, limit=1_000))
        return _number(row["lived"]), _number(row["wall"])
    return max(_read_seen(vault).values(), default=0.0), None


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise ValueError
    return float(value)


# --- what was seen when ---


def _read_seen(vault: Vault) -> dict[str, float]:
    """Per file the latest line; a torn one is none, and its file counts as new."""
    try:
        with state_folder(vault, HISTORY) as folder:
            data = exchange.read_file(folder, SEEN)
    except FileNotFoundError:
        return {}
    seen: dict[str, float] = {}
    for line in data.split(b"\n"):
        with suppress(*_TORN):
            row = json.loads(line)
            seen[str(row["file"])] = _number(row["lived"])
    return seen


def _note(vault: Vault, new: list[str], lived: float) -> None:
    data = b"".join(encode_line({"lived": round(lived), "file": key}) for key in new)
    with state_folder(vault, HISTORY, create=True) as folder:
        # A line break first: whatever a crash left of the line before does not spoil this one.
        exchange.append_to(folder, SEEN, b"\n" + data)


def _forget_others(vault: Vault, there: Set[str], *, drafts: bool) -> None:
    """Leave out the lines of drafts, or of all else, that are not there any more, whoever took them away.

    One that comes back counts as new.
    """
    seen = _read_seen(vault)
    rest = {key: lived for key, lived in seen.items() if key in there or key.startswith(_OF_DRAFTS) is not drafts}
    if len(rest) < len(seen):
        lines = [encode_line({"lived": round(lived), "file": key}) for key, lived in sorted(rest.items())]
        _replace(vault, SEEN, b"".join(lines))


def _replace(vault: Vault, name: str, data: bytes) -> None:
    """Put a file in the place of another at once. The caller holds the lock."""
    with state_folder(vault, HISTORY, create=True) as folder:
        part = f"{name}.part"
        with suppress(FileNotFoundError):
            exchange.unlink(folder, part)
        fd = exchange.create_file(folder, part, 0o600)
        try:
            exchange.write_all(fd, data)
            exchange.sync_file(fd)
        finally:
            exchange.close(fd)
        exchange.rename_over(folder, part, folder, name)
