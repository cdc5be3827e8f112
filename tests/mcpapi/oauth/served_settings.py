"""The real settings, for a server that a test starts: client.example is this machine."""

from __future__ import annotations

from synapse.settings import *  # noqa: F403
from synapse.settings import OAUTH2_PROVIDER

OAUTH2_PROVIDER["CIMD_METADATA_FETCHER"] = "tests.mcpapi.oauth.served_fetcher.HomeFetcher"
