"""GET /drafts: texts that met a newer version, to be applied or discarded."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class Drafts(DeskView):
    """All drafts."""

    template_name = "desk/drafts.html"
    section = "drafts"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list."""
        return self.page({})
