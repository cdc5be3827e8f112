"""Who is calling, and what they may do: bearer tokens and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from vault.errors import ErrorCode, SynapseError
from wiki.models import Scope, Token
from wiki.throttling import known
from wiki.tokens import find_token, includes, last_used, scope_in_force, scope_of_person

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module by its settings


@dataclass(frozen=True)
class TokenUser:
    """Stands where Django expects a user, for a caller that shows a token."""

    token: Token
    is_authenticated: bool = True
    is_active: bool = True
    is_staff: bool = False

    @property
    def pk(self) -> str:
        return f"token:{self.token.pk}"


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer <token>``. A token in a query string is never looked at."""

    def authenticate(self, request: Request) -> tuple[Any, Token] | None:
        """The token's stand-in user and the token; None when the header is absent (a session may do)."""
        scheme, _, raw = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        token = find_token(raw.strip().decode("latin-1"))
        if token is None:
            raise SynapseError(
                ErrorCode.UNAUTHENTICATED,
                "The token is not known, has expired or was revoked. Make one with `manage.py token create`.",
            )
        last_used.note(token)
        known.add(get_authorization_header(request))
        return TokenUser(token), token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 tells the caller to send."""
        return 'Bearer realm="synapse"'


class BrowserSession(SessionAuthentication):
    """The session of a person who is logged in; a change also needs the CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """Refuse (``forbidden``) a change that another site could have had the browser send."""
        try:
            super().enforce_csrf(request)
        except PermissionDenied:
            raise SynapseError(
                ErrorCode.FORBIDDEN,
                "A change in a session needs the CSRF token: send the value of the cookie "
                f"{settings.CSRF_COOKIE_NAME} as X-CSRFToken. A program had better use a token.",
            ) from None


def scopes_of(user: User | AnonymousUser | TokenUser | Any) -> frozenset[Scope]:
    """The scopes a caller has, a token's or a person's; each includes those before it."""
    if isinstance(user, TokenUser):
        widest = scope_in_force(user.token)
    elif user and user.is_authenticated and user.is_active:
        widest = scope_of_person(user)
    else:
        return frozenset()
    return frozenset(scope for scope in Scope if includes(widest, scope))


def actor_name(user: Any) -> str:
    """How a caller is named in history and audit."""
    return f"token:{user.token.name}" if isinstance(user, TokenUser) else f"user:{user.get_username()}"


class HasScope(BasePermission):
    """Reading needs ``read``, any other method ``write``."""

    to_change = Scope.WRITE

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether the caller has the scope that the method needs."""
        needed = Scope.READ if request.method in ("GET", "HEAD", "OPTIONS") else self.to_change
        return needed in scopes_of(request.user)


class MayPropose(HasScope):
    """Reading needs ``read``, any other method ``propose``: for what changes no page and decides nothing."""

    to_change = Scope.PROPOSE


class MayRead(HasScope):
    """Any method needs ``read``: for questions that are too long for an address, and change nothing."""

    to_change = Scope.READ
