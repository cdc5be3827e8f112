"""Codes and refresh tokens for access tokens, and their end: POST /token and POST /revoke."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import get_access_token_model
from oauth2_provider.views import RevokeTokenView, TokenView

from mcpapi.oauth.addresses import issuer_of
from mcpapi.oauth.guidance import how_to_register
from mcpapi.oauth.pages import Offered

AccessToken = get_access_token_model()


@method_decorator(csrf_exempt, name="dispatch")
class IssueToken(Offered, TokenView):  # type: ignore[misc]
    """RFC 6749, section 3.2. A client that is not known is told how it becomes one."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The tokens, or why there are none. Other grants than codes and refresh tokens are not known here."""
        try:
            response: HttpResponse = self.authorization_flow_token_response(request)
        except AccessToken.DoesNotExist:
            # Between its making and its look-up for a signal the code was shown again, which ended what came of it.
            why = "The code was shown again, which ended what came of it."
            response = JsonResponse({"error": "invalid_grant", "error_description": why}, status=400)
        return _explained(request, response)


@method_decorator(csrf_exempt, name="dispatch")
class RevokeToken(Offered, RevokeTokenView):  # type: ignore[misc]
    """RFC 7009. A token that is not this client's is answered like one that is gone already."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Nothing, or why the client may not ask."""
        response: HttpResponse = super().post(request, *args, **kwargs)
        return _explained(request, response)


def _explained(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    if response.status_code != 401 or not response.content:
        return response
    body = json.loads(response.content)
    if body.get("error") == "invalid_client":
        response.content = json.dumps({**body, **how_to_register(str(issuer_of(request)), proved=True)}).encode()
    return response
