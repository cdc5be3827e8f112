"""What must be true when all is quiet again. Each check adds its reasons to the ledger's failures."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.services.place import PATIENCE
from tests.soak.doors import Http
from tests.soak.ledger import Ledger, Written, sha256
from tests.soak.memory import BOUND, Memory
from tests.soak.world import World, database, locks_held

#: How long what waits may take to be done once nobody asks for more, in seconds.
QUIET = 180.0
_SHOWN = 3
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass
class Found:
    """Counts of a judged run."""

    pages: int = 0
    dump_lines: int = 0
    acknowledged_in_place: int = 0
    acknowledged_in_history: int = 0
    acknowledged_saved_over: int = 0
    acknowledged_lost: int = 0
    saves_lost: int = 0
    decisions_lost: int = 0
    settled_after: float = 0.0


def wait_for_quiet(door: Http, ledger: Ledger, found: Found) -> None:
    """Until no job waits and no scan runs."""
    begun = time.monotonic()
    while time.monotonic() - begun < QUIET:
        _, status, _ = door.ask("GET", "/status", "rest status")
        if status.get("waiting_jobs") == 0 and not status.get("scan_running"):
            found.settled_after = time.monotonic() - begun
            return
        time.sleep(1)
    ledger.failed(f"jobs still wait {QUIET:.0f} s after the last call: {status.get('waiting_jobs')}")


def decisions(door: Http, ledger: Ledger, found: Found) -> None:
    """Each decision that was acknowledged stands."""
    statuses: dict[str, str] = {}
    cursor: str | None = ""
    while cursor is not None:
        more = {"cursor": cursor} if cursor else {}
        _, part, _ = door.ask("GET", "/review/queue", "review list", params={"status": "all", "limit": 100, **more})
        statuses |= {item["id"]: item["status"] for item in part["result"]}
        cursor = part["next_cursor"]
    lost = {item: status for item, status in ledger.decided.items() if statuses.get(item) != status}
    found.decisions_lost = len(lost)
    for item, status in list(lost.items())[:_SHOWN]:
        ledger.failed(f"a review was decided as {status} and is {statuses.get(item)}")


def stopped(world: World, ledger: Ledger) -> None:
    """Every process goes when it is asked to, and none had gone by itself."""
    for service in world.services.values():
        if service.died():
            ledger.failed(f"{service.name} ended by itself: see {service.log.name}")
    for name, seconds in world.stop().items():
        # A worker ends its task first, and embedding is done 45 seconds at a time.
        if seconds > (PATIENCE if name == "worker" else 20):
            ledger.failed(f"{name} took {seconds:.0f} s to end when it was asked to")


def index(world: World, ledger: Ledger, found: Found, engine: str) -> None:
    """The index is what a rebuild of the vault in a new place is, page ids included; a second scan finds nothing."""
    world.manage("rescan")
    second = json.loads(world.manage("rescan", "--json"))
    changes = {name: second[name] for name in ("added", "changed", "moved", "deleted", "files_changed") if second[name]}
    if changes:
        ledger.failed(f"a second scan found changes: {changes}")
    with database(engine, "rebuilt") as url, ThreadPoolExecutor(1) as beside:
        dump = beside.submit(world.manage, "dump_index")
        fresh = {"SYNAPSE_DATA": str(world.folder / "rebuilt"), **url}
        world.manage("rescan", **fresh)
        ours = dump.result().splitlines()
        rebuilt = world.manage("dump_index", **fresh).splitlines()
    (world.folder / "dump.jsonl").write_text("\n".join(ours))
    (world.folder / "dump-rebuilt.jsonl").write_text("\n".join(rebuilt))
    found.dump_lines, found.pages = len(ours), sum("page" in json.loads(line) for line in ours)
    differing = [pair for pair in _pairs(ours, rebuilt) if pair[0] != pair[1]]
    if differing:
        ledger.failed(f"the index differs from a rebuild in {len(differing)} rows")
    for one, other in differing[:_SHOWN]:
        ledger.failed(f"in the index: {_difference(one, other)}")


def _pairs(ours: list[str], rebuilt: list[str]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    def keyed(lines: list[str]) -> dict[str, dict[str, Any]]:
        rows = [json.loads(line) for line in lines]
        return {json.dumps([row.get("page"), row.get("file"), row.get("edge")]): row for row in rows}

    one, other = keyed(ours), keyed(rebuilt)
    return [(one.get(key, {}), other.get(key, {})) for key in sorted(one.keys() | other.keys())]


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    if not one or not other:
        row = one or other
        return f"only in the {'index' if one else 'rebuild'}: {row.get('page') or row.get('file') or row.get('edge')}"
    names = [name for name in one if one[name] != other.get(name)]
    shown = {name: (one[name], other.get(name)) for name in names}
    return f"{one.get('page') or one.get('file') or one.get('edge')}: {json.dumps(shown)[:400]}"


def writes(world: World, ledger: Ledger, found: Found) -> None:
    """Each acknowledged version and each save is there: as a file, in the history, as a draft; or the editor's own
    next save went over it. Each acknowledgement has its line in the page's history."""
    state = world.vault / ".synapse"
    in_place, kept = Counter[str](), Counter[str]()
    for file in world.vault.rglob("*"):
        if file.is_file():
            (kept if state in file.parents else in_place)[sha256(file.read_bytes())] += 1
    lost: list[Written] = []
    for written in ledger.acknowledged:
        if written.content_hash in in_place:
            found.acknowledged_in_place += 1
        elif written.content_hash in kept:
            found.acknowledged_in_history += 1
        elif written.content_hash in ledger.overwritten:
            found.acknowledged_saved_over += 1
        else:
            lost.append(written)
    found.acknowledged_lost = len(lost)
    for written in lost[:_SHOWN]:
        ledger.failed(f"an acknowledged write is lost: {written}")
    gone = [
        save for save in ledger.saves if save.content_hash not in in_place.keys() | kept.keys() | ledger.overwritten
    ]
    found.saves_lost = len(gone)
    for save in gone[:_SHOWN]:
        ledger.failed(f"an outside save is lost: {save}")
    told = Counter((written.page_id, written.content_hash) for written in ledger.acknowledged)
    without = told - _lines(state)
    for (page, content_hash), count in list(without.items())[:_SHOWN]:
        ledger.failed(f"{count} acknowledged writes of {content_hash[:12]} have no line in the history of {page}")


def _lines(state: Path) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for file in state.glob("history/*/versions.jsonl"):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found[file.parent.name, json.loads(line)["content_hash"]] += 1
            except (ValueError, KeyError):
                continue  # torn by a kill: the next line began anew
    return found


def leftovers(world: World, ledger: Ledger) -> None:
    """No temporary file, no record of a change that is being made, no lock that somebody holds."""
    world_files = [file for file in world.vault.rglob("*") if file.is_file()]
    temporary = [file for file in world_files if file.name.startswith(".synapse-")]
    pending = [file for file in world_files if file.parent.name == "pending"]
    for what, files in (("temporary file", temporary), ("record of a change", pending)):
        if files:
            ledger.failed(
                f"{len(files)} left: {what}: {[str(file.relative_to(world.vault)) for file in files[:_SHOWN]]}"
            )
    for file in (world.vault / ".synapse" / "locks").iterdir():
        opened = os.open(file, os.O_RDWR)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            ledger.failed(f"the lock {file.name} is held by nobody we know")
        finally:
            os.close(opened)
    if (url := world.environment.get("DATABASE_URL")) and (held := locks_held(url)):
        ledger.failed(f"{held} advisory locks are held in the database")


def logs(world: World, ledger: Ledger) -> dict[str, int]:
    """No stack, no error in any log; gives how often each warning was said."""
    warnings: Counter[str] = Counter()
    for file in sorted(world.folder.glob("*.log")):
        if file.name == "redis.log":
            continue
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                event = {}
            if not isinstance(event, dict):
                continue
            if "Traceback" in line or event.get("exception") or event.get("level") in ("error", "critical"):
                ledger.failed(f"{file.name}: {line[:600]}")
            elif event.get("level") == "warning":
                said = _ID.sub("…", f"{event['message']} {event.get('reason', '')}")
                warnings[f"{file.stem}: {said[:120].strip()}"] += 1
    return dict(warnings.most_common())


def memory(seen: Memory, ledger: Ledger, *, must: bool) -> None:
    """No life of a server that was long enough holds more than a tenth more at its end than after its warm-up."""
    lives = seen.lives()
    for life in lives:
        if life.judged and not life.flat:
            ledger.failed(
                f"{life.process} ({life.generation}) grew by more than {BOUND - 1:.0%} in {life.seconds:.0f} s: "
                f"RSS {life.rss[0]:.0f} to {life.rss[1]:.0f} MB, PSS {life.pss[0]:.0f} to {life.pss[1]:.0f} MB"
            )
    if must and not any(life.judged for life in lives):
        ledger.failed("no server lived long enough for its memory to be judged")
