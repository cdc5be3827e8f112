"""Who acts in the admin."""

from __future__ import annotations

from django.http import HttpRequest

from vault.history import Author
from wiki.authentication import actor_name


def person(request: HttpRequest) -> Author:
    """The person who is logged in, as history and audit name them."""
    return Author(actor_name(request.user), "admin")
