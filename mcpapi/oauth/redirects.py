"""Where a code may be sent: https, or this person's own machine over http (RFC 8252); nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from mcpapi.oauth.addresses import is_loopback

MAX_ADDRESSES: Final = 10
_MAX_CHARACTERS: Final = 1_000


def fault_in(address: str) -> str | None:
    """Why a redirect address is refused, for whoever registers it; None if it is not."""
    if len(address) > _MAX_CHARACTERS or not address.isascii() or not address.isprintable() or " " in address:
        return f"A redirect address is at most {_MAX_CHARACTERS} printable ASCII characters without a space."
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return "A redirect address is an absolute address with a host."
    if not parts.hostname or "@" in parts.netloc or "#" in address or "*" in parts.netloc or "\\" in address:
        return "A redirect address is an absolute address with a host, without a user, a fragment or a wildcard."
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return None
    return "A redirect address begins with https://, or with http:// on localhost, 127.0.0.1 or [::1]."


def fault_in_all(addresses: Sequence[str]) -> str | None:
    """Why a list of redirect addresses is refused; None if it is not."""
    if not 1 <= len(addresses) <= MAX_ADDRESSES:
        return f"Name 1 to {MAX_ADDRESSES} redirect addresses."
    return next((fault for fault in map(fault_in, addresses) if fault), None)


def shown_host(address: str) -> str:
    """The host of a redirect address, with its port if it names one, for the consent page."""
    parts = urlsplit(address)
    return f"a program on this computer ({parts.netloc})" if is_loopback(parts.hostname or "") else parts.netloc
