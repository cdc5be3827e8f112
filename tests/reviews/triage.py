"""The review desk as a person uses it, over Django's client: what is filed, ticked, asked and decided there."""

from __future__ import annotations

import html
import re
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.test import Client

from reviews.models import ItemType, Origin, ResearchRun, ReviewEvent, ReviewItem

LIST = "/admin/reviews/reviewitem/"
BULK = f"{LIST}bulk/"


def item(title: str = "Ada Lovelace", **fields: Any) -> ReviewItem:
    """A pending item."""
    given = {
        "item_type": ItemType.MISSING_PAGE,
        "rule": "missing-page",
        "origin": Origin.RULE,
        "target": title,
        "proposed_title": title,
        "content_key": uuid4().hex,
        "filed_by": "synapse",
        "filed_via": "scan",
        **fields,
    }
    return ReviewItem.objects.create(title=title, **given)


def staff(*permissions: str) -> Client:
    """Somebody with these permissions."""
    user = User.objects.create_user(f"staff{User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def own(one: ReviewItem, rest: str = "change/") -> str:
    return f"{LIST}{one.pk}/{rest}"


def text_of(answer: Any) -> str:
    """What a person reads."""
    return html.unescape(re.sub(r"<[^>]*>", " ", answer.content.decode()))


def shown(answer: Any) -> list[str]:
    return [row.title for row in answer.context["cl"].result_list]


def ask(client: Client, action: str, *items: ReviewItem | str, **more: str) -> Any:
    """Tick items in the list, choose an action, and see the preview."""
    ids = [str(one.pk) if isinstance(one, ReviewItem) else one for one in items]
    return client.post(LIST, {"action": action, "_selected_action": ids, "index": "0", **more}, follow=True)


def confirm(client: Client, action: str, *items: ReviewItem | str, **more: str) -> Any:
    """Press the button of the preview, and see the outcome."""
    ids = [str(one.pk) if isinstance(one, ReviewItem) else one for one in items]
    return client.post(BULK, {"action": action, "_selected_action": ids, **more}, follow=True)


def decide(client: Client, one: ReviewItem, action: str, follow: bool = True, **more: str) -> Any:
    return client.post(own(one, "decide/"), {"action": action, **more}, follow=follow)


def ticked(answer: Any) -> list[str]:
    boxes = re.findall(
        r'<input type="checkbox" name="_selected_action" value="([^"]+)"( checked)?>', answer.content.decode()
    )
    return [value for value, checked in boxes if checked]


def snapshot() -> Any:
    """Everything that a decision could change."""
    return list(ReviewItem.objects.order_by("pk").values()), ReviewEvent.objects.count(), ResearchRun.objects.count()
