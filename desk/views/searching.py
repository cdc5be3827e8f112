"""GET /read: search where something is asked, else all pages by title."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class Read(DeskView):
    """Search, or the list of pages."""

    template_name = "desk/list.html"
    section = "read"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The results, or the list."""
        return self.page({})
