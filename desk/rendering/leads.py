"""Where a page's links lead, as a reader is told it: the answer of the index, and an address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlencode

from django.urls import reverse

from desk.rendering.anchors import fragment
from vault.links import AMBIGUOUS, BROKEN, BY_ALIAS, BY_TITLE, SELF, resolve
from vault.markdown import ParsedLink
from vault.paths import classify
from wiki.candidates import Candidates

_PICTURES: Final = (".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")
_HINTS: Final = {
    BROKEN: "Nothing in the vault has this name. Follow it to search for it.",
    AMBIGUOUS: "Several files answer to this name. Write the path to say which one is meant.",
    BY_TITLE: "Found by its title; Obsidian goes by the file's name and does not follow it.",
    BY_ALIAS: "Found by an alias; Obsidian does not follow it.",
}


@dataclass(frozen=True, slots=True)
class Lead:
    """One link's answer. ``path`` is the file it leads to, None for none; ``hint`` is what to know of it."""

    state: str
    path: str | None
    address: str
    hint: str = ""

    @property
    def is_page(self) -> bool:
        """Whether a page can be shown in the link's place."""
        return self.path is not None and classify(self.path) == "page"

    @property
    def is_picture(self) -> bool:
        """Whether a picture can be."""
        return self.path is not None and is_picture(self.path)


class Leads:
    """The answers for the links of one text, from a few rows of the index."""

    def __init__(self, source: str, links: Sequence[ParsedLink]) -> None:
        self._source = source
        self._candidates = Candidates()
        self._load(link.target for link in links)

    def _load(self, targets: Iterable[str]) -> None:
        self._candidates.load({target.strip() for target in targets} - {""})

    def of(self, link: ParsedLink) -> Lead:
        """Where a link leads."""
        markdown = link.kind == "markdown"
        found = resolve(link.target, source=self._source, targets=self._candidates.targets, markdown=markdown)
        hint = _HINTS.get(found.state, "")
        if found.state == SELF:
            return Lead(SELF, self._source, fragment(link.subpath) or "#content", hint)
        if found.path is None:
            return Lead(found.state, None, search_address(link.target), hint)
        return Lead(found.state, found.path, page_address(found.path) + fragment(link.subpath), hint)

    def of_address(self, address: str) -> Lead:
        """Where a destination leads that is written at another place than its link."""
        path, hash_, subpath = address.partition("#")
        link = ParsedLink("markdown", False, unquote(path), hash_ + unquote(subpath), None, 0, 0)
        self._load([link.target])
        return self.of(link)


def is_picture(path: str) -> bool:
    """Whether the name is that of a picture a browser can show."""
    return path.lower().endswith(_PICTURES)


def page_address(path: str) -> str:
    """The address of a file of the vault at the desk."""
    return reverse("desk:page", args=[path])


def picture_address(path: str) -> str:
    """The address of a picture's bytes."""
    return reverse("desk:raw-file", args=[path])


def search_address(text: str = "", **filters: str) -> str:
    """The address of a search."""
    asked = {**({"q": text} if text else {}), **filters}
    return f"{reverse('desk:read')}?{urlencode(asked)}"
