"""GET /read/<path>: one page, rendered, with what lies around it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class PageView(DeskView):
    """One page."""

    template_name = "desk/page.html"
    section = "read"

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """The page."""
        return self.page({})
