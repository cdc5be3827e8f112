"""What the producers of the review queue cost: after the first scan, once more, and after one change.

    python -m benchmarks.producers [--notes 10000] [--json]

The made-up notes have so many broken links that about 3,000 findings come of 10,000 of them, and no cap holds any
back; on SQLite, or on the PostgreSQL server that DATABASE_URL names. Seconds of the wall and of this process; the
bounds are on the wall's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.own_database import own_database
from benchmarks.timing import Row, table, timed
from benchmarks.vault import Note, Shape, make_vault

#: Broken links of a hundred: about 3,000 different names in 10,000 notes.
BROKEN = 0.042
_CHANGES = 25


def _by_rule() -> Iterator[Row]:
    """What each rule costs by itself when it looks at everything."""
    from reviews.producers import PRODUCERS

    for producer in PRODUCERS:
        yield timed(f"of it, {producer.rule}", None, [lambda found=producer.find: list(found(None))])  # type: ignore[misc]


def _written(notes: list[Note]) -> Iterator[Callable[[], object]]:
    """New pages through the write path, each with nine links and two that lead nowhere."""
    from reviews.producers.runner import run
    from vault.history import Author
    from wiki.services import write_page

    for number in range(_CHANGES):
        links = " ".join(f"[[{note.title}]]" for note in notes[number * 9 : number * 9 + 9])
        title = f"Written {number}"
        block = {"type": "concept", "title": title, "sources": ["raw/sources/1.pdf"], "lang": "en"}
        content = f"{links} [[no such note {number}]] [[Nobody {number}]]"
        write_page(title=title, content=content, frontmatter=block, author=Author("benchmark", "command"))
        yield run


def _edited(root: Path, notes: list[Note]) -> Iterator[Callable[[], object]]:
    """Notes changed in an editor, as the watcher takes them in."""
    from reviews.producers.runner import run
    from wiki.sync import sync_paths

    for note in notes[-_CHANGES:]:
        file = root / note.path
        file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
        sync_paths([note.path])
        yield run


def measure(count: int) -> tuple[list[Row], int]:
    """Make a vault of ``count`` notes, scan it, and time the producers on it; the rows, and how many findings came."""
    os.environ["SYNAPSE_REVIEW_CAP"] = "1000000"
    with own_database("synapse_producers"):
        from django.conf import settings

        from reviews.models import ReviewItem
        from reviews.producers.runner import run, run_everything, sweep
        from vault.current import current_vault
        from wiki.sync import scan

        notes = make_vault(settings.SYNAPSE_VAULT, count, shape=Shape(broken=BROKEN))
        current_vault().ensure_id()
        scan()
        rows = [timed("after the first scan: find and file", 5_000, [run])]
        found = ReviewItem.objects.count()
        rows += [
            timed("everything once more, nothing new", 5_000, [run_everything] * 3),
            *_by_rule(),
            timed("sweep", None, [sweep] * 3),
            timed("after one page written", 50, _written(notes)),
            timed("after one note edited", 50, _edited(Path(settings.SYNAPSE_VAULT), notes)),
        ]
    return rows, found


def main() -> int:
    """Print a table or JSON; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.producers", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows, found = measure(options.notes)
    if options.json:
        print(json.dumps({"findings": found, "rows": [{**vars(row), "met": row.met} for row in rows]}))
    else:
        print(table(f"producers, {options.notes:,} notes, {found:,} findings", rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
