"""What the desk and the lists of the admin cost on a large vault, with a page that 2,000 others link to.

    python -m benchmarks.desk [--notes 20000] [--json]

A vault is made and scanned; then each address is asked for by a person who is signed in, through all of Django, without
a network. On SQLite, or on the PostgreSQL server that DATABASE_URL names. Times are of the wall and of this process, in
milliseconds; p50 and p95 of twenty, and the bound on p50.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import Any
from urllib.parse import quote

from benchmarks.own_database import own_database
from benchmarks.timing import Row, table, timed

_BACKLINKS = 2_000
_TIMES = 20
#: ms of the wall, on an idle machine
_READER, _LIST = 200, 300


def _made(notes: int) -> str:
    """Make and scan the vault; the path of the page that many link to."""
    from benchmarks.vault import Shape, make_vault
    from vault.current import current_vault
    from wiki.sync import scan

    root = current_vault().root
    made = make_vault(root, notes, shape=Shape(words=(60, 300)))
    hub, *others = made
    for note in others[:_BACKLINKS]:
        with (root / note.path).open("a", encoding="utf-8") as file:
            file.write(f"\nA sentence that is about [[{hub.title}]]. And another one.\n")
    scan()
    return hub.path


def _asked(hub: str, word: str) -> list[tuple[str, str, float]]:
    """What is asked for: its name, its address and its bound."""
    reader = f"/read/{quote(hub)}"
    return [
        ("front page", "/", _LIST),
        (f"a page with {_BACKLINKS:,} backlinks", reader, _READER),
        ("the list of its backlinks", f"{reader}/links", _LIST),
        ("pages by title", "/read", _LIST),
        ("search for a word", f"/read?q={word}", _LIST),
        *((f"typed: {end} letters", f"/read?q={word[:end]}&live=1", _LIST) for end in (1, 2, 3, 4)),
        ("admin: pages", "/admin/wiki/page/", _LIST),
        ("admin: pages, a word", f"/admin/wiki/page/?q={word}", _LIST),
        ("admin: pages with broken links", "/admin/wiki/page/?links=broken", _LIST),
        ("admin: links", "/admin/wiki/link/", _LIST),
        ("admin: broken links", "/admin/wiki/link/?state__exact=broken", _LIST),
        ("admin: files", "/admin/wiki/file/", _LIST),
    ]


def _get(client: Any, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise SystemExit(f"{address} answers {answer.status_code}")


def measure(notes: int) -> list[Row]:
    """Time each of the addresses."""
    with own_database("synapse_desk"):
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.test import Client

        settings.ALLOWED_HOSTS = ["testserver"]
        hub = _made(notes)
        client = Client()
        client.force_login(User.objects.create_superuser("bench"))
        rows = []
        for name, address, bound in _asked(hub, hub.rpartition("/")[2].split()[0].lower()):
            _get(client, address)
            rows.append(timed(name, bound, [partial(_get, client, address)] * _TIMES))
        return rows


def main() -> int:
    """Print a table or JSON; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.desk", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = measure(options.notes)
    if options.json:
        print(json.dumps([{**vars(row), "met": row.met} for row in rows]))
    else:
        print(table(f"{options.notes:,} notes", rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
