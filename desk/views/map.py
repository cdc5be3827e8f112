"""GET /map: the whole graph at a glance."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from desk.views.base import DeskView


class MapPage(DeskView):
    """The map: drawn by a script, and as a list of communities where there is none."""

    template_name = "desk/map.html"
    section = "map"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page around the map."""
        return self.page({})
