"""What an action would do to some items: told before it is done, item by item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from reviews.actions import Action, check_supported, proposes_text
from reviews.models import ReviewItem, Status
from reviews.services.bulk import MAX_IDS
from reviews.services.diff import conflicting
from reviews.services.reading import items
from vault.errors import SynapseError
from wiki.admin.display import visible

#: An action as the button says it, with a number or a title behind.
BUTTONS: Final = {
    "skip": "Skip",
    "dismiss": "Dismiss",
    "mark-resolved": "Mark as resolved",
    "create": "Create",
    "deep-research": "Research",
}
#: The key that decides so (reviews/static/reviews/admin/keys.js).
KEYS: Final = {"create": "a", "mark-resolved": "r", "skip": "s", "dismiss": "d", "deep-research": "e"}
#: What has happened to the items that it was done to.
DONE: Final = {
    "skip": "skipped",
    "dismiss": "dismissed",
    "mark-resolved": "marked as resolved",
    "create": "created",
    "deep-research": "handed on to research",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One item of a preview: what will happen to it, or why nothing will."""

    item: ReviewItem
    will: str
    reason: str = ""

    @property
    def ticked(self) -> bool:
        """Whether it is among those that will be decided."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Preview:
    """The items that were named, in that order, and how many of the names are no item's."""

    action: Action
    lines: list[Line]
    unknown: int

    @property
    def ticked(self) -> int:
        """How many will be decided."""
        return sum(line.ticked for line in self.lines)

    @property
    def button(self) -> str:
        """What the button says, before the number."""
        return BUTTONS[self.action.name]


def preview(action: Action, ids: Iterable[UUID | None]) -> Preview:
    """What the action would do to each of the items (None: a name that is no id); at most 200 are looked at.

    Asks the index alone: a page that was edited a moment ago is found out when it is written.
    """
    named = dict.fromkeys(list(ids)[:MAX_IDS])
    wanted = [item_id for item_id in named if item_id is not None]
    found = {item.pk: item for item in items().filter(pk__in=wanted)}
    stale: set[UUID] = set()
    if action.status is Status.CREATED:
        stale = set(conflicting(ReviewItem.objects.filter(pk__in=wanted)).values_list("pk", flat=True))
    lines = [_line(action, found[item_id], stale) for item_id in wanted if item_id in found]
    return Preview(action, lines, len(named) - len(lines))


def why_not(action: Action, item: ReviewItem, *, conflict: bool) -> str:
    """Why an action is of no use for an item, as far as can be told beforehand; "" when it is."""
    if item.status != Status.PENDING:
        return f"decided already: {item.status} by {visible(item.reviewed_by)} ({item.reviewed_via})"
    try:
        check_supported(action, item)
    except SynapseError as error:
        return error.message
    if conflict:
        return "the page has changed since this was proposed; open the item to see how"
    return ""


def will_happen(action: Action, item: ReviewItem) -> str:
    """What the action does to this item, in a sentence."""
    if action.status is not Status.CREATED:
        return action.help
    # A page without the version that is changed is only what gave rise to a new one.
    if item.page is not None and item.base_hash:
        return f"Changes {visible(item.page.path)} to the proposed text."
    title = visible(item.proposed_title or item.title)
    return f"Makes the page “{title}”" + (" as proposed." if proposes_text(item) else ", as a stub.")


def _line(action: Action, item: ReviewItem, stale: set[UUID]) -> Line:
    reason = why_not(action, item, conflict=item.pk in stale)
    return Line(item, "" if reason else will_happen(action, item), reason)
