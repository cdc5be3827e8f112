"""Making and changing pages: the one write path.

Source: the write rules in docs/writing.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from vault import writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import check_characters, compose, split, validate
from vault.history import Author
from vault.paths import check_writable_name
from wiki import sync
from wiki.models import Page
from wiki.services import rules
from wiki.services.filing import LOCK_SECONDS, Held, check_may_change, held, or_composed, replace
from wiki.services.identity import uid_at
from wiki.services.merge import existing_properties, merged_file, new_file, with_properties
from wiki.services.naming import free_path, taken_by, titled_page
from wiki.services.normalise import Normaliser
from wiki.services.notices import remote_content
from wiki.services.recording import Change, PageWritten, record_bytes
from wiki.services.rescan import scan_is_running


@dataclass(frozen=True, slots=True)
class Given:
    """What an author gives for a page. ``title`` is NFC without blanks around it, and the frontmatter's own."""

    title: str
    content: str
    frontmatter: dict[str, Any]
    origin_source: str
    sources_replace: bool


def write_page(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    sources_replace: bool = False,
    author: Author,
) -> PageWritten:
    """Make the page of this title, or change it: the frontmatter is merged, the body replaced, links made to work.

    ``base_hash`` is the sha256 (hex) of the version a change was made from; it may be left out while Synapse itself
    wrote the file last. ``path`` decides between pages of one title. ``sources_replace`` sets ``sources`` instead of
    adding to them.

    Raises ``invalid_frontmatter``, ``invalid_content``, ``payload_too_large``, ``path_not_allowed``,
    ``ambiguous_title``, ``base_required``, ``conflict``, ``read_only``, ``storage_error``, all before anything is
    changed.
    """
    rules.check_writes_allowed()
    title = rules.clean_title(title)
    page = titled_page(title, path)
    given = _given(title, content, frontmatter, origin_source=origin_source, sources_replace=sources_replace, page=page)
    if page is not None:
        try:
            return _change(page, given, base_hash, author)
        except SynapseError as error:
            if error.code is not ErrorCode.PAGE_NOT_FOUND or scan_is_running():
                raise
        # Deleted or renamed by somebody whom the index has not noticed yet: look, and find the page again.
        sync.sync_paths([page.path])
        page = titled_page(title, path)
        if page is not None:
            return _change(page, given, base_hash, author)
    return _create(given, base_hash, path, author)


def create_page(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    author: Author,
) -> PageWritten:
    """Make a page as :func:`write_page` does; ``conflict`` when its title is taken already."""
    rules.check_writes_allowed()
    title = rules.clean_title(title)
    given = _given(title, content, frontmatter, origin_source=origin_source)
    return _create(given, None, None, author)


def put_page(
    *,
    page: Page,
    text: str | None = None,
    content: str | None = None,
    frontmatter: Mapping[str, Any] | None = None,
    base_hash: str | None,
    author: Author,
) -> PageWritten:
    """Replace a page as a person does: the whole ``text``, or its body and its properties, links kept as given.

    Of ``content`` and ``frontmatter`` what is left out stays; properties that ``frontmatter`` lacks are removed.
    Frontmatter need only parse. ``base_hash`` is always needed. Raises ``base_required``, ``stale_base`` or
    ``conflict``, ``invalid_frontmatter``, ``invalid_content``, ``payload_too_large``, ``path_not_allowed``.
    """
    check_may_change(page, author)
    if text is not None and (content is not None or frontmatter is not None):
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Send either the whole text, or content and frontmatter.")
    if text is None and content is None and frontmatter is None:
        raise SynapseError(ErrorCode.MISSING_REQUIRED_PARAMS, "Send the whole text, or content, or frontmatter.")
    for part in (text, content):
        if part is not None:
            rules.check_text(part)

    def new_text(now: Held) -> bytes:
        made = text if text is not None else with_properties(now.text, content, frontmatter)
        existing_properties(split(made), whose="The new")
        return made.encode()

    def alone() -> bytes:
        return (text if text is not None else compose(frontmatter or {}, content or "")).encode()

    with held(page) as now:
        rules.check_base(
            now.page,
            now.read,
            base_hash,
            author=author,
            required=True,
            text=lambda: or_composed(lambda: new_text(now), alone),
        )
        return replace(now, new_text(now), author=author)


def _given(
    title: str,
    content: str,
    properties: Mapping[str, Any],
    *,
    origin_source: str,
    sources_replace: bool = False,
    page: Page | None = None,
) -> Given:
    """Check what is given by the page validator."""
    if not content:
        raise SynapseError(ErrorCode.INVALID_CONTENT, "The content is empty. Send the page's text without frontmatter.")
    rules.check_text(content)
    check_characters(origin_source)
    wanted = rules.without_owned(dict(properties), page.frontmatter if page else {})
    own = wanted.get("title")
    if isinstance(own, str):
        wanted["title"] = unicodedata.normalize("NFC", own).strip()
    validate(wanted, title=title)
    return Given(title, content, wanted, " ".join(origin_source.split()), sources_replace)


def _change(page: Page, given: Given, base_hash: str | None, author: Author) -> PageWritten:
    with held(page) as now:
        if now.page.title != given.title:
            raise taken_by(now.page, "The page was given another title meanwhile.")
        rules.check_place(now.page.path)
        links = Normaliser(path=now.page.path, title=given.title, body=given.content, properties=given.frontmatter)

        def merged() -> bytes:
            return merged_file(
                now.text,
                links.properties(),
                links.body(),
                origin_source=given.origin_source,
                sources_replace=given.sources_replace,
                today=_today(),
            ).encode()

        def alone() -> bytes:
            return compose(given.frontmatter, given.content).encode()

        rules.check_base(now.page, now.read, base_hash, author=author, text=lambda: or_composed(merged, alone))
        detail = {"sources_replace": True} if given.sources_replace else None
        written = replace(now, merged(), author=author, detail=detail)
    written.warnings.extend(remote_content(given.content, links.parsed.remote_images))
    return written


def _create(given: Given, base_hash: str | None, path: str | None, author: Author) -> PageWritten:
    rules.check_new_title(given.title)
    vault = current_vault()
    with vault.lock(rules.title_lock_name(given.title), timeout=LOCK_SECONDS):
        appeared = titled_page(given.title, None)
        if appeared is not None:
            raise taken_by(appeared, "A page with this title is there already.")
        place = free_path(str(given.frontmatter["type"]), given.title)
        _check_asked(place, path, base_hash)
        links = Normaliser(path=place, title=given.title, body=given.content, properties=given.frontmatter)
        text = new_file(links.properties(), links.body(), origin_source=given.origin_source, today=_today())
        data = text.encode()
        rules.check_size(data)
        uid = uid_at(place)
        with vault.lock(rules.page_lock_name(uid), timeout=LOCK_SECONDS):
            written = writer.create(vault, place, data, page_id=uid, author=author)
            change = Change(action="write", uid=uid, path=place, author=author, written=written, created=True)
            made = record_bytes(change, data)
    made.warnings.extend(remote_content(given.content, links.parsed.remote_images))
    return made


def _check_asked(place: str, path: str | None, base_hash: str | None) -> None:
    """A new page has no version to be based on, and no say in where it goes."""
    if path is not None and check_writable_name(path) != place:
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED,
            f"A new page of this type and title is made at {place}. Leave out `path`.",
            path=place,
        )
    if base_hash:
        raise SynapseError(
            ErrorCode.CONFLICT,
            "No live page has this title, so there is no version to change. Leave out base_hash to make the page, "
            "or search for the page you have read.",
            content_hash=None,
        )


def _today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"
