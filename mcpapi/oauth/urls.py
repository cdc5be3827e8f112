"""The addresses of the sign-in, at the root and each with and without its slash, never by a redirect.

The names are those by which the toolkit looks for its addresses; what it has besides is not served.
"""

from __future__ import annotations

from mcpapi.oauth.authorization import Authorize
from mcpapi.oauth.login import Login, Logout
from mcpapi.oauth.metadata import ResourceMetadata, ServerMetadata
from mcpapi.oauth.registration import Registration
from mcpapi.oauth.token_endpoint import IssueToken, RevokeToken
from wiki.api.addresses import at

app_name = "oauth2_provider"
_RESOURCE = r"\.well-known/oauth-protected-resource"

urlpatterns = [
    at(r"\.well-known/oauth-authorization-server", ServerMetadata.as_view(), "oauth-server-metadata"),
    at(_RESOURCE, ResourceMetadata.as_view(), "oauth-resource-metadata"),
    at(rf"{_RESOURCE}/(?P<resource_path>mcp|mcp/server)", ResourceMetadata.as_view(), "oauth-resource-metadata-path"),
    at("register", Registration.as_view(), "dcr-register"),
    at("authorize", Authorize.as_view(), "authorize"),
    at("token", IssueToken.as_view(), "token"),
    at("revoke", RevokeToken.as_view(), "revoke-token"),
    at("login", Login.as_view(), "login"),
    at("logout", Logout.as_view(), "logout"),
]
