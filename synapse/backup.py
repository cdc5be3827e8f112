"""Backup of what lives only in the database: the review queue, tokens, accounts, and who did what.

A file of lines of JSON. First a header: format, version, vault, when; then one object a row, ``kind`` first; last the
sums: how many of each kind, and the sha256 of all bytes before that line. Tokens are digests and passwords hashes, as
in the database, so the file is made for its owner alone (0600). The queue's lines are those of ``reviews export``, and
come back by the rules of its import.

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
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone
from oauth2_provider.models import get_application_model

from reviews.services import export_lines, import_lines
from reviews.services.lines import bounded_lines
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Audit, Token

FORMAT: Final = "synapse-backup"
VERSION: Final = 1
_BATCH: Final = 500

_USER: Final = (
    *("username", "password", "email", "first_name", "last_name", "is_active", "is_staff", "is_superuser"),
    *("date_joined", "last_login"),
)
_TOKEN: Final = ("name", "digest", "prefix", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")
_CLIENT: Final = (
    *("client_id", "client_secret", "hash_client_secret", "name", "redirect_uris", "client_type"),
    *("authorization_grant_type", "registration_source"),
)
_AUDIT: Final = ("at", "actor", "door", "action", "page_uid", "path", "before_hash", "after_hash", "detail")
_MOMENTS: Final = {"date_joined", "last_login", "created_at", "expires_at", "last_used_at", "revoked_at", "at"}
KINDS: Final = ("group", "user", "token", "client", "audit", "review")


@dataclass(slots=True)
class Restored:
    """What a restore did, by kind: rows that came in (``added``), and that were here already (``known``).

    ``revoked`` tokens were in force here and revoked in the backup; ``problems`` are what could not be taken in.
    """

    dry_run: bool
    added: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    revoked: int = 0
    problems: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable."""
        counts = {name: dict(sorted(getattr(self, name).items())) for name in ("added", "known")}
        return {"dry_run": self.dry_run, **counts, "revoked": self.revoked, "problems": self.problems}


# --- out ---


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
            os.fsync(out.fileno())
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)
        raise SynapseError(ErrorCode.STORAGE_ERROR, "The backup can't be written there. Name another file.") from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    audit.record(action="backup", author=author, detail={"rows": sum(counts.values())})
    return counts


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
        yield "user", _encoded({"kind": "user", **_values(user, _USER), **more})
    for token in Token.objects.select_related("user").order_by("pk").iterator():
        owner = token.user.get_username() if token.user else None
        yield "token", _encoded({"kind": "token", **_values(token, _TOKEN), "user": owner})
    for client in get_application_model().objects.order_by("pk").iterator():
        yield "client", _encoded({"kind": "client", **_values(client, _CLIENT)})
    for row in Audit.objects.order_by("pk").iterator(chunk_size=_BATCH):
        yield "audit", _encoded({"kind": "audit", **_values(row, _AUDIT)})
    for line in export_lines():
        yield "review", _encoded({"kind": "review", "line": json.loads(line)})


def _permissions(held: Any) -> list[str]:
    return sorted(f"{one.content_type.app_label}.{one.codename}" for one in held.all())


def _values(row: Model, names: Iterable[str]) -> dict[str, Any]:
    return {name: _plain(getattr(row, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _encoded(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


# --- in ---


def restore(file: Path, *, author: Author, any_vault: bool = False, dry_run: bool = False) -> Restored:
    """Take a backup in: what is not here comes in, what is here stays, but for tokens that were revoked there.

    The whole file is checked before anything is written. A second time nothing changes. Raises
    ``invalid_param_value`` for what is no whole backup, or another vault's unless ``any_vault``.
    """
    rows = _checked(file, any_vault=any_vault)
    done = Restored(dry_run)
    queue = [row["line"] for row in rows if row["kind"] == "review"]
    try:
        with transaction.atomic():
            _take_accounts(rows, done)
            _take_tokens([row for row in rows if row["kind"] == "token"], done)
            _take_clients([row for row in rows if row["kind"] == "client"], done)
            _take_audit([row for row in rows if row["kind"] == "audit"], done)
            _take_queue(queue, done, author=author, any_vault=any_vault)
            if sum(done.added.values()) or done.revoked:
                detail = {"rows": sum(done.added.values()), "revoked": done.revoked}
                audit.record(action="restore-backup", author=author, detail=detail)
            if dry_run:
                transaction.set_rollback(True)
    except (KeyError, TypeError, ValueError, ValidationError, IntegrityError):
        raise _no_backup("it holds a row that can't be one") from None
    return done


def _no_backup(why: str) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"This is no whole backup: {why}. Nothing was changed.")


def _checked(file: Path, *, any_vault: bool) -> list[dict[str, Any]]:
    """All rows of a file whose header and sums are right."""
    try:
        lines = file.read_bytes().splitlines(keepends=True)
    except OSError:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "The file can't be read. Name a backup.") from None
    try:
        rows = [json.loads(line) for line in lines]
        header, *body, sums = rows
        if header["kind"] != "header" or header["format"] != FORMAT or sums["kind"] != "sums":
            raise ValueError
        kinds = Counter(row["kind"] for row in body)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _no_backup("its header or its last line is missing, or a line is torn") from None
    if header["version"] != VERSION:
        raise _no_backup(f"it has version {header['version']!r} of the format, and this Synapse reads {VERSION}")
    if hashlib.sha256(b"".join(lines[:-1])).hexdigest() != sums["sha256"] or kinds != Counter(sums["counts"]):
        raise _no_backup("its sums do not fit")
    if set(kinds) - set(KINDS):
        raise _no_backup("it holds a kind of row that nobody knows")
    if header["vault"] != str(current_vault().id) and not any_vault:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "The backup is of another vault. Say --any-vault to take it in all the same. Nothing was changed.",
        )
    return body


def _take_accounts(rows: list[dict[str, Any]], done: Restored) -> None:
    for row in (row for row in rows if row["kind"] == "group"):
        group, made = Group.objects.get_or_create(name=row["name"])
        _count(done, "group", made=made)
        if made:
            group.permissions.set(_found(row["permissions"]))
    for row in (row for row in rows if row["kind"] == "user"):
        if User.objects.filter(username=row["username"]).exists():
            _count(done, "user", made=False)
            continue
        user = User.objects.create(**_read(row, _USER))
        user.groups.set(Group.objects.filter(name__in=row["groups"]))
        user.user_permissions.set(_found(row["permissions"]))
        _count(done, "user", made=True)


def _found(names: list[str]) -> list[Permission]:
    """Those of the permissions that this version has."""
    known = Permission.objects.select_related("content_type")
    return [one for one in known if f"{one.content_type.app_label}.{one.codename}" in set(names)]


def _take_tokens(rows: list[dict[str, Any]], done: Restored) -> None:
    owners = {user.get_username(): user for user in User.objects.all()}
    for row in rows:
        values = _read(row, _TOKEN)
        here = Token.objects.filter(digest=values["digest"])
        if here.exists():
            _count(done, "token", made=False)
            # Revoking is the newer of two decisions, whichever side made it.
            if values["revoked_at"]:
                done.revoked += here.filter(revoked_at__isnull=True).update(revoked_at=values["revoked_at"])
            continue
        if row["user"] is not None and row["user"] not in owners:
            done.problems.append("A token was left out: its person is not here.")
            continue
        created = values.pop("created_at")
        token = Token.objects.create(**values, user=owners.get(row["user"]))
        Token.objects.filter(pk=token.pk).update(created_at=created)
        _count(done, "token", made=True)


def _take_clients(rows: list[dict[str, Any]], done: Restored) -> None:
    model = get_application_model()
    for row in rows:
        if model.objects.filter(client_id=row["client_id"]).exists():
            _count(done, "client", made=False)
            continue
        # What is kept is a digest already, which saving would take for a secret.
        model.objects.bulk_create([model(**_read(row, _CLIENT))])
        _count(done, "client", made=True)


def _take_audit(rows: list[dict[str, Any]], done: Restored) -> None:
    """Rows that are not here, each as often as it is there; two of one moment that say the same are two."""
    here = Counter(_same(_values(row, _AUDIT)) for row in Audit.objects.order_by("pk").iterator(chunk_size=_BATCH))
    new = []
    for row in rows:
        key = _same({name: row[name] for name in _AUDIT})
        if here[key]:
            here[key] -= 1
            _count(done, "audit", made=False)
            continue
        new.append(_read(row, _AUDIT))
        _count(done, "audit", made=True)
    for first in range(0, len(new), _BATCH):
        batch = new[first : first + _BATCH]
        made = Audit.objects.bulk_create([Audit(**values) for values in batch])
        for row_made, values in zip(made, batch, strict=True):
            row_made.at = values["at"]  # creating one sets the time of now
        Audit.objects.bulk_update(made, ["at"])


def _same(values: dict[str, Any]) -> str:
    return json.dumps({**values, "at": _read_moment(values["at"]).timestamp()}, sort_keys=True)


def _take_queue(lines: list[Any], done: Restored, *, author: Author, any_vault: bool) -> None:
    if not lines:
        return
    stream = BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    taken = import_lines(lines=bounded_lines(stream), author=author, any_vault=any_vault)
    done.added["review"] += taken.items + taken.runs
    done.known["review"] += taken.known + taken.standing
    done.problems += [f"A line of the queue was left out: {problem['error']}" for problem in taken.problems]


def _count(done: Restored, kind: str, *, made: bool) -> None:
    (done.added if made else done.known)[kind] += 1


def _read(row: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: _read_moment(row[name]) if name in _MOMENTS and row[name] else row[name] for name in names}


def _read_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError
    return moment
