from __future__ import annotations

from typing import Any

from mcpapi.oauth.clients import DocumentFetcher
from tests.mcpapi.oauth.documents import at_home


class HomeFetcher(DocumentFetcher):
    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        with at_home():
            return super().fetch(client_id)
