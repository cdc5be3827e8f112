"""GET /keys: what the keyboard does here."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class Keys(DeskView):
    """The keys, on a page of their own, so that no script is needed to read of them."""

    template_name = "desk/keys.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page."""
        return self.page({})
