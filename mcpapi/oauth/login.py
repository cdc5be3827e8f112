"""GET and POST /login, POST /logout: for everybody with an account; the admin's own page admits staff only."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from mcpapi.oauth.pages import Offered, Page
from vault.errors import SynapseError
from wiki import throttling
from wiki.throttling import Kind


class Login(Page, LoginView):
    """Name and password; then on to where the person came from, which is on this server or nowhere."""

    template_name = "mcpapi/oauth/login.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Try a password, within what one address and one account may try in a minute."""
        try:
            throttling.check(throttling.address_of(request.META.get("REMOTE_ADDR")), Kind.LOGINS)
            throttling.check(f"account:{request.POST.get('username', '')[:150].casefold()}", Kind.LOGINS)
        except SynapseError as error:
            form = self.get_form_class()(request)
            response = self.render_to_response(
                self.get_context_data(form=form, wait=error.repair["retry_after"]), status=error.status
            )
            response["Retry-After"] = str(error.repair["retry_after"])
            return response
        answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer

    def get_default_redirect_url(self) -> str:
        """Without a place to go: here, where the page says who is signed in."""
        return reverse("oauth2_provider:login")


class Logout(Offered, LogoutView):  # type: ignore[misc]
    """The end of the session."""

    http_method_names = ["post"]
    next_page = "/login"
