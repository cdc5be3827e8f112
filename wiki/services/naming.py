"""Which page a title is, and where a new one goes."""

from __future__ import annotations

import unicodedata
from typing import Final

from django.conf import settings

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.links import path_key
from vault.pages import parse_page
from vault.paths import check_writable_name
from vault.slugs import page_path
from wiki.models import Page
from wiki.services import rules
from wiki.services.reading import ambiguous, titled

_MOST: Final = 1000


def titled_page(title: str, path: str | None) -> Page | None:
    """The live page of this title that a writer means, None when there is none.

    Raises ``ambiguous_title`` when ``path`` does not decide between several, and ``path_not_allowed``, naming the
    path, when the title belongs to a page that may not be written.
    """
    found = list(titled(title)[:21])
    if path is not None:
        found = _at(found, check_writable_name(path, existing=True))
    if len(found) > 1:
        raise ambiguous(found)
    if not found:
        return None
    rules.check_place(found[0].path)
    return found[0]


def _at(found: list[Page], path: str) -> list[Page]:
    """Those at ``path``. A title owned elsewhere, or a path with another title, is refused."""
    wanted = unicodedata.normalize("NFC", path)
    there = [page for page in found if unicodedata.normalize("NFC", page.path) == wanted]
    if found and not there:
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED,
            f"The page of this title is {found[0].path}. Give that path, or another title.",
            path=found[0].path,
        )
    if not there:
        rules.check_place(path)
        other = Page.objects.live().filter(path=path).first()
        if other is not None:
            raise taken_by(other, "The page at this path has another title.")
    return there


def taken_by(page: Page, what: str) -> SynapseError:
    """The ``conflict`` with a page that stands; tells its title, path and hash."""
    return SynapseError(
        ErrorCode.CONFLICT,
        f"{what} Read it, and decide whether to change it.",
        id=str(page.uid),
        title=page.title,
        path=page.path,
        content_hash=page.content_hash,
    )


def free_path(page_type: str, title: str) -> str:
    """Where a new page of a type goes: ``wiki/<folder of the type>/<slug>.md``; ``-2``, ``-3`` … when that is taken.

    Raises ``path_not_allowed`` when SYNAPSE_WRITE_DIRS does not allow it, ``conflict`` when an unindexed file there
    has this very title.
    """
    path = page_path(page_type, title)
    rules.check_place(path)
    return free_name(path, title)


def free_name(path: str, title: str) -> str:
    """``path`` or, when another page or file has it (in any case or Unicode form), the same with a number."""
    stem = path[: -len(".md")]
    for number in range(1, _MOST):
        candidate = path if number == 1 else f"{stem}-{number}.md"
        if not is_taken(candidate, title):
            return check_writable_name(candidate)
    raise SynapseError(ErrorCode.CONFLICT, "Too many pages have titles like this one. Choose another title.")


def is_taken(path: str, title: str) -> bool:
    """Whether another page or file has this path; ``conflict`` when an unindexed file there has this very title."""
    if Page.objects.live().filter(path_key=path_key(path)).exists():
        return True
    vault = current_vault()
    if vault.stat(path) is None:
        return False
    try:
        read = vault.read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES)
    except SynapseError:
        return True
    if parse_page(path, read.data).title == title:
        raise SynapseError(
            ErrorCode.CONFLICT,
            "A file with this title has just appeared. Read it, and decide whether to change it.",
            path=path,
            content_hash=read.content_hash,
        )
    return True
