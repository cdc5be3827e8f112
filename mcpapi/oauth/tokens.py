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
from wiki.prepared import Prepared
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
    username: str
    scope: str


#: The columns that decide. Whole rows of three tables would cost twice the time, at each call of a tool.
_COLUMNS: Final = (
    "expires",
    "scope",
    "resource",
    "application__name",
    "application__client_id",
    "application__registration_source",
    "user__pk",
    "user__username",
    "user__is_active",
    "user__is_staff",
    "user__is_superuser",
)


# Nothing of the answer is kept, so a token that was revoked is refused at once.
_FOUND: Final = Prepared[tuple[Any, ...]](
    lambda digest: get_access_token_model().objects.filter(token_checksum=digest).values_list(*_COLUMNS),
    digest="\x1f the digest",
)


def find(raw: str, own: str | None) -> Granted | None:
    """Whom this access token stands for, at the issuer ``own``; None if it does not hold here and now.

    It holds until it expires or is revoked, while its person is active and its client admitted, and for the resource
    that it was made for. A token that names no resource is refused. One query; a second pair for staff whose token may
    do more than read.
    """
    if own is None or not is_access_token(raw):
        return None
    digest = hashlib.sha256(raw.encode()).hexdigest()
    for row in _FOUND.rows(digest=digest):
        expires, scopes, resources, name, client_id, source, pk, username, active, staff, superuser = row
        held = widest(scopes)
        if not (active and client_id and held and expires > timezone.now() and is_admitted(client_id, source)):
            return None
        if not resources or not all(is_own_resource(resource, own) for resource in resources):
            return None
        person = User(pk=pk, is_active=active, is_staff=staff, is_superuser=superuser)
        return Granted(name or client_id, username, no_more_than_theirs(held, person))
    return None


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
