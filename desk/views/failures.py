"""What a browser is shown where no view answers, or one has failed; programs get the envelope."""

from __future__ import annotations

import sys
from typing import Any, Final
from urllib.parse import unquote

from django.contrib import admin
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string

from desk.views.base import DeskView
from wiki import faults
from wiki.api import exceptions

#: First parts of addresses that programs ask for: whatever is below them answers in JSON, whoever asks.
FOR_PROGRAMS: Final = frozenset(
    {"api", "mcp", "pages", "search", "graph", "sources", "prime", "status", "health", "openapi.json", "review"}
    | {"research", "register", "token", "revoke", ".well-known", "static", "raw-file"}
)
_LONGEST: Final = 200


class NoPage(DeskView):
    """An address at which there is nothing, told in the frame of the desk."""

    template_name = "desk/nothing.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page, whatever the method."""
        self.setup(request)
        name = unquote(request.path.rstrip("/").rpartition("/")[2]).strip()[:_LONGEST]
        return self.page({"name": name}, status=404)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Django's 404: where to go on for those who may look around here, and nothing of the kind for all others."""
    if not is_for_a_person(request):
        return exceptions.not_found(request, exception)
    try:
        if admin.site.has_permission(request):
            return NoPage.as_view()(request)
    except DatabaseError:
        return server_error(request)
    return _bare("There is nothing at this address.", 404)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 403: an account that lacks a permission."""
    if not is_for_a_person(request):
        return exceptions.permission_denied(request, exception)
    return _bare("Your account may not do this. Whoever runs this Synapse can give it the permission.", 403)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's 500; 503 where it is the database that failed. Drawn without it, and without asking who is there."""
    if not is_for_a_person(request):
        return exceptions.server_error(request)
    error = sys.exception()
    away = faults.as_error(error) if error else None
    if away is None:
        return _bare("Something went wrong here. The server's log has the place.", 500)
    response = _bare(away.message, away.status)
    if "retry_after" in away.repair:
        response["Retry-After"] = str(away.repair["retry_after"])
    return response


def is_for_a_person(request: HttpRequest) -> bool:
    """Whether a browser asks for a page to be looked at; ``*/*`` alone, as programs send it, is no such wish."""
    first = request.path.lstrip("/").partition("/")[0]
    return first not in FOR_PROGRAMS and "text/html" in request.headers.get("Accept", "").lower()


def _bare(message: str, status: int) -> HttpResponse:
    return HttpResponse(
        render_to_string("desk/bare.html", {"message": message, "missing": status == 404}), status=status
    )
