"""REST addresses, each with and without its trailing slash and never a redirect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from wiki.api import prime, views
from wiki.api.addresses import at
from wiki.api.pages import PageViewSet

_ID = f"(?P<id>{PageViewSet.lookup_value_regex})"


def _pages(**methods: Any) -> Callable[..., HttpResponseBase]:
    return PageViewSet.as_view(methods)


urlpatterns = [
    at("pages", _pages(get="list", post="create"), "pages"),
    at("pages/by-title", _pages(get="by_title"), "page-by-title"),
    at(f"pages/{_ID}", _pages(get="retrieve", put="update", delete="destroy"), "page"),
    at(f"pages/{_ID}/history", _pages(get="history"), "page-history"),
    at(f"pages/{_ID}/restore", _pages(post="restore"), "page-restore"),
    at(f"pages/{_ID}/move", _pages(post="move"), "page-move"),
    at(f"pages/{_ID}/retitle", _pages(post="retitle"), "page-retitle"),
    at("search", views.SearchView.as_view(), "search"),
    at("graph/neighborhood", views.NeighborhoodView.as_view(), "neighborhood"),
    at("sources", views.SourceListView.as_view(), "sources"),
    at("sources/rescan", views.RescanView.as_view(), "rescan"),
    # A path may hold any character, line breaks too: what is not allowed is for the service to refuse.
    at(r"sources/(?P<path>(?s:.+?))", views.SourceView.as_view(), "source"),
    at("prime/query", prime.PrimeQueryView.as_view(), "prime-query"),
    at("prime/resolve", prime.PrimeResolveView.as_view(), "prime-resolve"),
    at("prime/intent", prime.PrimeIntentView.as_view(), "prime-intent"),
    at("prime/validate", prime.PrimeValidateView.as_view(), "prime-validate"),
    at("prime/compile", prime.PrimeCompileView.as_view(), "prime-compile"),
    at("status", views.StatusView.as_view(), "status"),
    at("health/live", views.LiveView.as_view(), "live"),
    at("health/ready", views.ReadyView.as_view(), "ready"),
    at(r"openapi\.json", SpectacularJSONAPIView.as_view(), "openapi"),
    # A page for people: what OPTIONS would tell, its renderer has no template for.
    at("docs", SpectacularSwaggerSplitView.as_view(url_name="openapi", http_method_names=["get", "head"]), "docs"),
]
