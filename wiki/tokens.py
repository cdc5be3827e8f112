"""Static bearer tokens: made, found and revoked.

A token is 256 random bits shown once; the database keeps its SHA-256 only. The
digest needs no salt or stretching, because what it hides can't be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import DatabaseError, connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Scope, Token
from wiki.prepared import Prepared

PREFIX: Final = "syn_"
_FORM = re.compile(r"syn_[A-Za-z0-9_-]{43}")
_SHOWN_CHARACTERS: Final = 12
_RANK: Final = {scope.value: rank for rank, scope in enumerate((Scope.READ, Scope.PROPOSE, Scope.WRITE))}

logger = logging.getLogger(__name__)


def includes(scope: str, wanted: str) -> bool:
    """True if ``scope`` allows what ``wanted`` allows: read, propose and write include each the one before."""
    return _RANK.get(scope, -1) >= _RANK[wanted]


def scope_of_person(user: User | AnonymousUser) -> Scope:
    """What an active person may do: read; staff who may change pages and decide reviews also propose and write."""
    return Scope.WRITE if user.is_staff and user.has_perms(settings.PERMISSIONS_TO_WRITE) else Scope.READ


def scope_in_force(token: Token) -> str:
    """The token's scope, but never more than the person who made it still has."""
    if token.scope == Scope.READ or token.user is None:  # in this order: the person is not looked up in vain
        return token.scope
    return no_more_than_theirs(token.scope, token.user)


def no_more_than_theirs(scope: str, user: User) -> str:
    """The scope, or the person's own where that is narrower. Whoever only reads costs no look at permissions."""
    if _RANK.get(scope, -1) <= _RANK[Scope.READ]:
        return scope
    theirs = scope_of_person(user)
    return theirs if _RANK[scope] > _RANK[theirs] else scope


def digest_of(raw: str) -> str:
    """What the database keeps of a token: SHA-256, hex."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()


def check_new_token(*, name: str, scope: str, expires: datetime | None) -> None:
    """Refuse what no token can be.

    Raises ``invalid_param_value`` for a name that is blank, not printable or over 80 characters; for an
    unknown scope; and for an ``expires`` that is past.
    """
    name = name.strip()
    if not name or len(name) > 80 or not name.isprintable():
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Give the token a name of 1 to 80 printable characters.")
    if scope not in _RANK:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"The scope is one of {', '.join(_RANK)}.")
    if expires is not None and expires <= timezone.now():
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "The token would have expired already. Name a later time.")


def create_token(
    *,
    name: str,
    scope: str = Scope.READ,
    expires: datetime | None = None,
    user: User | None = None,
    author: Author = audit.SYNAPSE,
) -> tuple[Token, str]:
    """Make a token; returns its row and the token itself, which can't be had again. ``author`` is who makes it.

    Raises what :func:`check_new_token` raises.
    """
    name = name.strip()
    check_new_token(name=name, scope=scope, expires=expires)
    raw = PREFIX + secrets.token_urlsafe(32)
    kept = {"name": name, "prefix": raw[:_SHOWN_CHARACTERS], "scope": scope}
    with transaction.atomic():
        token = Token.objects.create(**kept, digest=digest_of(raw), expires_at=expires, user=user)
        audit.record(action="token", author=author, detail=kept)
    return token, raw


def find_token(raw: str) -> Token | None:
    """The usable token (neither revoked nor expired, of an active user if it has one) with this text, else None."""
    if not _FORM.fullmatch(raw):
        return None
    digest = digest_of(raw)
    # The index has found it by its digest; this comparison takes the same time wherever two digests differ.
    found = [token for token in _UNREVOKED.rows(digest=digest) if hmac.compare_digest(token.digest, digest)]
    return found[0] if found and not _has_expired(found[0]) else None


def _has_expired(token: Token) -> bool:
    return token.expires_at is not None and token.expires_at <= timezone.now()


def revoke_token(*, name: str, author: Author = audit.SYNAPSE) -> int:
    """Revoke the tokens of this name, or the one that begins with these characters; how many there were.

    A second call finds none. Lists show the first characters, which tell namesakes apart.
    """
    named = Q(name=name) | Q(prefix=name)
    return _revoke(Token.objects.filter(named), author)


def revoke_tokens(*, pks: Iterable[int], author: Author = audit.SYNAPSE) -> int:
    """Revoke the tokens of these rows; how many were in force or expired. A second call finds none."""
    return _revoke(Token.objects.filter(pk__in=list(pks)), author)


def _revoke(tokens: QuerySet[Token], author: Author) -> int:
    with transaction.atomic():
        found = list(tokens.filter(revoked_at__isnull=True).values_list("pk", "name", "prefix"))
        rows = Token.objects.filter(pk__in=[pk for pk, _, _ in found], revoked_at__isnull=True)
        count = rows.update(revoked_at=timezone.now())
        for _, name, prefix in found if count else ():
            audit.record(action="revoke", author=author, detail={"name": name, "prefix": prefix})
    return count


def any_usable() -> bool:
    """Is there a token somebody could use?"""
    return _usable().exists()


def _usable() -> QuerySet[Token]:
    return _unrevoked().filter(Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()))


def _unrevoked() -> QuerySet[Token]:
    """Tokens of nobody or of active people, expired ones too."""
    return Token.objects.filter(Q(user__isnull=True) | Q(user__is_active=True), revoked_at__isnull=True)


# Every request that shows a token asks this; nothing of the answer is kept, so a revoked one is refused at once.
_UNREVOKED: Final = Prepared[Token](lambda digest: _unrevoked().filter(digest=digest), digest="\x1f the digest")


class LastUsed:
    """When each token was last used: noted in memory on the request path, written by a thread.

    At most one write a minute for a token, and at most ``limit`` tokens remembered between two flushes: what
    is beyond is dropped and counted, since a lost minute does no harm.
    """

    def __init__(self, *, limit: int = 1_000, seconds: float = 60) -> None:
        self.dropped = 0
        self._limit = limit
        self._seconds = seconds
        self._lock = threading.Lock()
        self._noted: dict[int, datetime] = {}

    def note(self, token: Token) -> None:
        """Remember that the token was used now, unless its row says so already. Touches no database."""
        now = timezone.now()
        if token.last_used_at is not None and now - token.last_used_at < timedelta(seconds=self._seconds):
            return
        with self._lock:
            if token.pk in self._noted or len(self._noted) < self._limit:
                self._noted[token.pk] = now
            else:
                self.dropped += 1

    def flush(self) -> int:
        """Write what was noted; how many rows. A database that fails costs the figure, not the caller."""
        with self._lock:
            noted, self._noted = self._noted, {}
        try:
            for pk, at in noted.items():
                Token.objects.filter(pk=pk).update(last_used_at=at)
        except DatabaseError:
            logger.warning("the last use of %d tokens could not be written", len(noted))
            return 0
        return len(noted)

    @contextmanager
    def running(self, every: float = 5) -> Iterator[None]:
        """Flush from a thread every so many seconds, and once more at the end."""
        stop = threading.Event()

        def loop() -> None:
            while not stop.wait(every):
                self.flush()
                connection.close()
            self.flush()
            connection.close()

        thread = threading.Thread(target=loop, name="last-used", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(timeout=2)


last_used = LastUsed()
