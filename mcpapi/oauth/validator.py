"""The rules of this server's tokens, where the protocol's library asks for them."""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from oauth2_provider.models import get_access_token_model, get_grant_model, get_refresh_token_model
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749 import errors

from mcpapi.oauth.addresses import is_own_resource, issuer
from mcpapi.oauth.clients import SECRET_PREFIX, digest_of_secret, is_admitted
from mcpapi.oauth.codes import digest_of_code
from mcpapi.oauth.redirects import fault_in
from mcpapi.oauth.scopes import grantable, offered
from mcpapi.oauth.tokens import family_of

AccessToken = get_access_token_model()
Grant = get_grant_model()
RefreshToken = get_refresh_token_model()

#: A refresh token that is shown again this soon after it was used comes from a client that asks twice at once, and is
#: only refused. Later it is in two hands, and all that came of it ends.
TWICE_AT_ONCE: Final = timedelta(seconds=10)


def require_own_resources(resources: list[str], own: str | None, *, state: str | None = None) -> None:
    """Raises ``invalid_target`` (RFC 8707) unless there is a resource and all of them are this server's /mcp."""
    if own is None or not resources or not all(is_own_resource(resource, own) for resource in resources):
        named = f"{own}/mcp" if own else "this server's /mcp"
        raise errors.CustomOAuth2Error(
            error="invalid_target", description=f"Tokens are for one resource: send resource={named}.", state=state
        )


def _own_issuer(request: Any) -> str | None:
    secure = bool(request.headers.get("X_DJANGO_OAUTH_TOOLKIT_SECURE"))
    return issuer("https" if secure else "http", request.headers.get("HTTP_HOST", ""))


class Validator(OAuth2Validator):  # type: ignore[misc]
    """What the toolkit leaves open: one resource, S256 alone, reuse found out, people who are active."""

    def _load_application(self, client_id: str, request: Any) -> Any:
        """The client; None also for one whose host is on the list of SYNAPSE_OAUTH_CLIENT_HOSTS no more."""
        client = super()._load_application(client_id, request)
        if client is not None and not is_admitted(client.client_id, client.registration_source):
            request.client = client = None
        return client

    def _check_secret(self, provided_secret: str, stored_secret: str) -> bool:
        """A secret made by registration is 256 random bits: its SHA-256 does, and costs no time to compare."""
        if stored_secret.startswith(SECRET_PREFIX):
            return hmac.compare_digest(stored_secret, digest_of_secret(provided_secret))
        return bool(stored_secret) and bool(super()._check_secret(provided_secret, stored_secret))

    def validate_redirect_uri(self, client_id: str, redirect_uri: str, request: Any, *args: Any, **kwargs: Any) -> bool:
        """One of the client's, whoever wrote it there, and of a kind that codes may be sent to."""
        return fault_in(redirect_uri) is None and bool(
            super().validate_redirect_uri(client_id, redirect_uri, request, *args, **kwargs)
        )

    def validate_scopes(
        self, client_id: str, scopes: list[str], client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """Leave what is not offered out (RFC 6749, 3.3); refuse where that leaves nothing."""
        request.scopes = [scope for scope in offered() if scope in scopes]
        return bool(request.scopes)

    def _create_authorization_code(self, request: Any, code: Any, expires: Any = None) -> Any:
        own = _own_issuer(request)
        require_own_resources(list(getattr(request, "resource", None) or []), own, state=request.state)
        request.resource = [f"{own}/mcp"]  # one spelling, whichever the client chose
        if request.code_challenge_method != "S256":
            raise errors.InvalidRequestError(description="Send code_challenge_method=S256.", request=request)
        request.scopes = grantable(request.user, request.scopes)
        return super()._create_authorization_code(request, {**code, "code": digest_of_code(code["code"])}, expires)

    def validate_code(self, client_id: str, code: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """A code that waits, of somebody active. One that was used before ends what came of it (RFC 6749, 4.1.2)."""
        if not super().validate_code(client_id, code, client, request, *args, **kwargs):
            self._end_what_came_of(code)
            return False
        return bool(request.user.is_active)

    def _waiting(self, code: str, request: Any) -> Any:
        """The code's row. Another request may have used it since it was found good: then this one is the second."""
        grant = Grant.objects.filter(code=code, application=request.client).first()
        if grant is None:
            self._end_what_came_of(code)
            raise errors.InvalidGrantError(request=request)
        return grant

    def get_code_challenge(self, code: str, request: Any) -> str | None:
        """What the client must know the origin of."""
        return self._waiting(code, request).code_challenge or None

    def get_code_challenge_method(self, code: str, request: Any) -> str | None:
        """How it was made from that."""
        return self._waiting(code, request).code_challenge_method or None

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Any, request: Any, *args: Any, **kwargs: Any
    ) -> bool:
        """The address that the code was sent to, by the letter."""
        return bool(self._waiting(code, request).redirect_uri_allowed(redirect_uri))

    def invalidate_authorization_code(self, client_id: str, code: str, request: Any, *args: Any, **kwargs: Any) -> None:
        """Use the code up; of two that use it at the same moment neither keeps anything."""
        try:
            super().invalidate_authorization_code(client_id, code, request, *args, **kwargs)
        except errors.InvalidGrantError:
            self._end_what_came_of(code)
            raise

    def _end_what_came_of(self, code: str) -> None:
        family = family_of(code)
        if RefreshToken.objects.filter(token_family=family).exists():
            RefreshToken.revoke_family(family)

    def _create_refresh_token(self, request: Any, refresh_token_code: str, access_token: Any, previous: Any) -> Any:
        token = super()._create_refresh_token(request, refresh_token_code, access_token, previous)
        if previous is None and request.grant_type == "authorization_code":
            token.token_family = family_of(request.code)
            token.save(update_fields=["token_family"])
        return token

    def validate_refresh_token(self, refresh_token: str, client: Any, request: Any, *args: Any, **kwargs: Any) -> bool:
        """One that has not been used, of this client and of somebody active; reuse ends its whole family."""
        digest = hashlib.sha256(refresh_token.encode("utf-8", "surrogatepass")).hexdigest()
        with transaction.atomic():
            # Whoever uses it in between would make of this second use at once a reuse, and lose what they were given.
            list(RefreshToken.objects.select_for_update().filter(token_checksum=digest).values_list("pk"))
            if self._was_used_just_now(digest, client):
                return False
            valid = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return bool(valid) and bool(request.user.is_active)

    def _was_used_just_now(self, digest: str, client: Any) -> bool:
        just_now: bool = AccessToken.objects.filter(
            source_refresh_token__token_checksum=digest,
            source_refresh_token__application=client,
            source_refresh_token__revoked__gt=timezone.now() - TWICE_AT_ONCE,
        ).exists()
        return just_now

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        # Two may have found the same token good. The row decides, under a lock: the toolkit would hand the second the
        # first one's tokens, of which only digests are kept.
        if request.grant_type == "refresh_token":
            used = RefreshToken.objects.select_for_update().filter(pk=request.refresh_token_instance.pk).first()
            if used is None or used.revoked is not None:
                raise errors.InvalidGrantError(request=request)
        return super()._save_bearer_token(token, request, *args, **kwargs)

    def _check_and_set_request_resource(self, request: Any) -> None:
        """The resource of the code or the refresh token, unless one is named: it must be ours, and not empty."""
        own = _own_issuer(request)
        named = [value for key, value in request.decoded_body or [] if key == "resource"]
        if named:
            require_own_resources(named, own)
        request.resource = []  # all spellings are one resource: that of the code or the refresh token holds
        super()._check_and_set_request_resource(request)
        require_own_resources(request.resource, own)
