"""Which pages rest on a source: those whose frontmatter names it, and those that link to it."""

from __future__ import annotations

import unicodedata

from vault.errors import SynapseError
from vault.paths import source_path
from wiki.models import File, Link, Page, PageQuerySet


def pages_citing(file: File) -> PageQuerySet:
    """The live pages that name this file in ``sources`` (by either form of its path) or link to it, by title."""
    wanted = unicodedata.normalize("NFC", file.path)
    rows = Page.objects.live().exclude(sources=[]).values_list("pk", "sources")
    naming = {pk for pk, sources in rows.iterator() if any(_names(source, wanted) for source in sources)}
    linking = Link.objects.filter(name_key=file.name_key, target_path=file.path).values_list("source_id", flat=True)
    return Page.objects.live().filter(pk__in=naming.union(linking)).order_by("title", "pk")


def _names(source: str, wanted: str) -> bool:
    if source.rpartition("/")[2] != wanted.rpartition("/")[2] and not source.endswith(wanted):
        return False
    try:
        return unicodedata.normalize("NFC", source_path(source)) == wanted
    except SynapseError:
        return False
