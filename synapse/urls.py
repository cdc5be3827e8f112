"""Every address but /mcp, which the ASGI application answers before Django."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from wiki import paced_login

admin.autodiscover()

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", paced_login.login),
    path("admin/", admin.site.urls),
    path("", include("wiki.urls")),
    path("", include("reviews.urls")),
    path("", include("mcpapi.oauth.urls")),
    path("admin", RedirectView.as_view(url="/admin/", permanent=False)),
    path("", include("desk.urls")),
]

handler400 = "wiki.api.exceptions.bad_request"
handler403 = "desk.views.failures.permission_denied"
handler404 = "desk.views.failures.not_found"
handler500 = "desk.views.failures.server_error"
