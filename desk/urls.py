"""Addresses of the desk. A page's path ends in `.md`, so what follows it can't be taken for a part of it."""

from __future__ import annotations

from django.urls import path, re_path

from desk.views import drafts, files, front, history, keys, map, reading, searching

app_name = "desk"
_PAGE = r"(?P<path>(?s:.+)\.[mM][dD])"

urlpatterns = [
    path("", front.FrontPage.as_view(), name="front"),
    path("keys", keys.Keys.as_view(), name="keys"),
    path("map", map.MapPage.as_view(), name="map"),
    path("map/drawn", map.Drawn.as_view(), name="map-drawn"),
    path("drafts", drafts.Drafts.as_view(), name="drafts"),
    path("read", searching.Read.as_view(), name="read"),
    path("read/", searching.Read.as_view()),
    # A path may hold any character, line breaks too: what is not allowed is for the service to refuse.
    re_path(r"^raw-file/(?P<path>(?s:.+))\Z", files.RawFile.as_view(), name="raw-file"),
    path("drafts/<str:draft_id>", drafts.Draft.as_view(), name="draft"),
    re_path(rf"^read/{_PAGE}/history\Z", history.History.as_view(), name="history"),
    re_path(rf"^read/{_PAGE}/restore\Z", history.Restore.as_view(), name="restore"),
    re_path(rf"^read/{_PAGE}/links\Z", reading.MentionsView.as_view(), name="links"),
    re_path(r"^read/(?P<path>(?s:.+))\Z", reading.PageView.as_view(), name="page"),
]
