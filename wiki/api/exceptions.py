"""Turning failures into the one envelope, in REST views and where Django answers by itself."""

from __future__ import annotations

import logging
import math
import sys
from typing import Any, Final

from django.core.exceptions import DisallowedHost, PermissionDenied, RequestDataTooBig
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views import defaults
from rest_framework import exceptions as drf
from rest_framework.views import set_rollback

from vault.errors import ErrorCode, SynapseError
from wiki import faults

logger = logging.getLogger(__name__)

_BY_CLASS: list[tuple[type[Exception], ErrorCode, str]] = [
    (drf.NotAuthenticated, ErrorCode.UNAUTHENTICATED, "Send a token as `Authorization: Bearer …`, or log in."),
    (drf.AuthenticationFailed, ErrorCode.UNAUTHENTICATED, "The token or session is not valid."),
    (drf.PermissionDenied, ErrorCode.FORBIDDEN, "The token or account may not do this. It needs a wider scope."),
    (PermissionDenied, ErrorCode.FORBIDDEN, "The token or account may not do this. It needs a wider scope."),
    (drf.ParseError, ErrorCode.MALFORMED_BODY, "The body can't be read. Send one JSON object."),
    (drf.UnsupportedMediaType, ErrorCode.UNSUPPORTED_MEDIA_TYPE, "Send the body as plain application/json."),
    (drf.NotAcceptable, ErrorCode.NOT_ACCEPTABLE, "Only application/json is served here."),
    (drf.MethodNotAllowed, ErrorCode.METHOD_NOT_ALLOWED, "This address does not take that method."),
    (drf.NotFound, ErrorCode.NOT_FOUND, "There is nothing at this address."),
    (Http404, ErrorCode.NOT_FOUND, "There is nothing at this address."),
    (drf.Throttled, ErrorCode.RATE_LIMITED, "Too many calls. Wait as long as Retry-After says."),
    (RequestDataTooBig, ErrorCode.PAYLOAD_TOO_LARGE, "The body is too large."),
]

_WRONG_TYPE: Final = {"invalid", "null", "not_a_list", "not_a_dict"}
_WRONG_CHARACTERS: Final = {"null_characters_not_allowed", "surrogate_characters_not_allowed"}
_UNFORESEEN: Final = "Something went wrong here. The server's log has the place."


def _first(problems: Any) -> tuple[str, str]:
    """What is said first of a parameter, and DRF's code for it; of a list or an object the first part that is wrong."""
    inside = False
    while isinstance(problems, list | dict) and problems and "message" not in problems:
        inside = inside or isinstance(problems, dict)
        problems = next(iter(problems.values() if isinstance(problems, dict) else problems))
    if not isinstance(problems, dict) or "message" not in problems:
        return str(problems), "invalid"
    return ("Inside: " if inside else "") + str(problems["message"]), str(problems["code"])


def _field_error(error: drf.ValidationError) -> SynapseError:
    """A serializer's complaints as one envelope: the fields and what is wrong with each."""
    detail = error.get_full_details()
    fields: dict[str, str] = {}
    codes: set[str] = set()
    for name, problems in detail.items() if isinstance(detail, dict) else [("body", detail)]:
        fields[name], problem = _first(problems)
        codes.add(problem)
    if codes == {"required"}:
        code = ErrorCode.MISSING_REQUIRED_PARAMS
    elif codes & _WRONG_TYPE:
        code = ErrorCode.INVALID_PARAM_TYPE
    elif codes & _WRONG_CHARACTERS:
        code = ErrorCode.INVALID_CONTENT
    else:
        code = ErrorCode.INVALID_PARAM_VALUE
    names = ", ".join(sorted(fields))
    return SynapseError(
        code, f"These parameters are missing or wrong: {names}. `fields` says what is expected.", fields=fields
    )


def as_synapse_error(error: Exception) -> SynapseError | None:
    """The catalog's error for an exception of Django, DRF or the database; None when it is nobody's fault but ours."""
    if isinstance(error, SynapseError):
        return error
    if isinstance(error, drf.ValidationError):
        return _field_error(error)
    for kind, code, sentence in _BY_CLASS:
        if isinstance(error, kind):
            wait = getattr(error, "wait", None)  # of a throttle, in seconds
            return SynapseError(code, sentence, **({} if wait is None else {"retry_after": math.ceil(wait)}))
    return faults.as_error(error)


def envelope_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's exception handler: every failure answers the envelope, in JSON whatever the view renders otherwise.

    What is unforeseen is logged by its place and says nothing. A failure with ``retry_after`` (whole seconds) says it
    in the header Retry-After too.
    """
    known = as_synapse_error(error)
    if known is None:
        logger.exception("unforeseen failure in %s", type(context.get("view")).__name__)
        known = SynapseError(ErrorCode.INTERNAL_ERROR, _UNFORESEEN)
    elif isinstance(error, DatabaseError | InterfaceError):
        logger.warning("the database failed", extra={"reason": faults.of_database(error)})
    set_rollback()
    response = _answer(known)
    if known.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="synapse"'
    if isinstance(error, drf.MethodNotAllowed) and (view := context.get("view")) is not None:
        response["Allow"] = ", ".join(view.allowed_methods)
    return response


def _answer(error: SynapseError) -> JsonResponse:
    response = JsonResponse(error.envelope(), status=error.status)
    if "retry_after" in error.repair:
        response["Retry-After"] = str(error.repair["retry_after"])
    return response


def _plain(code: ErrorCode, sentence: str) -> JsonResponse:
    return _answer(SynapseError(code, sentence))


def _for_a_person(request: HttpRequest) -> bool:
    return request.path.startswith("/admin")


def _page(error: SynapseError) -> HttpResponse:
    """A failure for a person in the admin: whatever draws its pages may need what has failed."""
    headers = {"Retry-After": str(error.repair["retry_after"])} if "retry_after" in error.repair else None
    return HttpResponse(error.message, status=error.status, headers=headers, content_type="text/plain; charset=utf-8")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 404 outside any view."""
    if _for_a_person(request):
        return defaults.page_not_found(request, exception)
    return _plain(ErrorCode.NOT_FOUND, "There is nothing at this address. /docs lists what there is.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 400: a Host it does not serve, or a request it can't read."""
    if isinstance(exception, DisallowedHost):
        return _plain(
            ErrorCode.MALFORMED_BODY,
            "This server does not answer to the host name that the request has. Add the name to SYNAPSE_ALLOWED_HOSTS "
            "on the server, or ask for one that is there.",
        )
    return _plain(ErrorCode.MALFORMED_BODY, "The request can't be read. Send one that follows HTTP.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 403 outside REST views."""
    if _for_a_person(request):
        return defaults.permission_denied(request, exception)
    return _plain(ErrorCode.FORBIDDEN, "The token or account may not do this.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's 500 outside REST views; 503 where it is the database that failed."""
    away = faults.as_error(error) if (error := sys.exception()) else None
    if _for_a_person(request):
        return _page(away) if away else defaults.server_error(request)
    if away:
        return _answer(away)
    return _plain(ErrorCode.INTERNAL_ERROR, _UNFORESEEN)
