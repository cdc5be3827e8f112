"""Addresses of the desk. A page's path ends in `.md`, so what follows it can't be taken for a part of it."""

from __future__ import annotations

from django.urls import path, re_path

from desk.views import drafts, files, front, keys, map, reading, searching

app_name = "desk"

urlpatterns = [
    path("", front.FrontPage.as_view(), name="front"),
    path("keys", keys.Keys.as_view(), name="keys"),
    path("map", map.MapPage.as_view(), name="map"),
    path("drafts", drafts.Drafts.as_view(), name="drafts"),
    path("read", searching.Read.as_view(), name="read"),
    path("read/", searching.Read.as_view()),
    # A path may hold any character, line breaks too: what is not allowed is for the service to refuse.
    re_path(r"^raw-file/(?P<path>(?s:.+))\Z", files.RawFile.as_view(), name="raw-file"),
    re_path(r"^read/(?P<path>(?s:.+))\Z", reading.PageView.as_view(), name="page"),
]
