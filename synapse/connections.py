"""Connections to the database end with the request that they were made for."""

from __future__ import annotations

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

from synapse.body_limit import Application, Receive, Scope, Send


def with_own_connections(application: Application) -> Application:
    """The application, closing what the thread of a request has opened when the request is over.

    Django gives each request a thread of its own. A connection that may grow old (CONN_MAX_AGE, for PostgreSQL and the
    threads that stay) would outlive that thread unused until the garbage collector comes by, and a hundred quick
    requests would be all the connections that PostgreSQL has.
    """

    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        async with ThreadSensitiveContext():
            try:
                await application(scope, receive, send)
            finally:
                await sync_to_async(connections.close_all)()

    return closing
