"""The table of actions: what can be decided about an item, on which items, and where it leads.

Doors (REST, MCP, the admin, commands) show and check actions by this table alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from reviews.models import ItemType, ReviewItem, Status
from vault.errors import ErrorCode, SynapseError

#: The types of which there are items that can be created, or researched.
_CREATED: Final = (ItemType.MISSING_PAGE.value, ItemType.SUGGESTION.value, ItemType.CONTRADICTION.value)
_RESEARCHED: Final = tuple(value for value in ItemType.values if value != ItemType.CONFIRM)


@dataclass(frozen=True, slots=True)
class Action:
    """One way to decide: its name, the status it leads to, what it means in a sentence, and which items it fits.

    Items of other types than ``types`` it never fits.
    """

    name: str
    status: Status
    help: str
    fits: Callable[[ReviewItem], bool]
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = tuple(ItemType.values)


def proposes_text(item: ReviewItem) -> bool:
    """Whether an item proposes a body or a whole file.

    Rows of lists (``reviews.services.reading.items``) have that worked out, and leave the texts in the database.
    """
    if "proposed_body" in item.get_deferred_fields():
        return bool(item.proposes)  # type: ignore[attr-defined]
    return item.proposed_body is not None or bool(item.proposed_text)


def _any_item(item: ReviewItem) -> bool:
    del item
    return True


def _can_be_created(item: ReviewItem) -> bool:
    """A missing page can always be made, if only as a stub; a suggestion or contradiction must propose something."""
    if item.item_type == ItemType.MISSING_PAGE:
        return True
    if item.item_type not in _CREATED:
        return False
    return bool(item.proposed_title) or proposes_text(item)


def _can_be_researched(item: ReviewItem) -> bool:
    return item.item_type in _RESEARCHED


ACTIONS: Final = (
    Action("skip", Status.SKIPPED, "Considered, not now; it comes back when what it rests on changes.", _any_item),
    Action("dismiss", Status.DISMISSED, "Not useful; this finding never comes back.", _any_item),
    Action(
        "mark-resolved",
        Status.RESOLVED,
        "Done by hand elsewhere; it comes back when what it rests on changes.",
        _any_item,
        ("resolved",),
    ),
    Action(
        "create",
        Status.CREATED,
        "Write the proposed page or edit, or a stub of the page that is missing.",
        _can_be_created,
        ("approve",),
        _CREATED,
    ),
    Action(
        "deep-research",
        Status.DEEP_RESEARCHED,
        "Open a research run on the question for the configured backend.",
        _can_be_researched,
        types=_RESEARCHED,
    ),
)
_BY_NAME: Final = {name: action for action in ACTIONS for name in (action.name, *action.aliases)}
_BY_STATUS: Final = {action.status.value: action for action in ACTIONS}


def action_named(text: object) -> Action:
    """The action of this name or alias; ``invalid_action`` names them all."""
    action = _BY_NAME.get(text) if isinstance(text, str) else None
    if action is None:
        names = [action.name for action in ACTIONS]
        raise SynapseError(
            ErrorCode.INVALID_ACTION, f"There is no such action. Choose one of {', '.join(names)}.", actions=names
        )
    return action


def action_for_status(text: object) -> Action:
    """The action that leads to this status; ``invalid_action`` for one that nobody can choose (pending, …)."""
    action = _BY_STATUS.get(text) if isinstance(text, str) else None
    if action is None:
        statuses = list(_BY_STATUS)
        raise SynapseError(
            ErrorCode.INVALID_ACTION,
            f"No action leads to such a status. Choose one of {', '.join(statuses)}, or send an action.",
            statuses=statuses,
        )
    return action


def supported(item: ReviewItem) -> list[str]:
    """The names of the actions that fit an item, whatever its status, in the table's order."""
    return [action.name for action in ACTIONS if action.fits(item)]


def check_supported(action: Action, item: ReviewItem) -> None:
    """``action_not_supported`` for an action that does not fit the item; it names those that do."""
    if not action.fits(item):
        fitting = supported(item)
        what = f"an item of type {item.item_type}"
        if action.status is Status.CREATED and item.item_type in (ItemType.SUGGESTION, ItemType.CONTRADICTION):
            what += " that proposes neither a title nor a body"
        raise SynapseError(
            ErrorCode.ACTION_NOT_SUPPORTED,
            f"{action.name} does not fit {what}. Choose one of {', '.join(fitting)}.",
            supported=fitting,
            item_type=item.item_type,
        )


def table() -> list[dict[str, Any]]:
    """The table for those who show it: name, aliases, status and help of each action."""
    return [
        {"action": action.name, "aliases": list(action.aliases), "status": action.status.value, "help": action.help}
        for action in ACTIONS
    ]
