"""``manage.py token``: make, list and revoke the tokens that agents and scripts show."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from vault.errors import ErrorCode, SynapseError
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author
from wiki.models import Scope, Token
from wiki.tokens import create_token, revoke_token

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


class Command(SynapseCommand):
    help = "Make, list or revoke the bearer tokens that REST and /mcp take. A token is shown once, when it is made."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        create = actions.add_parser("create", help="make a token and print it, once")
        create.add_argument("name", help="what it is for, e.g. laptop")
        create.add_argument("--scope", choices=Scope.values, default=Scope.READ, help="what it may do (default: read)")
        create.add_argument("--expires", default="", help="30d, 12h, 4w, or a date such as 2027-01-31 (default: never)")
        lister = actions.add_parser("list", help="show all tokens, newest first, without their secrets")
        revoke = actions.add_parser("revoke", help="make a token useless, at once")
        revoke.add_argument("name", help="its name, or the characters that `list` shows")
        for action in (create, lister, revoke):
            action.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action."""
        {"create": self._create, "list": self._list, "revoke": self._revoke}[options["action"]](**options)

    def _create(self, *, name: str, scope: str, expires: str, **options: Any) -> None:
        token, raw = create_token(name=name, scope=scope, expires=expiry(expires), author=terminal_author())
        if options["json"]:
            self.print_json({**_row(token), "token": raw})
            return
        until = f"until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "until it is revoked"
        self.stdout.write(f"{raw}\nShown once. It may {_allows(scope)}, {until}.")

    def _list(self, **options: Any) -> None:
        rows = [_row(token) for token in Token.objects.all()]
        if options["json"]:
            self.print_json(rows)
            return
        if not rows:
            self.stdout.write("No tokens. Make one with `manage.py token create NAME`.")
        for row in rows:
            used = f"last used {row['last_used_at']}" if row["last_used_at"] else "never used"
            self.stdout.write(f"{row['prefix']}…  {row['scope']:<8} {row['state']:<8} {row['name']}  ({used})")

    def _revoke(self, *, name: str, **options: Any) -> None:
        revoked = revoke_token(name=name, author=terminal_author())
        if not revoked:
            raise SynapseError(ErrorCode.NOT_FOUND, "No token in use has that name. `manage.py token list` shows them.")
        if options["json"]:
            self.print_json({"revoked": revoked})
        else:
            self.stdout.write(f"Revoked {revoked} token{'s' if revoked > 1 else ''}.")


def expiry(text: str) -> datetime | None:
    """The moment that ``30d``, ``12h``, ``4w``, a date or a time (UTC unless it says otherwise) names; None for "".

    Raises ``invalid_param_value`` for anything else.
    """
    if not text:
        return None
    if span := re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", text):
        return timezone.now() + timedelta(**{_UNITS[span[2]]: int(span[1])})
    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day) if day else parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Say 30d, 12h, 4w, or a date such as 2027-01-31.")
    return timezone.make_aware(moment) if timezone.is_naive(moment) else moment


def _allows(scope: str) -> str:
    return {"read": "read", "propose": "read and propose changes", "write": "read and write"}[scope]


def _row(token: Token) -> dict[str, Any]:
    if token.revoked_at:
        state = "revoked"
    elif token.expires_at and token.expires_at <= timezone.now():
        state = "expired"
    else:
        state = "usable"
    moments = {name: getattr(token, name) for name in ("created_at", "expires_at", "last_used_at", "revoked_at")}
    return {
        "name": token.name,
        "prefix": token.prefix,
        "scope": token.scope,
        "state": state,
        **{name: moment.isoformat(timespec="seconds") if moment else None for name, moment in moments.items()},
    }
