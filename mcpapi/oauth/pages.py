"""What the pages for people have in common: readable without scripts, and nothing from elsewhere in them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.generic.base import ContextMixin, TemplateResponseMixin, View

from mcpapi.oauth.addresses import issuer_of

if TYPE_CHECKING:

    class _Base(TemplateResponseMixin, ContextMixin, View):
        pass
else:
    _Base = object

#: Browsers hold the redirects that follow a form to form-action too, and where they lead in the end the client knows.
_POLICY = (
    "default-src 'none'; style-src 'nonce-{nonce}'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self' https: http://localhost:* http://127.0.0.1:*"
)


class Offered:
    """A view that is there only where people may sign in (:func:`~mcpapi.oauth.addresses.issuer`)."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The view's answer; 404 where nobody may sign in, 400 for a NUL, which some databases can't look for."""
        if issuer_of(request) is None:
            raise Http404
        given = [*request.GET.lists(), *request.POST.lists()]
        if any("\0" in text for name, values in given for text in (name, *values)):
            told = {"error": "invalid_request", "error_description": "Send no NUL character."}
            return JsonResponse(told, status=400)
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)  # type: ignore[misc]
        return answer


class Page(Offered, _Base):
    """A view that shows a page: in no frame, in no cache, with no word to the next site about where it was."""

    def render_to_response(self, context: dict[str, Any], **options: Any) -> HttpResponse:
        """The page with its headers."""
        nonce = secrets.token_urlsafe(16)
        response = super().render_to_response({**context, "nonce": nonce}, **options)
        response["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
        response["X-Frame-Options"] = "DENY"
        # Not no-referrer: with it browsers send forms from "null", which the check against forged forms refuses.
        response["Referrer-Policy"] = "same-origin"
        response["Cache-Control"] = "no-store"
        # A client that opened this page in a window of its own waits there for the answer.
        response["Cross-Origin-Opener-Policy"] = "unsafe-none"
        return response
