"""What every address of the REST API stands on: a request that is sent again is answered again, not done again."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.http.request import RawPostDataException
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSet

from wiki import idempotency
from wiki.authentication import TokenUser
from wiki.idempotency import Answer, Asked, Run

KEYED_METHODS: Final = ("POST", "PUT", "PATCH")
#: Beside the body, what shapes the effect, or whether there is any.
_CONDITIONS: Final = ("If-Match", "Content-Type", "Content-Encoding")


class _AnsweredBefore(Exception):  # noqa: N818 - nothing is wrong
    """The request was carried out earlier."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class RestView(APIView):
    """A view of the REST API. Its POST, PUT and PATCH take an ``Idempotency-Key`` (:mod:`wiki.idempotency`)."""

    _run: Run | None = None

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """The request, with the length of a body that came in chunks: without one, DRF takes it for empty."""
        if request.headers.get("Transfer-Encoding") and not request.headers.get("Content-Length"):
            request.META["CONTENT_LENGTH"] = str(len(request.body))
        return super().initialize_request(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let nobody in who may not; then look whether the request is one that was sent before."""
        super().initial(request, *args, **kwargs)
        key = request.headers.get("Idempotency-Key")
        if key is None or request.method not in KEYED_METHODS or not hasattr(self, request.method.lower()):
            return
        begun = idempotency.begin(_asked(request, idempotency.require_key(key)))
        if isinstance(begun, Answer):
            raise _AnsweredBefore(begun)
        self._run = begun

    def handle_exception(self, exc: Exception) -> Any:
        """The envelope; or, for a request that was sent before, what it was answered then."""
        if isinstance(exc, _AnsweredBefore):
            return _replayed(exc.answer)
        return super().handle_exception(exc)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer, and keep the answer if the request bears a key."""
        try:
            response = super().dispatch(request, *args, **kwargs)
            if self._run is not None:
                _keep(self._run, response)
        except BaseException:
            if self._run is not None:
                idempotency.release(self._run)
            raise
        return response


class RestViewSet(RestView, ViewSet):
    """A set of views of the REST API on one kind of thing."""


def _asked(request: Request, key: str) -> Asked:
    address, _, query = request.get_full_path().partition("?")
    try:
        body = request.body
    except RawPostDataException:  # a form, which the check for a session's CSRF token has read
        raise UnsupportedMediaType(request.content_type) from None
    user: Any = request.user
    return Asked(
        caller=user.pk if isinstance(user, TokenUser) else f"user:{user.pk}",
        method=str(request.method),
        path="?".join(part for part in (address.rstrip("/"), query) if part),
        key=key,
        digest=idempotency.digest_of(body, {name: request.headers.get(name, "") for name in _CONDITIONS}),
    )


def _keep(run: Run, response: HttpResponseBase) -> None:
    if isinstance(response, Response):
        response.render()
    if not isinstance(response, HttpResponse) or not idempotency.is_kept(response.status_code, response.headers):
        idempotency.release(run)
        return
    headers = {name: response.headers[name] for name in idempotency.KEPT_HEADERS if name in response.headers}
    idempotency.finish(run, Answer(response.status_code, headers, response.content))


def _replayed(answer: Answer) -> Any:
    return HttpResponse(
        answer.body,
        status=answer.status,
        content_type="application/json",
        headers={**answer.headers, "Idempotency-Replayed": "true"},
    )
