"""Which sources have changed since the pages that cite them were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from reviews.models import CitedSource
from wiki.models import File, Page
from wiki.rows import chunks
from wiki.services.citations import source_key, sources_at

#: Changed sources that a list can be narrowed down to.
MOST: Final = 5_000


def pages_behind(files: Iterable[File]) -> dict[int, set[int]]:
    """Of each of these sources that has changed (by number) the pages (by number) that were not rewritten since.

    That is known from when the scan has noticed the change; a decision about it, or a rewrite, makes up for it.
    """
    keys = {source_key(file.path): file.pk for file in files}
    waiting: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for chunk in chunks(keys):
        rows = CitedSource.objects.filter(path__in=chunk).exclude(noticed_hash="").order_by()
        for path, pages in rows.values_list("path", "waiting"):
            for uid, content_hash in pages.items():
                waiting[uid].append((keys[path], content_hash))
    behind: dict[int, set[int]] = defaultdict(set)
    for chunk in chunks(waiting):
        standing = Page.objects.live().filter(uid__in=chunk).order_by().values_list("uid", "pk", "content_hash")
        for uid, pk, now in standing:
            for file, then in waiting[str(uid)]:
                if then == now:
                    behind[file].add(pk)
    return dict(behind)


def changed_sources() -> list[int]:
    """The sources (by number) that are not what they were when a page that cites them was written; 5,000 at most."""
    noticed = CitedSource.objects.exclude(noticed_hash="").order_by("path").values_list("path", flat=True)[:MOST]
    return [file.pk for file in sources_at(list(noticed))]
