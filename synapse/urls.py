"""Every address but /mcp, which the ASGI application answers before Django."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("", include("wiki.urls")),
    path("", RedirectView.as_view(url="/admin/", permanent=False)),
]
