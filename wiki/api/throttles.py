"""The limits of :mod:`wiki.throttling` at the REST door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from wiki import throttling
from wiki.authentication import TokenUser, actor_name
from wiki.throttling import Kind

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module by its settings

_READS = ("GET", "HEAD", "OPTIONS")


class CallerRate(BaseThrottle):
    """So many requests, and so many changes among them, for each token or person in a minute."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """True. Raises ``rate_limited`` (:func:`wiki.throttling.check`) instead of saying no without a reason."""
        if request.user and request.user.is_authenticated:
            caller = actor_name(request.user)
            throttling.check(caller, Kind.REQUESTS)
            if request.method not in _READS:
                throttling.check(caller, Kind.WRITES)
        return True


class CallerReads(BaseThrottle):
    """As :class:`CallerRate`, for addresses whose POST only asks."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """True. Raises ``rate_limited``."""
        if request.user and request.user.is_authenticated:
            throttling.check(actor_name(request.user), Kind.REQUESTS)
        return True


def count_decisions(request: Request, cost: int) -> None:
    """Count ``cost`` reviews that the caller is about to decide. People, who decide in a session, are not limited.

    Raises ``rate_limited``.
    """
    user: Any = request.user
    if isinstance(user, TokenUser):
        throttling.check(actor_name(user), Kind.DECISIONS, cost)
