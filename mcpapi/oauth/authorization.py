"""GET and POST /authorize: who the person is, what is asked of them, and their answer."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from django.http import HttpRequest, HttpResponse, JsonResponse
from oauth2_provider.exceptions import FatalClientError, OAuthToolkitError
from oauth2_provider.models import AbstractApplication, get_application_model
from oauth2_provider.views import AuthorizationView
from oauthlib.oauth2.rfc6749 import errors

from mcpapi.oauth.addresses import issuer_of
from mcpapi.oauth.clients import is_admitted
from mcpapi.oauth.guidance import how_to_register
from mcpapi.oauth.noting import note
from mcpapi.oauth.pages import Page
from mcpapi.oauth.redirects import shown_host
from mcpapi.oauth.scopes import MEANING, grantable
from mcpapi.oauth.validator import require_own_resources
from vault.history import Author
from wiki.authentication import actor_name
from wiki.models import Scope

Application = get_application_model()

#: Parameters that would leave the question out, or ask for what is not had here.
_IGNORED: Final = ("approval_prompt",)
#: What of a fatal error is told to the person; a redirect address that is not the client's is never named.
_UNKNOWN_CLIENT: Final = (errors.InvalidClientIdError, errors.MissingClientIdError)


class Authorize(Page, AuthorizationView):  # type: ignore[misc]
    """The consent page. It is always shown: a client that has been let in before is asked about again."""

    template_name = "mcpapi/oauth/authorize.html"
    login_url = "/login"

    def handle_no_permission(self) -> HttpResponse:
        """Send the person to sign in, unless the client is not even known: then there is no reason to."""
        try:
            self.validate_authorization_request(self.request)
        except FatalClientError as error:
            answer: HttpResponse = self.error_response(error, application=None)
            return answer
        except OAuthToolkitError:
            # It goes to the client after the sign-in: without one this would send anybody to any address
            # (RFC 9700, 4.11.2).
            pass
        to_login: HttpResponse = super().handle_no_permission()
        return to_login

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask the person."""
        request.GET = request.GET.copy()  # type: ignore[assignment]
        for name in _IGNORED:
            request.GET.pop(name, None)  # type: ignore[misc]
        answer: HttpResponse = super().get(request, *args, **kwargs)
        return answer

    def validate_authorization_request(self, request: HttpRequest) -> tuple[list[str], dict[str, Any]]:
        """What is asked for, cut down to what is offered and to what the person may grant.

        Raises OAuthToolkitError, also without S256 and for any resource but this server's.
        """
        scopes, credentials = super().validate_authorization_request(request)
        try:
            if credentials.get("code_challenge_method") != "S256":
                raise errors.InvalidRequestError(
                    description="Send code_challenge_method=S256.", state=credentials.get("state")
                )
            require_own_resources(request.GET.getlist("resource"), issuer_of(request), state=credentials.get("state"))
        except errors.OAuth2Error as error:
            raise OAuthToolkitError(error=error, redirect_uri=credentials["redirect_uri"]) from None
        if request.user.is_authenticated:
            scopes = grantable(request.user, scopes)
        return scopes, credentials

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """What the page tells: who asks, for whom, for what, and where the answer goes."""
        application = context["application"]
        is_document = application.registration_source == AbstractApplication.RegistrationSource.CIMD
        return {
            **super().get_context_data(**context),
            "client_name": application.name or "A client without a name",
            "client_host": urlsplit(application.client_id).netloc if is_document else "",
            "is_known": application.registration_source == AbstractApplication.RegistrationSource.MANUAL,
            "redirect_host": shown_host(context["redirect_uri"]),
            "scopes_asked": [
                {"name": scope, "meaning": MEANING[scope], "is_optional": scope != Scope.READ}
                for scope in context["scopes"]
            ],
        }

    def form_valid(self, form: Any) -> HttpResponse:
        """Send the answer to the client, with the scopes that the person left ticked."""
        # Before anything is sent anywhere: what comes with the form is as little to be trusted as the address was.
        client = Application.objects.filter(client_id=form.cleaned_data["client_id"]).first()
        if client is None or not is_admitted(client.client_id, client.registration_source):
            return self._show_error(errors.InvalidClientIdError(), 400)
        if not client.redirect_uri_allowed(form.cleaned_data["redirect_uri"]):
            return self._show_error(errors.MismatchingRedirectURIError(), 400)
        asked = form.cleaned_data["scope"].split()
        ticked = {Scope.READ, *self.request.POST.getlist("grant")}
        form.cleaned_data["scope"] = " ".join(scope for scope in asked if scope in ticked) or Scope.READ.value
        answer: HttpResponse = super().form_valid(form)
        if form.cleaned_data.get("allow"):
            who = Author(actor_name(self.request.user), "oauth")
            note("let-in", client, who, scope=form.cleaned_data["scope"])
        return answer

    def form_invalid(self, form: Any) -> HttpResponse:
        """A form that is not ours: say so, without going anywhere."""
        return self._show_error(errors.InvalidRequestFatalError(description="The form is not complete."), 400)

    def error_response(self, error: OAuthToolkitError, application: Any, **context: Any) -> HttpResponse:
        """To the client, or a page where the client is not known or its address is not its own."""
        if isinstance(error, FatalClientError):
            return self._show_error(error.oauthlib_error, 400)
        answer: HttpResponse = super().error_response(error, application, **context)
        return answer

    def redirect(self, redirect_to: str, application: Any) -> HttpResponse:
        """To the client, and with the issuer on errors too (RFC 9207, section 2)."""
        parts = urlsplit(redirect_to)
        query = [(name, value) for name, value in parse_qsl(parts.query, keep_blank_values=True) if name != "iss"]
        named = urlencode([*query, ("iss", str(issuer_of(self.request)))])
        answer: HttpResponse = super().redirect(urlunsplit(parts._replace(query=named)), application)
        answer["Cache-Control"] = "no-store"
        answer["Referrer-Policy"] = "no-referrer"
        return answer

    def _show_error(self, error: errors.OAuth2Error, status: int) -> HttpResponse:
        told = {"error": error.error, "error_description": error.description or "The request can't be answered."}
        if isinstance(error, _UNKNOWN_CLIENT):
            told = {"error": "invalid_client", **how_to_register(str(issuer_of(self.request)))}
        if "text/html" not in self.request.headers.get("Accept", "text/html"):
            return JsonResponse(told, status=status)
        return self.render_to_response({"fault": told}, status=status)
