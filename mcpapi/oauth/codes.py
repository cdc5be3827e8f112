"""Codes of the sign-in: the database knows their SHA-256 only, as it does of tokens."""

from __future__ import annotations

import hashlib
from typing import Any

from oauthlib.oauth2 import WebApplicationServer
from oauthlib.oauth2.rfc6749.grant_types import AuthorizationCodeGrant


def digest_of_code(code: str) -> str:
    """What is kept of a code, and looked up."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


class _KeptCodes(AuthorizationCodeGrant):  # type: ignore[misc]
    """The protocol library's rules, which see of a code that is shown what the database has of it."""

    def create_token_response(self, request: Any, token_handler: Any) -> Any:
        """Exchange the code of the request for tokens. A digest that is shown as a code is no code."""
        if request.code is not None:
            request.code = digest_of_code(request.code)
        return super().create_token_response(request, token_handler)


class Server(WebApplicationServer):  # type: ignore[misc]
    """OAUTH2_SERVER_CLASS: codes and refresh tokens, and no other grant."""

    def __init__(self, request_validator: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(request_validator, *args, **kwargs)
        self.grant_types["authorization_code"] = _KeptCodes(request_validator)
