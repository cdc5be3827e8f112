"""The admin's login, within what one address and one account may try in a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from vault.errors import SynapseError
from wiki import throttling
from wiki.throttling import Kind

if TYPE_CHECKING:
    from django.contrib.admin.forms import AdminAuthenticationForm as _Form
else:
    from unfold.forms import AuthenticationForm as _Form


#: Where a request keeps the seconds that it was told to wait.
_WAIT: Final = "synapse.wait"


def login(request: HttpRequest) -> HttpResponse:
    """The admin's page for signing in; 429 with ``Retry-After`` where there were too many attempts."""
    answer = admin.site.login(request)
    if wait := request.META.get(_WAIT):
        answer.status_code = 429
        answer["Retry-After"] = str(wait)
    return answer


class LoginForm(_Form):
    """Name and password; no password is looked at beyond the limit, be it right or wrong."""

    def clean(self) -> dict[str, Any]:
        """The person, in ``user_cache``. ValidationError with the seconds to wait where there were too many."""
        address = self.request.META.get("REMOTE_ADDR") if self.request is not None else None
        try:
            throttling.check(throttling.address_of(address), Kind.LOGINS)
            throttling.check(f"account:{self.cleaned_data.get('username', '')[:150].casefold()}", Kind.LOGINS)
        except SynapseError as error:
            if self.request is not None:
                self.request.META[_WAIT] = error.repair["retry_after"]
            raise ValidationError(
                f"Too many attempts. Wait {error.repair['retry_after']} seconds, then try again.", code="rate_limited"
            ) from None
        return super().clean()
