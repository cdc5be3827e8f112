"""What the review queue costs while thousands of items wait.

    python -m benchmarks.reviews [--json]

Filing, listing, the pages of the admin, the preview of a bulk decision of 200 and the decision itself, at 3,000 and
5,000 pending items; on SQLite, or on the PostgreSQL server that DATABASE_URL names. A page of the admin is Django's
answer, the template included, without a network. Times are of the wall and of this process, in
milliseconds; p50 and p95 over the repetitions, and the bound on p50.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import UUID

from benchmarks.own_database import own_database
from benchmarks.timing import Row, table, timed

SIZES = (3_000, 5_000)
_PAGES = 500
_BULK = 200


def _pages() -> list[Any]:
    from vault.links import name_key, path_key, text_key
    from wiki.models import Page

    def page(number: int) -> Page:
        path, title = f"wiki/concepts/page-{number}.md", f"Page {number}"
        keys = {"path_key": path_key(path), "name_key": name_key(path), "title_key": text_key(title)}
        return Page(path=path, title=title, content_hash="0" * 64, **keys)

    Page.objects.bulk_create(page(number) for number in range(_PAGES))
    return list(Page.objects.all())


def _findings(pages: list[Any], count: int) -> Iterator[Any]:
    """Missing pages, each asked for by one to twelve others."""
    from reviews.services import Finding

    for number in range(count):
        askers = [pages[(number * 7 + step * 13) % len(pages)] for step in range(1 + number % 12)]
        yield Finding(
            item_type="missing-page",
            rule="missing-page",
            target=f"subject {number}",
            title=f"“Subject {number}” is asked for by {len(askers)} pages and is not there",
            rationale="These pages link to a page that does not exist. " * 4,
            proposed_title=f"Subject {number}",
            references=askers,
            rests_on=[page.pk for page in askers],
            evidence=[str(page.uid) for page in askers],
            rank=len(askers),
        )


def _filing(count: int, pages: list[Any]) -> list[Row]:
    from reviews import services
    from vault.history import Author

    def file() -> None:
        services.file(findings=_findings(pages, count), origin="rule", author=Author("synapse", "scan"))

    return [
        timed(f"file {count:,}, none there", count, [file]),
        timed(f"file {count:,} again", count / 2, [file] * 3),
    ]


def _lists(count: int, page: Any) -> list[Row]:
    from reviews.services import list_items

    rows = []
    for order in ("oldest", "rank"):
        cursor = None
        for _ in range(5):
            cursor = list_items(limit=100, order=order, cursor=cursor)["next_cursor"]
        rows += [
            timed(f"list 100 of {count:,} by {order}", 300, [partial(list_items, limit=100, order=order)] * 20),
            timed(
                f"list 100 of {count:,} by {order}, the sixth part",
                300,
                [partial(list_items, limit=100, order=order, cursor=cursor)] * 20,
            ),
        ]
    of_page = partial(list_items, page=str(page.uid), limit=100)
    return [*rows, timed(f"list those of one page, of {count:,}", 300, [of_page] * 20)]


def _admin(count: int) -> list[Row]:
    """What a person opens: the list in its views, and one item with its neighbours."""
    from django.contrib.auth.models import User
    from django.test import Client
    from django.urls import reverse

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get_or_create(username="person", is_staff=True, is_superuser=True)[0])

    def look(address: str) -> None:
        answer = client.get(address)
        assert answer.status_code == 200, "a refusal is no measure of a page"

    items = reverse("admin:reviews_reviewitem_changelist")
    views = {"Inbox": "", "Conflicts": "?view=conflicts", "one type": "?item_type=missing-page", "a search": "?q=77"}
    last = reverse("admin:reviews_reviewitem_change", args=[_ids(count)[-1]])
    look(items)
    rows = [
        timed(f"open the list of {count:,}: {name}", 300, [partial(look, items + query)] * 20)
        for name, query in views.items()
    ]
    return [*rows, timed(f"open the last item of {count:,}", 300, [partial(look, last)] * 20)]


def _decisions(count: int) -> list[Row]:
    from reviews import services
    from reviews.actions import action_named
    from reviews.admin.preview import preview
    from vault.history import Author

    person = Author("user:person", "admin")
    ids = _ids(8 * _BULK + 50)
    ids, alone = ids[:-50], ids[-50:]
    parts = [ids[at : at + _BULK] for at in range(0, len(ids), _BULK)]
    shown = [partial(preview, action_named("create"), [UUID(one) for one in part]) for part in parts]
    bulks = [partial(services.bulk, ids=part, action="dismiss", author=person) for part in parts]
    ones = [partial(services.resolve, item_id=one, action="skip", author=person) for one in alone]

    def look(item_id: str) -> None:
        services.item_detail(services.get_item(item_id))

    return [
        timed(f"look at one of {count:,}, whole", 50, [partial(look, one) for one in ids[:50]]),
        timed(f"preview of {_BULK} of {count:,}", 300, shown),
        timed(f"bulk of {_BULK} of {count:,}", 300, bulks),
        timed(f"decide one of {count:,}", 50, ones),
    ]


def _at(count: int, pages: list[Any]) -> list[Row]:
    from reviews.services import forget_all

    rows = [*_filing(count, pages), *_lists(count, pages[3]), *_admin(count), *_decisions(count)]
    forget_all()
    return rows


def _ids(count: int) -> list[str]:
    """The ids of the best-ranked items that wait, as a form would send them."""
    from reviews import services

    found: list[str] = []
    cursor = None
    while len(found) < count:
        part = services.list_items(limit=100, order="rank", cursor=cursor)
        found += [item["id"] for item in part["result"]]
        cursor = part["next_cursor"]
    return found[:count]


def measure() -> list[Row]:
    """Time the queue at each of SIZES."""
    with own_database("synapse_reviews"):
        from vault.current import current_vault

        current_vault().ensure_id()
        pages = _pages()
        return [row for count in SIZES for row in _at(count, pages)]


def main() -> int:
    """Print a table or JSON; exit 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="benchmarks.reviews", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=0, help="ignored: the queue is measured at fixed sizes")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = measure()
    if options.json:
        print(json.dumps([{**vars(row), "met": row.met} for row in rows]))
    else:
        print(table("pending reviews", rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
