"""How an address is routed: with and without its trailing slash, and never by a redirect, which would lose a body."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, re_path


def at(address: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
    """The route of ``address``, a regular expression without a leading or trailing slash."""
    # `\Z`, since `$` would also match before a line break at the end.
    return re_path(rf"^{address}/?\Z", view, name=name)
