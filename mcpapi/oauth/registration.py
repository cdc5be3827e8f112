"""Registration of clients (RFC 7591), open to all and bounded: a client can do nothing until somebody lets it in."""

from __future__ import annotations

import secrets
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from oauth2_provider.models import AbstractApplication, get_application_model

from mcpapi.oauth.clients import GRANT_TYPES, digest_of_secret, fault_in_name, make_room
from mcpapi.oauth.noting import note
from mcpapi.oauth.pages import Offered
from mcpapi.oauth.redirects import fault_in_all
from vault.errors import SynapseError
from vault.history import Author
from vault.strict_json import loads_object
from wiki import throttling
from wiki.throttling import Kind

Application = get_application_model()

#: How a client may say who it is at the token endpoint; the first has no secret.
AUTH_METHODS: Final = ("none", "client_secret_basic", "client_secret_post")
_MAX_BYTES: Final = 16_384


class UnfitClientError(ValueError):
    """What a client says of itself is refused; ``error`` is the code of RFC 7591, section 3.2.2."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error = error


@method_decorator(csrf_exempt, name="dispatch")
class Registration(Offered, View):
    """POST /register. Whoever registers twice has two clients; those that nobody lets in are forgotten."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a client, and answer what it is called."""
        try:
            throttling.check(throttling.address_of(request.META.get("REMOTE_ADDR")), Kind.REGISTRATIONS)
            metadata = _read(request)
            method = metadata.get("token_endpoint_auth_method", AUTH_METHODS[1])
            if method not in AUTH_METHODS:
                raise UnfitClientError(
                    "invalid_client_metadata", f"token_endpoint_auth_method is one of {', '.join(AUTH_METHODS)}."
                )
            make_room()
            with transaction.atomic():
                client, secret = _make(metadata, is_public=method == AUTH_METHODS[0])
                note("register", client, Author("stranger", "oauth"))
        except SynapseError as error:
            response = _error("temporarily_unavailable", error.message, error.status)
            if "retry_after" in error.repair:
                response["Retry-After"] = str(error.repair["retry_after"])
            return response
        except UnfitClientError as error:
            return _error(error.error, str(error), 400)
        return _answer(client, method, secret)


def _read(request: HttpRequest) -> dict[str, Any]:
    if len(request.body) > _MAX_BYTES:
        raise UnfitClientError("invalid_client_metadata", f"Send at most {_MAX_BYTES} bytes.")
    try:
        metadata = loads_object(request.body)
    except SynapseError:
        raise UnfitClientError("invalid_client_metadata", "Send one JSON object (RFC 7591, section 2).") from None
    metadata = {key: value for key, value in metadata.items() if value is not None}
    addresses = metadata.get("redirect_uris")
    if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
        raise UnfitClientError("invalid_redirect_uri", "redirect_uris is a list of addresses.")
    if fault := fault_in_all(addresses):
        raise UnfitClientError("invalid_redirect_uri", fault)
    if fault := fault_in_name(metadata.get("client_name", "")):
        raise UnfitClientError("invalid_client_metadata", fault)
    for key, needed in (("grant_types", GRANT_TYPES[0]), ("response_types", "code")):
        asked = metadata.get(key, [needed])
        if not isinstance(asked, list) or needed not in asked:
            raise UnfitClientError("invalid_client_metadata", f"{key} must have {needed} in it.")
    return metadata


def _make(metadata: dict[str, Any], *, is_public: bool) -> tuple[Any, str]:
    secret = "" if is_public else secrets.token_urlsafe(32)
    client = Application(
        name=metadata.get("client_name", ""),
        redirect_uris=" ".join(metadata["redirect_uris"]),
        client_type=AbstractApplication.CLIENT_PUBLIC if is_public else AbstractApplication.CLIENT_CONFIDENTIAL,
        authorization_grant_type=AbstractApplication.GRANT_AUTHORIZATION_CODE,
        registration_source=AbstractApplication.RegistrationSource.DCR,
        client_secret=digest_of_secret(secret) if secret else "",
        hash_client_secret=False,
    )
    try:
        client.full_clean()
    except ValidationError:
        raise UnfitClientError("invalid_redirect_uri", "One of the redirect addresses can't be read.") from None
    client.save()
    return client, secret


def _answer(client: Any, method: str, secret: str) -> HttpResponse:
    described = {
        "client_id": client.client_id,
        "client_id_issued_at": int(client.created.timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris.split(),
        "grant_types": list(GRANT_TYPES),
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        **({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}),
    }
    return _uncached(JsonResponse(described, status=201))


def _error(error: str, description: str, status: int) -> HttpResponse:
    return _uncached(JsonResponse({"error": error, "error_description": description}, status=status))


def _uncached(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
