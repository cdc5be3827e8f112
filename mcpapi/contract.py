"""The published contract of the surface."""

from __future__ import annotations

from typing import Final

CONTRACT_NAME: Final = "synapse_mcp_v1"
