"""The table of docs/promises.md, filled from what `make test-promises` and `make soak` saw.

    python -m tests.promises.table build/promises

reads the lines that the tests left in the folder (a file for each database) and writes the rows between the two marks
of docs/promises.md. A row that no full run in the folder has measured stays as it is; one that is new says so, with what
the short form saw.
"""

# ruff: noqa: E501 - a row of the table is a line
from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "promises.md"
NUMBER = re.compile(r"\d[\d,]*")
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"

#: Each promise, and the figure that it is held to.
PROMISES: dict[str, tuple[str, str]] = {
    "P1": ("A page file is always one whole version somebody wrote", "500 kills at random times and one at each system call: 0 torn, 0 temporary files lost"),
    "P2": ("“Written” means on disk, and the returned hash is the file's", "the order of system calls on every path; 200 kills within 1 ms of the reply: 200 present"),
    "P3": ("An edit made outside is never destroyed", "5,000 saves by an editor without locks against 8 writers: 0 lost"),
    "P4": ("A stale base never writes", "1,000 of 1,000 refused, the file as it was, the text kept as a draft"),
    "P5": ("What was acknowledged is not lost", "16 processes (HTTP, stdio, REST, tasks) × 200 writes over 10 pages: versions = acknowledgements"),
    "P6": ("Creating is exclusive", "50 at once: one 201 and 49 × 409; one `created: true`"),
    "P7": ("Bytes we did not mean to change stay the same", "300 files, one key changed: the diff is that line"),
    "P8": ("A file that cannot be parsed is never rewritten and stops no scan", "60 poison files among 1,000: 940 indexed, 60 flagged, bytes equal"),
    "P9": ("The index is a function of the vault", "rebuilt = incremental after 2,000 random operations, 20 seeds; ids included"),
    "P10": ("A second scan does nothing", "0 database writes, 0 vector calls, 0 file changes"),
    "P11": ("Missed events heal", "same-size edits within a second, mtime kept: the full pass finds 100 %"),
    "P12": ("A half-written file is not indexed as final", "1 MB dripped over 3 s: no version with a partial hash stays"),
    "P13": ("An empty or unmounted root is not “all deleted”", "missing, empty, > 20 % gone: 0 deletions, a clear message; a flag overrides"),
    "P14": ("A rename keeps identity", "rename, case only, swap, rename + edit: links and reviews stay; a reused inode is no move"),
    "P15": ("Broker down: reading, writing and deciding go on", "write p95 < 1 s, backlog drained ≤ 60 s after its return, 0 lost"),
    "P16": ("Qdrant down: search degrades and says so", "stopped during 500 upserts: afterwards Qdrant = database"),
    "P17": ("Each task may run twice, late, out of order", "each run 3 times, shuffled: the same state"),
    "P18": ("A dead worker blocks nothing", "killed mid-scan, mid-embedding, mid-write: the next starts at once, nothing done twice that counts"),
    "P19": ("File and database agree after a crash", "a crash at each of 6 points: equal after recovery"),
    "P20": ("A full disk, an I/O error, a read-only disk, a short write: a typed error", "a fault at each system call: nothing changed up to the exchange, after it the write stands"),
    "P21": ("A review is decided once", "100 at once: 1 wins, 99 told"),
    "P22": ("Bulk touches what the person saw", "the list changed under the form: 0 unseen touched"),
    "P23": ("A retry is safe", "the same key five times: one effect, one body"),
    "P24": ("Clocks do not matter", "± 1 year, mtime in the future: the same index"),
    "P25": ("SQLite holds under concurrency", "8 writers × 200: 0 “database is locked”; the same on PostgreSQL"),
    "P26": ("Nothing outside the root is read, written, listed or probed", "every attack tried; a canary tree outside unchanged"),
    "P27": ("Every write is attributable and reversible", "100 restores = the old bytes"),
    "P28": ("The vault alone is enough to start", "from the last schema versions, and from nothing"),
}  # fmt: skip


def lines(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What was seen of each promise, oldest first."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found[one["promise"]].append(one)
    return found


def rows(seen: dict[str, list[dict[str, Any]]], standing: dict[str, str]) -> str:
    """The rows in Markdown; ``standing`` are those that are there already, by their first cell."""
    written = ["| | promise | test | asked | measured |", "|---|---|---|---|---|"]
    for promise, (text, asked) in PROMISES.items():
        module = next((ROOT / "tests" / "promises").glob(f"test_p{int(promise[1:]):02d}_*.py")).name
        full = [one for one in seen[promise] if one["full"]]
        if not full and promise in standing:
            written.append(standing[promise])
            continue
        measured = "; ".join(told(full)) or "in its short form: " + "; ".join(told(seen[promise]))
        written.append(f"| {promise} | {text} | `{module}` | {asked} | {measured} |")
    return "\n".join([*written, "", *soaks(seen, standing)])


def told(seen: list[dict[str, Any]]) -> list[str]:
    """What was found, a text for each kind: figures of one kind are added up, "1,203 faults, 0 lost (16 runs)".

    Of a test that ran more than once the last run counts. What stands before a colon names the run and is left out
    where there are several of a kind.
    """
    last = {(one["test"], one["engine"], kind(one["found"])): one["found"] for one in seen}
    of_a_kind: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (_, database, shape), found in last.items():
        of_a_kind[database, shape].append(found)
    return [f"{added_up(shape, found)} ({database})" for (database, shape), found in of_a_kind.items()]


def kind(found: str) -> str:
    """A text without the name of its run, and with # for each number."""
    return NUMBER.sub("#", figures_of(found))


def figures_of(found: str) -> str:
    """What stands after the name of a run, which has no numbers."""
    name, _, figures = found.rpartition(": ")
    return found if NUMBER.search(name) else figures


def added_up(shape: str, found: list[str]) -> str:
    """One text for several of a kind."""
    if len(set(found)) == 1:
        return found[0] if len(found) == 1 else f"{found[0]} × {len(found)}"
    numbers = [[int(number.replace(",", "")) for number in NUMBER.findall(figures_of(one))] for one in found]
    sums = iter(f"{sum(each):,}" for each in zip(*numbers, strict=True))
    return "".join(next(sums) if part == "#" else part for part in re.split("(#)", shape)) + f" ({len(found)} runs)"


def soaks(seen: dict[str, list[dict[str, Any]]], standing: dict[str, str]) -> list[str]:
    """A row for each database on which everything ran at once; what `make soak` left."""
    written = ["| soak on | asked | measured |", "|---|---|---|"]
    asked = "20 minutes, a kill every minute: 0 acknowledged writes, outside saves and decisions lost, index = rebuild, no 5xx, memory flat within 10 %"
    for engine in ("sqlite", "postgresql"):
        full = [one["found"] for one in seen["soak"] if one["full"] and one["engine"] == engine]
        unmeasured = standing.get(engine, f"| {engine} | {asked} | not run in full |")
        written.append(f"| {engine} | {asked} | {full[-1]} |" if full else unmeasured)
    return written


def write(folder: Path) -> list[str]:
    """Put the rows into the document, and give the promises that no full run has measured."""
    seen = lines(folder)
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    standing = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    DOCUMENT.write_text(f"{before}{BEGIN}\n{rows(seen, standing)}\n{END}{after}", encoding="utf-8")
    return [promise for promise in PROMISES if not any(one["full"] for one in seen[promise])]


if __name__ == "__main__":
    missing = write(Path(sys.argv[1]))
    print(f"docs/promises.md is written; without a full run: {', '.join(missing) or 'none'}")
    sys.exit(bool(missing))
