"""REST addresses, each with and without its trailing slash and never a redirect."""

from __future__ import annotations

from django.urls import re_path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerView

from wiki.api import views
from wiki.api.pages import PageViewSet

ID = f"(?P<id>{PageViewSet.lookup_value_regex})"


def _pages(**methods: str):  # type: ignore[no-untyped-def]
    return PageViewSet.as_view(methods)


urlpatterns = [
    re_path(r"^pages/?$", _pages(get="list", post="create"), name="pages"),
    re_path(r"^pages/by-title/?$", _pages(get="by_title"), name="page-by-title"),
    re_path(rf"^pages/{ID}/?$", _pages(get="retrieve", put="update", delete="destroy"), name="page"),
    re_path(rf"^pages/{ID}/history/?$", _pages(get="history"), name="page-history"),
    re_path(rf"^pages/{ID}/restore/?$", _pages(post="restore"), name="page-restore"),
    re_path(rf"^pages/{ID}/move/?$", _pages(post="move"), name="page-move"),
    re_path(rf"^pages/{ID}/retitle/?$", _pages(post="retitle"), name="page-retitle"),
    re_path(r"^search/?$", views.SearchView.as_view(), name="search"),
    re_path(r"^graph/neighborhood/?$", views.NeighborhoodView.as_view(), name="neighborhood"),
    re_path(r"^sources/?$", views.SourceListView.as_view(), name="sources"),
    re_path(r"^sources/rescan/?$", views.RescanView.as_view(), name="rescan"),
    re_path(r"^sources/(?P<path>.+)$", views.SourceView.as_view(), name="source"),
    re_path(r"^status/?$", views.StatusView.as_view(), name="status"),
    re_path(r"^health/live/?$", views.LiveView.as_view(), name="live"),
    re_path(r"^health/ready/?$", views.ReadyView.as_view(), name="ready"),
    re_path(r"^openapi\.json$", SpectacularJSONAPIView.as_view(), name="openapi"),
    re_path(r"^docs/?$", SpectacularSwaggerView.as_view(url_name="openapi"), name="docs"),
]
