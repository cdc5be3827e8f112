"""Taking a backup in: what :mod:`synapse.backup` wrote comes into this database, all of it or nothing."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Final

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from oauth2_provider.models import get_application_model

from reviews.services import import_lines
from reviews.services.lines import bounded_lines
from synapse.backup import AUDIT, BATCH, CLIENT, FORMAT, KINDS, TOKEN, USER, VERSION, values_of
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki import audit
from wiki.models import Audit, Token
from wiki.rows import chunks

_MOMENTS: Final = {"date_joined", "last_login", "created_at", "expires_at", "last_used_at", "revoked_at", "at"}


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


def restore(file: Path, *, author: Author, any_vault: bool = False, dry_run: bool = False) -> Restored:
    """Take a backup in: what is not here comes in, what is here stays, but for tokens that were revoked there.

    The whole file is checked before anything is written. A second time nothing changes. Raises
    ``invalid_param_value`` for what is no whole backup, or another vault's unless ``any_vault``.
    """
    done = Restored(dry_run)
    try:
        with _opened(file) as source:
            sums = _checked(source, any_vault=any_vault)
            with transaction.atomic():
                _take_in(_rows(source, sums), done, author=author, any_vault=any_vault)
                if sum(done.added.values()) or done.revoked:
                    detail = {"rows": sum(done.added.values()), "revoked": done.revoked}
                    audit.record(action="restore-backup", author=author, detail=detail)
                if dry_run:
                    transaction.set_rollback(True)
    except OSError:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "The file can't be read. Name a backup.") from None
    except (KeyError, TypeError, ValueError, ValidationError, DataError, IntegrityError):
        raise _no_backup("it holds a row that can't be one") from None
    return done


def _take_in(rows: Iterable[dict[str, Any]], done: Restored, *, author: Author, any_vault: bool) -> None:
    takers: dict[str, Callable[[Iterable[dict[str, Any]], Restored], None]] = {
        "group": _take_groups,
        "user": _take_users,
        "token": _take_tokens,
        "client": _take_clients,
        "audit": _take_audit,
        "review": partial(_take_queue, author=author, any_vault=any_vault),
    }
    for kind, some in groupby(rows, key=lambda row: row["kind"]):
        takers[kind](some, done)


def _no_backup(why: str) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"This is no whole backup: {why}. Nothing was changed.")


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """The file, which is read twice: what comes through a pipe is laid down for that time."""
    with file.open("rb") as given:
        if given.seekable():
            yield given
            return
        with tempfile.TemporaryFile(dir=settings.SYNAPSE_DATA) as kept:
            shutil.copyfileobj(given, kept)
            kept.seek(0)
            yield kept


@dataclass(slots=True)
class _Sums:
    """What a file holds between its header and its last line, as it was found to be."""

    header: Any = None
    last: Any = None
    lines: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    in_order: bool = True
    digest: str = ""


def _checked(source: IO[bytes], *, any_vault: bool) -> _Sums:
    """Read the whole file, and refuse it unless its header and sums are right."""
    try:
        sums = _summed(source)
        header, said = sums.header, sums.last
        if header["kind"] != "header" or header["format"] != FORMAT or said["kind"] != "sums":
            raise ValueError
        version, digest, counts, vault = header["version"], said["sha256"], Counter(said["counts"]), header["vault"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _no_backup("its header or its last line is missing, or a line is torn") from None
    if version != VERSION:
        raise _no_backup(f"it has version {version!r} of the format, and this Synapse reads {VERSION}")
    if digest != sums.digest or counts != sums.kinds:
        raise _no_backup("its sums do not fit")
    if set(sums.kinds) - set(KINDS):
        raise _no_backup("it holds a kind of row that nobody knows")
    if not sums.in_order:
        raise _no_backup("its rows are in another order")
    if vault != str(current_vault().id) and not any_vault:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "The backup is of another vault. Say --any-vault to take it in all the same. Nothing was changed.",
        )
    return sums


def _summed(source: IO[bytes]) -> _Sums:
    sums, digest, line, place = _Sums(), hashlib.sha256(), b"", 0
    for number, each in bounded_lines(source):
        if number > 2:  # the line before was neither the first nor, as is known now, the last
            kind = sums.last["kind"]
            sums.kinds[kind] += 1
            here = KINDS.index(kind) if kind in KINDS else place
            sums.in_order, place = sums.in_order and place <= here, here
        digest.update(line)
        line = _whole(each)
        sums.last = json.loads(line)
        sums.header = sums.last if number == 1 else sums.header
        sums.lines = number
    sums.digest = digest.hexdigest()
    return sums


def _rows(source: IO[bytes], sums: _Sums) -> Iterator[dict[str, Any]]:
    """The rows of a file that was checked, which must be the same still when they have been read."""
    source.seek(0)
    digest = hashlib.sha256()
    for number, each in bounded_lines(source):
        if number == sums.lines:
            break
        line = _whole(each)
        digest.update(line)
        if number > 1:
            yield json.loads(line)
    if digest.hexdigest() != sums.digest:
        raise _no_backup("it has changed while it was read")


def _whole(line: bytes | None) -> bytes:
    if line is None:
        raise ValueError("longer than any line of a backup")
    return line


def _take_groups(rows: Iterable[dict[str, Any]], done: Restored) -> None:
    for row in rows:
        group, made = Group.objects.get_or_create(name=row["name"])
        _count(done, "group", made=made)
        if made:
            group.permissions.set(_found(row["permissions"]))


def _take_users(rows: Iterable[dict[str, Any]], done: Restored) -> None:
    for row in rows:
        if User.objects.filter(username=row["username"]).exists():
            _count(done, "user", made=False)
            continue
        user = User.objects.create(**_read(row, USER))
        user.groups.set(Group.objects.filter(name__in=row["groups"]))
        user.user_permissions.set(_found(row["permissions"]))
        _count(done, "user", made=True)


def _found(names: list[str]) -> list[Permission]:
    """Those of the permissions that this version has."""
    known = Permission.objects.select_related("content_type")
    return [one for one in known if f"{one.content_type.app_label}.{one.codename}" in set(names)]


def _take_tokens(rows: Iterable[dict[str, Any]], done: Restored) -> None:
    owners = {user.get_username(): user for user in User.objects.all()}
    for row in rows:
        values = _read(row, TOKEN)
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


def _take_clients(rows: Iterable[dict[str, Any]], done: Restored) -> None:
    model = get_application_model()
    for row in rows:
        if model.objects.filter(client_id=row["client_id"]).exists():
            _count(done, "client", made=False)
            continue
        # What is kept is a digest already, which saving would take for a secret.
        model.objects.bulk_create([model(**_read(row, CLIENT))])
        _count(done, "client", made=True)


def _take_audit(rows: Iterable[dict[str, Any]], done: Restored) -> None:
    """Rows that are not here, each as often as it is there; two of one moment that say the same are two."""
    here = Counter(_same(values_of(row, AUDIT)) for row in Audit.objects.order_by("pk").iterator(chunk_size=BATCH))
    for some in chunks(rows, BATCH):
        new = []
        for row in some:
            key = _same({name: row[name] for name in AUDIT})
            made = not here[key]
            if made:
                new.append(_read(row, AUDIT))
            else:
                here[key] -= 1
            _count(done, "audit", made=made)
        rows_made = Audit.objects.bulk_create([Audit(**values) for values in new])
        for row_made, values in zip(rows_made, new, strict=True):
            row_made.at = values["at"]  # creating one sets the time of now
        Audit.objects.bulk_update(rows_made, ["at"])


def _same(values: dict[str, Any]) -> bytes:
    """What two rows that say the same have in common: so much of each is kept in memory."""
    said = json.dumps({**values, "at": _read_moment(values["at"]).timestamp()}, sort_keys=True)
    return hashlib.sha256(said.encode()).digest()[:16]


def _take_queue(rows: Iterable[dict[str, Any]], done: Restored, *, author: Author, any_vault: bool) -> None:
    lines = (json.dumps(row["line"]).encode() + b"\n" for row in rows)
    taken = import_lines(lines=enumerate(lines, start=1), author=author, any_vault=any_vault)
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
