"""GET /map: the whole graph at a glance."""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_vary_headers

from desk.views.base import DeskView
from wiki import jobs
from wiki.graph.layout import drawn_map, is_stale, map_state
from wiki.models import Edge, Page, PagePlace

#: Communities that are listed, the largest first, and pages of each, the most tied first.
_COMMUNITIES: Final = 40
_PAGES: Final = 12
_NOTHING: Final = gzip.compress(b"{}", mtime=0)


@dataclass(frozen=True, slots=True)
class Community:
    """Pages that belong together: how many, and the first of them."""

    number: int
    size: int
    pages: list[Page]


class MapPage(DeskView):
    """The map: drawn by a script, and as a list of communities where there is none."""

    template_name = "desk/map.html"
    section = "map"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The page around the map. If the index has changed since, a job brings it up to date."""
        stale = is_stale()
        if stale and not jobs.is_waiting("layout"):
            jobs.ask_for_map()
        return self.page({"state": map_state(), "stale": stale, "communities": communities()})


class Drawn(DeskView):
    """GET /map/drawn: what the script draws, as the job kept it. Compressed once, not for each reader."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """The picture of :mod:`wiki.graph.picture`; 304 where the browser has it, 404 before the first map."""
        state = map_state()
        if state is None:
            return HttpResponse(b"{}", status=404, content_type="application/json")
        tag = f'"{state.data_version}-{state.made_at.timestamp():.6f}"'
        response = get_conditional_response(request, etag=tag)
        if response is None:
            kept = drawn_map() or _NOTHING
            packed = "gzip" in request.headers.get("Accept-Encoding", "")
            response = HttpResponse(kept if packed else gzip.decompress(kept), content_type="application/json")
            if packed:
                response["Content-Encoding"] = "gzip"
        response["ETag"] = tag
        patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
        return response


def communities() -> list[Community]:
    """The communities of the map as it was last made. Rows are read, nothing computed."""
    places = PagePlace.objects.filter(community__lt=_COMMUNITIES, page__deleted_at__isnull=True)
    of = dict(places.values_list("page_id", "community"))
    ties: dict[int, int] = defaultdict(int)
    for end in ("a_id", "b_id"):
        for pk, count in Edge.objects.order_by().values_list(end).annotate(Count("pk")):
            ties[pk] += count
    members: dict[int, list[int]] = defaultdict(list)
    for pk, community in sorted(of.items(), key=lambda row: (-ties[row[0]], row[0])):
        members[community or 0].append(pk)
    first = [pk for pks in members.values() for pk in pks[:_PAGES]]
    rows: dict[int, Any] = Page.objects.only("pk", "title", "path", "type").in_bulk(first)
    return [
        Community(number, len(pks), [rows[pk] for pk in pks[:_PAGES] if pk in rows])
        for number, pks in sorted(members.items())
    ]
