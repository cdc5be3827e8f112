"""Clients that nobody here made: how many there may be, how long they last, and whose metadata documents are read.

A client is unused until a person has let it in: it has no code and no token. Strangers can make such clients, so there
is a limit to their number, and they are forgotten after a while. One that is used lasts as long as its tokens.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.http.request import validate_host
from django.utils import timezone
from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher
from oauth2_provider.models import (
    AbstractApplication,
    get_access_token_model,
    get_application_model,
    get_grant_model,
    get_refresh_token_model,
)

from mcpapi.oauth.redirects import fault_in_all
from vault.errors import ErrorCode, SynapseError

Application = get_application_model()

UNUSED_LIMIT: Final = 500
UNUSED_LASTS: Final = timedelta(days=7)
#: Somebody may be about to sign in with a client this young: it is not forgotten to make room for others.
SPARED: Final = timedelta(minutes=15)
MAX_NAME: Final = 80
GRANT_TYPES: Final = ("authorization_code", "refresh_token")
SECRET_PREFIX: Final = "sha256$"  # noqa: S105  (how it is kept, not a secret)
_BY_STRANGERS: Final = (AbstractApplication.RegistrationSource.DCR, AbstractApplication.RegistrationSource.CIMD)
_RETRY_SECONDS: Final = 900


def digest_of_secret(secret: str) -> str:
    """What is kept of the secret of a client that has registered."""
    return SECRET_PREFIX + hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def fault_in_name(name: Any) -> str | None:
    """Why a client may not be called so; None if it may."""
    if isinstance(name, str) and len(name) <= MAX_NAME and (not name or name.isprintable()):
        return None
    return f"client_name is a text of at most {MAX_NAME} printable characters."


def unused() -> QuerySet[Any]:
    """The clients made by strangers that no person has let in."""
    mine = {"application": OuterRef("pk")}
    rows = (get_grant_model(), get_access_token_model(), get_refresh_token_model())
    clients: QuerySet[Any] = Application.objects.filter(registration_source__in=_BY_STRANGERS)
    for row in rows:
        clients = clients.filter(~Exists(row.objects.filter(**mine)))
    return clients


def make_room() -> None:
    """Forget the oldest unused clients where UNUSED_LIMIT would be passed.

    Raises ``rate_limited`` where all of them are too young for that.
    """
    over = unused().count() + 1 - UNUSED_LIMIT
    if over <= 0:
        return
    old = unused().filter(updated__lt=timezone.now() - SPARED).order_by("updated").values_list("pk", flat=True)[:over]
    pks = list(old)
    Application.objects.filter(pk__in=pks).delete()
    if len(pks) < over:
        raise SynapseError(
            ErrorCode.RATE_LIMITED,
            "Too many clients have registered that nobody has let in yet. Try again in a quarter of an hour.",
            retry_after=_RETRY_SECONDS,
        )


def forget_unused() -> int:
    """Forget the clients that have been unused for UNUSED_LASTS; how many."""
    pks = list(unused().filter(updated__lt=timezone.now() - UNUSED_LASTS).values_list("pk", flat=True))
    Application.objects.filter(pk__in=pks).delete()
    return len(pks)


def is_admitted(client_id: str, source: str) -> bool:
    """May a client of this source act: one with a document only while SYNAPSE_OAUTH_CLIENT_HOSTS lists its host."""
    if source != AbstractApplication.RegistrationSource.CIMD:
        return True
    return validate_host(urlsplit(client_id).hostname or "", settings.SYNAPSE_OAUTH_CLIENT_HOSTS)


class DocumentFetcher(SafeMetadataFetcher):  # type: ignore[misc]
    """Reads a client's metadata document, and holds it to what a client that registers is held to.

    The toolkit connects to public addresses only, to the one that it has looked up, without following redirects,
    within a time and a size.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """The document and for how many seconds it holds. Raises CIMDError for one that is refused."""
        if not Application.objects.filter(client_id=client_id).exists():
            try:
                make_room()
            except SynapseError:
                raise CIMDError("too many unused clients") from None
        metadata, seconds = super().fetch(client_id)
        addresses = metadata.get("redirect_uris")
        if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
            raise CIMDError("redirect_uris must be an array of strings")
        fault = fault_in_all(addresses) or fault_in_name(metadata.get("client_name", ""))
        if fault:
            raise CIMDError(fault)
        kinds = metadata.get("grant_types", list(GRANT_TYPES))
        if isinstance(kinds, list) and GRANT_TYPES[0] in kinds:
            # A document is for every server; kinds of grants that are not had here do no harm.
            metadata = {**metadata, "grant_types": list(GRANT_TYPES)}
        return metadata, seconds
