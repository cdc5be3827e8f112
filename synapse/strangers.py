"""A limit on requests that show no valid token or session, so that neither floods nor guesses get far.

It stands before REST, MCP, the admin and its login alike, and refuses before a body is read or a token looked up.
Who has shown a valid token lately is no stranger: others at the same address can't shut them out.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final

from django.conf import settings

from synapse.body_limit import Application, Receive, Scope, Send, refuse
from vault.errors import SynapseError
from wiki import throttling
from wiki.throttling import Kind

#: Whoever watches over the server must hear from it, and the login page needs its looks.
_EXEMPT: Final = re.compile(r"/health/|/static/")
#: Where a password can be tried: a session that comes along proves nothing there.
_LOGIN: Final = re.compile(r"/(?:admin/)?login\b")


def with_few_strangers(application: Application) -> Application:
    """The application, for SYNAPSE_STRANGERS_PER_MINUTE strangers' requests from an address; others are told to wait.

    Counted are requests that show neither token nor session, tokens that are not known to be valid yet, attempts to
    log in, and sessions that turn out to be none.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _EXEMPT.match(scope["path"]):
            await application(scope, receive, send)
            return
        address = throttling.address_of((scope.get("client") or (None,))[0])
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        is_known = all(value in throttling.known for value in shown) if shown else _is_in_session(scope)
        if not is_known:
            try:
                throttling.check(address, Kind.STRANGERS)
            except SynapseError as error:
                await refuse(send, error)
                return

        async def noting(message: Any) -> None:
            if is_known and message["type"] == "http.response.start" and message["status"] == 401:
                for value in shown:
                    throttling.known.discard(value)
                with suppress(SynapseError):
                    throttling.check(address, Kind.STRANGERS)
            await send(message)

        await application(scope, receive, noting)

    return guarded


def _is_in_session(scope: Scope) -> bool:
    if scope["method"] == "POST" and _LOGIN.match(scope["path"]):
        return False
    cookie = f"{settings.SESSION_COOKIE_NAME}=".encode()
    return any(name == b"cookie" and cookie in value for name, value in scope["headers"])
