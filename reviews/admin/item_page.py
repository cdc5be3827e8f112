"""What one item's page shows: why it is asked, what is proposed beside what stands, and what can be decided."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from reviews.actions import action_named, supported
from reviews.admin.display import shown_row, visible_text
from reviews.admin.preview import BUTTONS, KEYS
from reviews.models import ReviewItem, Status
from reviews.services.diff import ItemDiff, compare, item_diff
from reviews.services.reading import MAX_EVENTS
from reviews.services.rules import as_id
from wiki.admin.display import page_link, visible
from wiki.models import Page

#: Characters of each of the three texts that are shown of a conflict.
MAX_SHOWN: Final = 50_000
_SNIPPET: Final = 240


def item_context(request: HttpRequest, item: ReviewItem, *, may_decide: bool) -> dict[str, Any]:
    """What the template needs of the item; reads files."""
    diff = item_diff(item, stubs=True)
    return {
        "item": item,
        "heading": visible(item.title),
        "rationale": visible_text(item.rationale),
        "page": page_link(item.page) if item.page else "",
        "page_path": visible(item.page.path if item.page else item.page_path),
        "read_page": item.page.get_absolute_url() if item.page else "",
        "page_gone": item.page is not None and item.page.deleted_at is not None,
        "file_path": visible(item.file_path),
        "proposed_title": visible(item.proposed_title),
        "frontmatter": _frontmatter(item),
        "diff": _shown_diff(diff) if diff else None,
        "seen": _mark(diff) if diff else "",
        "rests_on": item.evidence.count(),
        "references": _references(item),
        "queries": [visible(query) for query in item.search_queries],
        "events": _events(item),
        "created": _created(item),
        "previous": item.previous,
        "followers": list(item.next.only("pk", "title", "status").order_by("created_at")[:5]),
        "decided_by": visible(item.reviewed_by),
        "filed_by": visible(item.filed_by),
        "note": visible_text(item.note),
        "failure": visible_text(item.failure),
        **_choices(item, may_decide=may_decide),
    }


def _choices(item: ReviewItem, *, may_decide: bool) -> dict[str, Any]:
    """The buttons: the actions that fit the item now, or why there are none."""
    why = ""
    if settings.SYNAPSE_READ_ONLY:
        why = "Nothing can be decided while SYNAPSE_READ_ONLY is set."
    elif not may_decide:
        why = "Deciding needs the permissions to change review items and pages."
    pending = item.status == Status.PENDING
    names = supported(item) if pending and not why else []
    return {
        "pending": pending,
        "why_no_actions": why,
        "actions": [
            {"name": name, "button": BUTTONS[name], "key": KEYS[name], "help": action_named(name).help}
            for name in names
        ],
        "may_reopen": not pending and not why,
    }


def _shown_diff(diff: ItemDiff) -> dict[str, Any]:
    texts = (
        ("what it was made from", diff.base, "This version is not kept."),
        ("what stands now", diff.current, "There is no file."),
        ("what is proposed", diff.proposed, ""),
    )
    return {
        "path": visible(diff.path),
        "new_page": diff.current is None and not diff.problem,
        "conflict": diff.conflict,
        "problem": diff.problem,
        "rows": [shown_row(row) for row in diff.rows],
        "added": diff.added,
        "removed": diff.removed,
        "coarse": diff.coarse,
        "truncated": diff.truncated,
        "texts": [
            {"name": name, "text": None if text is None else visible_text(text[:MAX_SHOWN]), "absent": absent}
            for name, text, absent in (texts if diff.conflict else ())
        ],
        "since": _changed_since(diff) if diff.conflict else None,
    }


def _changed_since(diff: ItemDiff) -> dict[str, Any] | None:
    """What stands now beside the version that the proposal was made from; None where that is not kept."""
    if diff.base is None or diff.current is None:
        return None
    beside = compare(diff.base, diff.current)
    return {
        "rows": [shown_row(row) for row in beside.rows],
        "added": beside.added,
        "removed": beside.removed,
        "truncated": beside.cut,
    }


def would_write_otherwise(item: ReviewItem, seen: str) -> bool:
    """Whether ``create`` would write another text, or over another one, than a form has shown that was marked so.

    False for a form without a mark, for a decided item and for a conflict, which the services refuse in words of
    their own.
    """
    if not seen or item.status != Status.PENDING:
        return False
    diff = item_diff(item, stubs=True)
    return diff is not None and not diff.conflict and _mark(diff) != seen


def _mark(diff: ItemDiff) -> str:
    """What a form shows, as letters: where, over which version, which text."""
    return hashlib.sha256(
        "\0".join((diff.path, diff.current_hash, diff.proposed)).encode(errors="surrogatepass")
    ).hexdigest()


def _frontmatter(item: ReviewItem) -> list[tuple[str, str]]:
    """The proposed properties, as JSON; nothing where the diff shows them within the file."""
    if item.proposed_text or not item.proposed_frontmatter:
        return []
    return [
        (visible(str(key)), visible(json.dumps(value, ensure_ascii=False))[:_SNIPPET])
        for key, value in item.proposed_frontmatter.items()
    ]


def _references(item: ReviewItem) -> list[dict[str, Any]]:
    """The pages that the item names, as they are called now, each with how it begins."""
    named = [entry for entry in item.referenced_pages if isinstance(entry, dict)]
    ids = [known for entry in named if (known := as_id(entry.get("id")))]
    found = {str(page.uid): page for page in Page.objects.filter(uid__in=ids)}
    shown = []
    for entry in named:
        page = found.get(str(entry.get("id")))
        shown.append(
            {
                "link": page_link(page) if page else visible(str(entry.get("title", ""))),
                "path": visible(page.path if page else str(entry.get("path", ""))),
                "read": page.get_absolute_url() if page else "",
                "snippet": visible(page.summary[:_SNIPPET]) if page else "",
                "gone": page is None or page.deleted_at is not None,
            }
        )
    return shown


def _events(item: ReviewItem) -> list[dict[str, Any]]:
    newest = item.events.order_by("-pk")[:MAX_EVENTS]
    return [
        {
            "at": event.at,
            "what": event.what,
            "who": visible(event.who),
            "door": event.door,
            "to_status": event.to_status,
            "note": visible_text(event.note),
        }
        for event in reversed(newest)
    ]


def _created(item: ReviewItem) -> Any:
    if item.created_page is not None:
        return page_link(item.created_page)
    return visible(item.created_path)


def run_address(item: ReviewItem) -> str:
    """Where the item's research run is shown; "" without one."""
    if item.research_run_id is None:
        return ""
    return reverse("admin:reviews_researchrun_change", args=[item.research_run_id])
