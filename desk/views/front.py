"""GET /: what there is, what changed, what waits, and what to do next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class FrontPage(DeskView):
    """The front page."""

    template_name = "desk/front.html"
    section = "front"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The front page."""
        return self.page({})
