"""What a page's file becomes: composed under its lock, and then written, or only shown.

One set of rules for both, so that what a person was shown is what is written. Source: the write rules in
docs/writing.md.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import check_characters, compose, validate
from vault.history import Author
from vault.paths import check_writable_name
from vault.writing.target import sha256
from wiki import sync
from wiki.models import Page
from wiki.services import rules
from wiki.services.filing import Held, held, locked, make, or_composed, replace
from wiki.services.merge import merged_file, new_file
from wiki.services.naming import free_path, taken_by, titled_page
from wiki.services.normalise import Normaliser
from wiki.services.notices import remote_content
from wiki.services.recording import PageWritten
from wiki.services.rescan import scan_is_running

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Composed:
    """A file as it would be written: ``text`` is the whole of it, ``page`` None for one that is not there yet.

    ``base_hash`` is the sha256 (hex) of the version it was composed on, None for a new page; ``warnings`` are those
    that the write would answer.
    """

    page: Page | None
    path: str
    title: str
    text: str
    base_hash: str | None
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Given:
    """What an author gives for a page. ``title`` is NFC without blanks around it, and the frontmatter's own."""

    title: str
    content: str
    frontmatter: dict[str, Any]
    origin_source: str
    sources_replace: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """How an author means it: on which version, which of several pages, and whether a refused text is kept."""

    author: Author
    base_hash: str | None
    path: str | None
    keep_draft: bool


def compose_page(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    only_new: bool = False,
    author: Author,
) -> Composed:
    """All that :func:`wiki.services.write_page` does up to the write, with the same refusals; nothing is changed.

    ``only_new`` composes as :func:`wiki.services.create_page` does. A text that is refused is not kept as a draft.
    """
    return composed(
        title=title,
        content=content,
        frontmatter=frontmatter,
        origin_source=origin_source,
        base_hash=base_hash,
        path=path,
        only_new=only_new,
        keep_draft=False,
        author=author,
        then=lambda made, _: made,
    )


def composed(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    sources_replace: bool = False,
    only_new: bool = False,
    keep_draft: bool = True,
    author: Author,
    then: Callable[[Composed, Held | None], T],
) -> T:
    """Compose a page's file under its lock (a new page's: its title's), and what ``then`` makes of it there.

    ``then`` gets the page as held, None for a new one.
    """
    rules.check_writes_allowed()
    title = rules.clean_title(title)
    page = None if only_new else titled_page(title, path)
    given = _given(title, content, frontmatter, origin_source=origin_source, sources_replace=sources_replace, page=page)
    asked = _Asked(author, base_hash, path, keep_draft)
    if page is not None:
        try:
            return _changed(page, given, asked, then)
        except SynapseError as error:
            if error.code is not ErrorCode.PAGE_NOT_FOUND or scan_is_running():
                raise
        # Deleted or renamed by somebody whom the index has not noticed yet: look, and find the page again.
        sync.sync_paths([page.path])
        page = titled_page(title, path)
        if page is not None:
            return _changed(page, given, asked, then)
    return _made(given, asked, then)


def put(
    made: Composed,
    now: Held | None,
    *,
    author: Author,
    detail: dict[str, Any] | None = None,
    intent: Callable[[str], None] | None = None,
) -> PageWritten:
    """Write what was composed, under the lock it was composed under.

    ``intent`` is called with the sha256 (hex) of the bytes just before they are written; ``detail`` goes into the
    audit row.
    """
    data = made.text.encode()
    if intent is not None:
        intent(sha256(data))
    if now is None:
        written = make(made.path, data, author=author, detail=detail)
    else:
        written = replace(now, data, author=author, detail=detail)
    written.warnings.extend(made.warnings)
    return written


def today() -> str:
    """The day that a page's ``created`` and ``updated`` name: YYYY-MM-DD, in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _given(
    title: str,
    content: str,
    properties: Mapping[str, Any],
    *,
    origin_source: str,
    sources_replace: bool,
    page: Page | None,
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


def _changed(page: Page, given: Given, asked: _Asked, then: Callable[[Composed, Held | None], T]) -> T:
    with held(page) as now:
        if now.page.title != given.title:
            raise taken_by(now.page, "The page was given another title meanwhile.")
        rules.check_place(now.page.path)
        links = Normaliser(path=now.page.path, title=given.title, body=given.content, properties=given.frontmatter)

        def merged() -> str:
            return merged_file(
                now.text,
                links.properties(),
                links.body(),
                origin_source=given.origin_source,
                sources_replace=given.sources_replace,
                today=today(),
            )

        def refused() -> bytes:
            return or_composed(lambda: merged().encode(), lambda: compose(given.frontmatter, given.content).encode())

        text = refused if asked.keep_draft else None
        rules.check_base(now.page, now.read, asked.base_hash, author=asked.author, text=text)
        return then(_composed(given, links, merged(), now.page, now.read.content_hash), now)


def _made(given: Given, asked: _Asked, then: Callable[[Composed, Held | None], T]) -> T:
    rules.check_new_title(given.title)
    with locked(rules.title_lock_name(given.title)):
        appeared = titled_page(given.title, None)
        if appeared is not None:
            raise taken_by(appeared, "A page with this title is there already.")
        place = free_path(str(given.frontmatter["type"]), given.title)
        _check_asked(place, asked)
        links = Normaliser(path=place, title=given.title, body=given.content, properties=given.frontmatter)
        text = new_file(links.properties(), links.body(), origin_source=given.origin_source, today=today())
        return then(_composed(given, links, text, None, None), None)


def _composed(given: Given, links: Normaliser, text: str, page: Page | None, base_hash: str | None) -> Composed:
    rules.check_size(text.encode())
    warnings = remote_content(given.content, links.parsed.remote_images)
    return Composed(page, links.path, given.title, text, base_hash, warnings)


def _check_asked(place: str, asked: _Asked) -> None:
    """A new page has no version to be based on, and no say in where it goes."""
    if asked.path is not None and check_writable_name(asked.path) != place:
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED,
            f"A new page of this type and title is made at {place}. Leave out `path`.",
            path=place,
        )
    if asked.base_hash:
        raise SynapseError(
            ErrorCode.CONFLICT,
            "No live page has this title, so there is no version to change. Leave out base_hash to make the page, "
            "or search for the page you have read.",
            content_hash=None,
        )
