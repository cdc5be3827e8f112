"""Why a list is empty, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reviews.admin.counts import Counts
from reviews.admin.filters import CONFLICTS, DONE, EVERYTHING, INBOX
from reviews.admin.navigating import list_address
from vault.current import current_vault
from wiki.models import VaultState
from wiki.services.rescan import scan_is_running
from wiki.sync import scan_problem

_MANAGE: Final = ".venv/bin/python manage.py"
#: Of each view: its query, what its items are called (one, many), and the link to all of them.
_HIDDEN: Final = {
    INBOX: ("", "item that waits for a decision", "items that wait for a decision", "Show the whole Inbox"),
    CONFLICTS: ("view=conflicts", "conflict", "conflicts", "Show all conflicts"),
    DONE: ("view=done", "item that was decided", "items that were decided", "Show all that was decided"),
    EVERYTHING: ("view=all", "item", "items", "Show everything"),
}


@dataclass(frozen=True, slots=True)
class Why:
    """``command`` is to be typed as it stands; ``link`` leads to ``address``."""

    title: str
    text: str
    command: str = ""
    link: str = ""
    address: str = ""


def why_empty(view: str, counts: Counts, *, filtered: bool) -> Why:
    """Why a view shows nothing. A filter is the reason only if the view has something that it hides."""
    shows = {INBOX: counts.inbox, CONFLICTS: counts.conflicts, DONE: counts.done}
    hidden = shows.get(view, counts.inbox + counts.done)
    if filtered and hidden:
        query, one, many, link = _HIDDEN[view]
        text = f"The filter hides {hidden:,} {one if hidden == 1 else many}."
        return Why("Nothing here fits", text, link=link, address=list_address(query))
    if view == CONFLICTS and counts.inbox:
        text = "Every page that an item would change is still as it was when the item was filed."
        return _with_those_that_wait("No conflicts", text, counts)
    if view == DONE and counts.inbox:
        return _with_those_that_wait(
            "Nothing has been decided yet", "Here is what was decided, by whom and how.", counts
        )
    return _without_items(view, counts)


def _with_those_that_wait(title: str, text: str, counts: Counts) -> Why:
    link = f"{counts.inbox:,} item{' waits' if counts.inbox == 1 else 's wait'} in the Inbox"
    return Why(title, text, link=link, address=list_address(""))


def _without_items(view: str, counts: Counts) -> Why:
    """Why nothing waits at all."""
    problem = scan_problem(current_vault())
    if problem is not None:
        return Why("The vault can't be read", problem, command=f"{_MANAGE} doctor")
    if scan_is_running():
        return Why("A scan is at work", "What it finds to be decided is here once it has ended.")
    if not VaultState.objects.filter(last_scan_at__isnull=False).exists():
        text = "make serve scans and keeps watching. To scan once:"
        return Why("No scan has found any file yet", text, command=f"{_MANAGE} rescan")
    sweep = f"{_MANAGE} reviews sweep --full"
    if not counts.done:
        title = "Nothing has been decided yet" if view == DONE else "Nothing to decide"
        text = "Neither a scan nor an agent has found anything that waits. To have the whole vault looked through:"
        return Why(title, text, command=sweep)
    text = "Nothing waits for a decision. To have the whole vault looked through once more:"
    link = f"{counts.done:,} item{' has' if counts.done == 1 else 's have'} been decided"
    return Why("All done", text, command=sweep, link=link, address=list_address("view=done"))
