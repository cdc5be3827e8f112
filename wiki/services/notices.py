"""What a writer should know about its text although the text is kept as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

INDEX_PENDING: Final = "index_pending: the page is on disk; search and links follow with the next scan."
_MOST: Final = 10
# Each bounded, so that a text of brackets is read in linear time.
_REFERENCE: Final = re.compile(
    r"^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]{0,20}<?((?:https?:)?//[^\s<>]{1,2000})", re.I | re.M
)
_USED: Final = re.compile(r"!\[([^\[\]\n]{0,500})\](?:\[([^\[\]\n]{0,200})\])?")
_HTML: Final = re.compile(
    r"<(?:img|source|video|audio|iframe|embed|object)\b[^<>]{0,2000}?\b(?:src|srcset|data|poster)\s{0,5}=\s{0,5}"
    r"[\"']?\s{0,5}((?:https?:)?//[^\s\"'<>]{1,2000})",
    re.IGNORECASE,
)


def remote_content(body: str, images: Iterable[str]) -> list[str]:
    """A sentence for each host from which showing this text would load something, at most ten.

    ``images`` are the addresses that :func:`vault.markdown.parse_body` found; HTML and reference links come on top.
    """
    addresses = [*images, *_HTML.findall(body), *_referenced(body)]
    hosts = dict.fromkeys(host for address in addresses if (host := _host(address)))
    return [
        f"remote_content: the text shows something from {host}. Synapse never loads it, but another program may."
        for host in list(hosts)[:_MOST]
    ]


def _referenced(body: str) -> list[str]:
    addresses = {label.casefold(): address for label, address in _REFERENCE.findall(body)}
    if not addresses:
        return []
    used = [(label or text).casefold() for text, label in _USED.findall(body)]
    return [addresses[label] for label in used if label in addresses]


def _host(address: str) -> str | None:
    if not address.lower().startswith(("http:", "https:", "//")):
        return None
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
