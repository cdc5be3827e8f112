"""Access and refresh tokens: their form, and who shows one. The database keeps their SHA-256 only.

They begin like static tokens do, so that logs leave them out, and no REST address takes them: their form is another.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import uuid
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model

from mcpapi.oauth.addresses import is_own_resource
from mcpapi.oauth.clients import is_admitted
from mcpapi.oauth.scopes import widest
from wiki.tokens import no_more_than_theirs

ACCESS_PREFIX: Final = "syn_oa_"
REFRESH_PREFIX: Final = "syn_or_"
_FORM: Final = re.compile(r"syn_oa_[A-Za-z0-9_-]{43}")


def new_access_token(request: Any, refresh_token: bool = False) -> str:
    """256 random bits; the arguments are what the protocol's library passes."""
    return ACCESS_PREFIX + secrets.token_urlsafe(32)


def new_refresh_token(request: Any, refresh_token: bool = False) -> str:
    """256 random bits; the arguments are what the protocol's library passes."""
    return REFRESH_PREFIX + secrets.token_urlsafe(32)


def is_access_token(raw: str) -> bool:
    """Has a text the form of an access token?"""
    return _FORM.fullmatch(raw) is not None


@dataclass(frozen=True, slots=True)
class Granted:
    """What an access token stands for: a client that acts for a person, with the scope in force now."""

    client: str
    user: User
    scope: str


def find(raw: str, own: str | None) -> Granted | None:
    """Whom this access token stands for, at the issuer ``own``; None if it does not hold here and now.

    It holds until it expires or is revoked, while its person is active, and for the resource that it was made for. A
    token that names no resource is refused. One query; a second pair for staff whose token may do more than read.
    """
    if own is None or not is_access_token(raw):
        return None
    digest = hashlib.sha256(raw.encode()).hexdigest()
    token = (
        get_access_token_model()
        .objects.select_related("application", "user")
        .filter(token_checksum=digest, expires__gt=timezone.now(), user__is_active=True)
        .first()
    )
    if token is None or token.application is None or not is_admitted(token.application) or not token.resource:
        return None
    if not all(is_own_resource(resource, own) for resource in token.resource):
        return None
    scope = widest(token.scope)
    if not scope:
        return None
    client = token.application
    return Granted(client.name or client.client_id, token.user, no_more_than_theirs(scope, token.user))


def family_of(code: str) -> uuid.UUID:
    """The family of the tokens that a code gives rise to: it finds them when the code is shown a second time."""
    return uuid.UUID(bytes=hashlib.sha256(b"code:" + code.encode("utf-8", "surrogatepass")).digest()[:16])


def end_all_of(client: Any) -> None:
    """Revoke what a client holds: codes, access and refresh tokens. The client itself stays, and may ask again."""
    now = timezone.now()
    with transaction.atomic():
        get_grant_model().objects.filter(application=client).delete()
        get_refresh_token_model().objects.filter(application=client, revoked__isnull=True).update(
            revoked=now, updated=now
        )
        get_access_token_model().objects.filter(application=client).delete()
