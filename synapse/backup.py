"""Backup of what lives only in the database: the review queue, tokens, accounts, and who did what.

A file of lines of JSON. First a header: format, version, vault, when; then one object a row, ``kind`` first; last the
sums: how many of each kind, and the sha256 of all bytes before that line. Tokens are digests and passwords hashes, as
in the database, so the file is made for its owner alone (0600). The queue's lines are those of ``reviews export``, and
come back by the rules of its import. Kinds come in the order of :data:`KINDS`, and lines are read one at a time.

Left out: what the vault gives again (pages, links, words, vectors), and what is of no use elsewhere or tomorrow:
sessions, jobs, calls of tools, kept answers, and OAuth's codes and tokens, which a client asks for again. OAuth
clients themselves are taken along, since their ids are in the settings of other people's programs.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.utils import timezone
from oauth2_provider.models import get_application_model

from reviews.services import export_lines
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from vault.writing import exchange
from wiki import audit
from wiki.models import Audit, Token

FORMAT: Final = "synapse-backup"
VERSION: Final = 1
#: Rows that are read, or come in, at once.
BATCH: Final = 500

#: Which columns of a kind are kept.
USER: Final = (
    *("username", "password", "email", "first_name", "last_name", "is_active", "is_staff", "is_superuser"),
    *("date_joined", "last_login"),
)
TOKEN: Final = ("name", "digest", "prefix", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")
CLIENT: Final = (
    *("client_id", "client_secret", "hash_client_secret", "name", "redirect_uris", "client_type"),
    *("authorization_grant_type", "registration_source"),
)
AUDIT: Final = ("at", "actor", "door", "action", "page_uid", "path", "before_hash", "after_hash", "detail")
KINDS: Final = ("group", "user", "token", "client", "audit", "review")


def write_backup(file: Path, *, author: Author) -> Counter[str]:
    """Write the backup, whole or not at all, readable by its owner only; how many rows of each kind.

    Raises ``storage_error`` where the file can't be written. An earlier file stays until the new one is complete.
    """
    part = file.parent / f".{file.name}.{secrets.token_hex(4)}.part"
    counts: Counter[str] = Counter()
    digest = hashlib.sha256()
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(fd, "wb") as out:
            for kind, line in _lines():
                digest.update(line)
                out.write(line)
                counts[kind] += 1
            del counts["header"]
            out.write(_encoded({"kind": "sums", "counts": dict(sorted(counts.items())), "sha256": digest.hexdigest()}))
            out.flush()
            exchange.sync_file(out.fileno())
        part.replace(file)
        _sync_folder(file.parent)
    except OSError:
        part.unlink(missing_ok=True)
        raise SynapseError(ErrorCode.STORAGE_ERROR, "The backup can't be written there. Name another file.") from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    audit.record(action="backup", author=author, detail={"rows": sum(counts.values())})
    return counts


def _sync_folder(folder: Path) -> None:
    """Without it the name could be gone after a power cut, or still be that of the backup before."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        exchange.sync_folder(fd)
    finally:
        exchange.close(fd)


def _lines() -> Iterator[tuple[str, bytes]]:
    header = {"format": FORMAT, "version": VERSION, "vault": str(current_vault().id), "at": timezone.now().isoformat()}
    yield "header", _encoded({"kind": "header", **header})
    for group in Group.objects.order_by("name").prefetch_related("permissions__content_type"):
        yield "group", _encoded({"kind": "group", "name": group.name, "permissions": _permissions(group.permissions)})
    for user in User.objects.order_by("pk").prefetch_related("groups", "user_permissions__content_type"):
        more = {
            "groups": sorted(group.name for group in user.groups.all()),
            "permissions": _permissions(user.user_permissions),
        }
        yield "user", _encoded({"kind": "user", **values_of(user, USER), **more})
    for token in Token.objects.select_related("user").order_by("pk").iterator():
        owner = token.user.get_username() if token.user else None
        yield "token", _encoded({"kind": "token", **values_of(token, TOKEN), "user": owner})
    for client in get_application_model().objects.order_by("pk").iterator():
        yield "client", _encoded({"kind": "client", **values_of(client, CLIENT)})
    for row in Audit.objects.order_by("pk").iterator(chunk_size=BATCH):
        yield "audit", _encoded({"kind": "audit", **values_of(row, AUDIT)})
    for line in export_lines():
        yield "review", _encoded({"kind": "review", "line": json.loads(line)})


def _permissions(held: Any) -> list[str]:
    return sorted(f"{one.content_type.app_label}.{one.codename}" for one in held.all())


def values_of(row: Model, names: Iterable[str]) -> dict[str, Any]:
    """The named columns of a row as JSON has them."""
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _encoded(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
