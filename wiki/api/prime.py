"""prime over REST: questions in a body, since a brief or a text is too long for an address. They change nothing.

What they call is loaded by the first call: it holds arrays that no start should wait for.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from wiki.api import params
from wiki.api import prime_serializers as serializers
from wiki.api.base import RestView
from wiki.api.schema import errors
from wiki.api.throttles import CallerReads
from wiki.authentication import MayRead

_ERRORS = errors(400, 404, 409, 413, 415, 422, 503, 507)


class PrimeView(RestView):
    """A question of prime: a POST that only reads."""

    permission_classes = [MayRead]
    throttle_classes = [CallerReads]


class PrimeQueryView(PrimeView):
    """Pages by rank."""

    @extend_schema(
        operation_id="primeQuery",
        request=serializers.PrimeQueryRequestSerializer,
        responses={200: serializers.PrimeQuerySerializer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """The pages that serve a question best, as many as the budget of tokens holds."""
        from wiki.prime.asking.query import query

        given: dict[str, Any] = params.body_params(request, serializers.PrimeQueryRequestSerializer)
        return Response(query(**given))


class PrimeResolveView(PrimeView):
    """Context for a brief."""

    @extend_schema(
        operation_id="primeResolve",
        request=serializers.PrimeResolveRequestSerializer,
        responses={200: serializers.PrimeResolveSerializer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """From a brief to the pages that serve it, with what must and must not be used, within the budget."""
        from wiki.prime.asking.resolve import resolve

        return Response(resolve(**params.body_params(request, serializers.PrimeResolveRequestSerializer)))


class PrimeIntentView(PrimeView):
    """A brief, understood."""

    @extend_schema(
        operation_id="primeIntent",
        request=serializers.PrimeBriefRequestSerializer,
        responses={200: serializers.PrimeIntentSerializer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """What a brief asks for, by rules."""
        from wiki.prime.asking.intent import intent

        return Response(intent(**params.body_params(request, serializers.PrimeBriefRequestSerializer)))


class PrimeValidateView(PrimeView):
    """A text, held against its atoms."""

    @extend_schema(
        operation_id="primeValidate",
        request=serializers.PrimeValidateRequestSerializer,
        responses={200: serializers.PrimeValidateSerializer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """What is wrong with a text that was made from these atoms."""
        from wiki.prime.checking.validate import validate

        return Response(validate(**params.body_params(request, serializers.PrimeValidateRequestSerializer)))


class PrimeCompileView(PrimeView):
    """A source, as an atom."""

    @extend_schema(
        operation_id="primeCompile",
        request=serializers.PrimeCompileRequestSerializer,
        responses={200: serializers.PrimeCompileSerializer, **_ERRORS},
    )
    def post(self, request: Request) -> Response:
        """The atom that a source makes, or what keeps it from being one. Nothing is written."""
        from wiki.prime.checking.compile import compile_source

        return Response(compile_source(**params.body_params(request, serializers.PrimeCompileRequestSerializer)))
