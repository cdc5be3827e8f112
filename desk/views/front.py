"""GET /: what there is, what changed, what waits, and what to do next."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import Count
from django.http import HttpRequest, HttpResponse

from desk.changes import lately
from desk.notices import notices, trouble
from desk.views.base import DeskView
from reviews.models import ItemType, ReviewItem, Status
from wiki import services

_FIRST: Final = 5


class FrontPage(DeskView):
    """The front page."""

    template_name = "desk/front.html"
    section = "front"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The front page; where the vault can't be read, only what to do about that."""
        problem = trouble()
        if problem is not None:
            return self.page({"notices": [problem]})
        status = services.status()
        queue = _queue()
        return self.page(
            {
                "status": status,
                "listed": status["embedding"]["pages"],
                "vectors": status["embedding"]["waiting"] if status["embedding"]["state"] != "off" else None,
                "notices": notices(status, waiting=queue["total"]),
                "changes": lately(),
                "queue": queue,
            }
        )


def _queue() -> dict[str, Any]:
    """What waits: how much of each kind, and the first of it."""
    pending = ReviewItem.objects.filter(status=Status.PENDING)
    counts = dict(pending.order_by().values_list("item_type").annotate(Count("pk")))
    kinds = [(kind, kind.replace("-", " ").capitalize(), counts[kind]) for kind in ItemType.values if kind in counts]
    first = list(pending.order_by("-rank", "created_at").only("pk", "title", "item_type")[:_FIRST])
    return {"total": sum(counts.values()), "kinds": kinds, "first": first}
