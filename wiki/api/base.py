"""What every address of the REST API stands on: a request that is sent again is answered again, not done again."""

from __future__ import annotations

from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet


class SafeRetries:
    """A view whose POST, PUT and PATCH take an ``Idempotency-Key`` (:mod:`wiki.idempotency`)."""


class RestView(SafeRetries, APIView):
    """A view of the REST API."""


class RestViewSet(SafeRetries, ViewSet):
    """A set of views of the REST API on one kind of thing."""
