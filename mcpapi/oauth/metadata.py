"""What clients read first: what is protected here (RFC 9728), and who issues tokens for it (RFC 8414)."""

from __future__ import annotations

from django.http import HttpRequest
from oauth2_provider.views import OAuthProtectedResourceMetadataView, OAuthServerMetadataView

from mcpapi.oauth.addresses import RESOURCE_PATHS, issuer_of
from mcpapi.oauth.pages import Offered


class ServerMetadata(Offered, OAuthServerMetadataView):  # type: ignore[misc]
    """The authorization server: endpoints, scopes, and that it takes clients without a secret."""


class ResourceMetadata(Offered, OAuthProtectedResourceMetadataView):  # type: ignore[misc]
    """The resource /mcp, at the root and at the path of each of its addresses."""

    def get_resource(self, request: HttpRequest) -> str:
        """The address of the resource."""
        return f"{issuer_of(request)}{self._path()}"

    def get_authorization_servers(self, request: HttpRequest) -> list[str]:
        """This server alone."""
        return [str(issuer_of(request))]

    def _path(self) -> str:
        asked: str = self.kwargs.get("resource_path", "")
        return f"/{asked}" if asked else RESOURCE_PATHS[0]
