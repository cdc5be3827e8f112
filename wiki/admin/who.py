"""Who acts in the admin."""

from __future__ import annotations

from django.http import HttpRequest

from vault.history import Author


def person(request: HttpRequest) -> Author:
    """The person who is logged in, as history and audit name them."""
    return Author(f"user:{request.user.get_username()}", "admin")
