"""Missing pages that an agent asked for, and that are there now."""

from __future__ import annotations

from collections.abc import Collection

from reviews.models import ItemType, ReviewItem, Status
from reviews.services.proposals import RULE
from reviews.services.stubs import called_by
from wiki.models import Alias, Page
from wiki.rows import chunks


def answered_proposals(pages: Collection[int] | None = None) -> list[ReviewItem]:
    """Pending missing-page items of agents whose page exists: by its title, an alias or the name of its file.

    ``pages``: only what these pages (by number) can have answered.
    """
    items = ReviewItem.objects.filter(rule=RULE, status=Status.PENDING, item_type=ItemType.MISSING_PAGE).order_by()
    asked = {item: called_by(item.proposed_title) for item in items.only("pk", "proposed_title")}
    if not asked:
        return []
    there = _names(set().union(*asked.values())) if pages is None else _names_of(pages)
    return [item for item, keys in asked.items() if not keys.isdisjoint(there)]


def _names(wanted: set[str]) -> set[str]:
    """Those of the keys under which a listed page is found."""
    listed, found = Page.objects.listed().order_by(), set[str]()
    for chunk in chunks(wanted):
        found.update(listed.filter(title_key__in=chunk).values_list("title_key", flat=True))
        found.update(listed.filter(name_key__in=chunk).values_list("name_key", flat=True))
        found.update(listed.filter(aliases__key__in=chunk).values_list("aliases__key", flat=True))
    return found


def _names_of(pages: Collection[int]) -> set[str]:
    """The keys under which these pages are found, as far as they are listed."""
    found = set[str]()
    for chunk in chunks(pages):
        listed = Page.objects.listed().filter(pk__in=chunk).order_by()
        for title, name in listed.values_list("title_key", "name_key"):
            found.update((title, name))
        found.update(Alias.objects.filter(page__in=listed.values("pk")).values_list("key", flat=True))
    return found
