"""Texts that were composed earlier and are written now, as they were shown: neither merged nor normalised again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings

from vault import history
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import split, update, validate
from vault.frontmatter.properties import sources_of
from vault.history import Author
from vault.paths import check_writable_name
from vault.slugs import page_path
from vault.writing.target import sha256
from wiki.models import Page
from wiki.services import rules
from wiki.services.composing import Composed, put, today
from wiki.services.filing import held, locked
from wiki.services.merge import existing_properties
from wiki.services.naming import is_taken, titled_page
from wiki.services.recording import PageWritten


def write_composed(
    *,
    page: Page | None,
    title: str,
    path: str,
    text: str,
    base_hash: str | None,
    author: Author,
    detail: dict[str, Any] | None = None,
    intent: Callable[[str], None] | None = None,
) -> PageWritten:
    """Write exactly this text, in which only the line of ``updated`` is set to today.

    A ``page`` is changed wherever it is by now, if its file still is the version ``base_hash`` (sha256, hex); without
    one, ``title`` is made at ``path``, if both are free. ``intent`` is called with the sha256 of the bytes just before
    they are written; ``detail`` goes into the audit row.

    Raises ``conflict`` with ``base`` (what the text was based on, where the history has it), ``current`` (what stands)
    and ``proposed``, each the whole text or None; ``invalid_frontmatter``, ``path_not_allowed``, ``payload_too_large``,
    ``read_only``, ``storage_error``. Nothing has been changed then.
    """
    rules.check_writes_allowed()
    made = Composed(page, path, rules.clean_title(title), text, base_hash)
    rules.check_text(text)
    page_type = _type_checked(made)

    def write(stamped: Composed, now: Any) -> PageWritten:
        return put(stamped, now, author=author, detail=detail, intent=intent)

    return _change(made, write) if page is not None else _make(made, page_type, write)


def is_stale(error: SynapseError) -> bool:
    """Whether a refusal says that something else stands there, and not only that somebody else is at work."""
    return error.code in (ErrorCode.CONFLICT, ErrorCode.STALE_BASE) and "content_hash" in error.repair


def conflicting(message: str, *, page: Page | None, base_hash: str | None, proposed: str, path: str) -> SynapseError:
    """A ``conflict`` with the three texts from which whoever decides can make one."""
    current = _current(page.path if page else path)
    return SynapseError(
        ErrorCode.CONFLICT,
        f"{message} Nothing was written. `base`, `current` and `proposed` are the texts: make one of them from the "
        "current version.",
        content_hash=sha256(current) if current is not None else None,
        path=page.path if page else path,
        base=_as_text(_version(page.uid, base_hash)) if page and base_hash else None,
        current=_as_text(current),
        proposed=proposed,
    )


def _change(made: Composed, write: Callable[[Composed, Any], PageWritten]) -> PageWritten:
    page = made.page
    assert page is not None  # noqa: S101 - the caller has looked
    refusal = "The page has changed since this was proposed."
    try:
        with held(page) as now:
            rules.check_place(check_writable_name(now.page.path, existing=True))
            if now.read.content_hash == made.base_hash:
                try:
                    return write(_stamped(made), now)
                except SynapseError as error:  # somebody saved after the file was read
                    if not is_stale(error):
                        raise
    except SynapseError as error:
        if error.code is not ErrorCode.PAGE_NOT_FOUND:
            raise
        refusal = "The page is not there any more."
    page = Page.objects.filter(pk=page.pk).first() or page
    raise conflicting(refusal, page=page, base_hash=made.base_hash, proposed=made.text, path=page.path)


def _make(made: Composed, page_type: str, write: Callable[[Composed, Any], PageWritten]) -> PageWritten:
    rules.check_new_title(made.title)
    _check_new_place(made.path, page_type, made.title)
    with locked(rules.title_lock_name(made.title)):
        there = titled_page(made.title, None)
        if there is not None:
            refusal = "A page with this title has been made since this was proposed."
            raise conflicting(refusal, page=there, base_hash=None, proposed=made.text, path=there.path)
        try:
            if not is_taken(made.path, made.title):
                return write(_stamped(made), None)
        except SynapseError as error:
            if not is_stale(error):
                raise
        refusal = "Another file has taken the place where this was to be made."
        raise conflicting(refusal, page=None, base_hash=None, proposed=made.text, path=made.path)


def _type_checked(made: Composed) -> str:
    """The text's page type, when its frontmatter is what a page must have: ``invalid_frontmatter`` else.

    The rest of a file's own frontmatter is the person's, and need only parse.
    """
    properties = existing_properties(split(made.text), whose="The proposed")
    required = {key: properties.get(key) for key in ("type", "title", "lang")}
    validate({**required, "sources": sources_of(properties)}, title=made.title)
    return str(properties["type"])


def _check_new_place(path: str, page_type: str, title: str) -> None:
    rules.check_place(check_writable_name(path))
    place = page_path(page_type, title)
    if not re.fullmatch(re.escape(place.removesuffix(".md")) + r"(?:-[1-9][0-9]{0,3})?\.md", path):
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED, f"A new page of this type and title is made at {place}.", path=place
        )


def _stamped(made: Composed) -> Composed:
    return replace(made, text=update(made.text, {"updated": today()}))


def _current(path: str) -> bytes | None:
    """What stands at a path, None when nothing can be read there."""
    try:
        return current_vault().read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES).data
    except SynapseError:
        return None


def _version(uid: UUID, content_hash: str) -> bytes | None:
    """The bytes of this hash that the page once had, None when the history does not keep them."""
    vault = current_vault()
    try:
        for version in history.versions(vault, uid):
            if version.displaced_hash == content_hash and version.file is not None:
                data = history.read_version(vault, uid, version.number, displaced=True)
                if sha256(data) == content_hash:
                    return data
    except SynapseError:
        return None
    return None


def _as_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", errors="replace")
