"""Links as an agent writes them, turned into links that Obsidian resolves too.

The page meant is the only live page with exactly the title written; else Obsidian's answer; else the only page with
that title in another case, or with that alias. Its target becomes the file's stem if Obsidian's rule leads from the
file being written to that page, else the page's whole path. What nothing matches becomes ``[[<slug>|text]]``, so that
it works once the page exists. A link that is right already keeps its bytes.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import Any, Final

from vault.current import current_vault
from vault.frontmatter.properties import aliases_of
from vault.links import RESOLVED, link_text, resolve, writable_target
from vault.markdown import ParsedBody, ParsedLink, parse_body, parse_property_link, rewrite_links
from vault.paths import is_allowed
from vault.slugs import slugify
from wiki.candidates import Candidates
from wiki.services.linktext import TableSpans, write_link, write_property

#: Properties whose texts are no links to be changed: names, codes and places.
_NOT_LINKS: Final = frozenset({"type", "title", "sources", "lang", "aliases", "tags", "created", "updated"})
#: A target that ends like this is a file which may come later, not a page without a name.
_ATTACHMENT: Final = re.compile(
    r"\.(?:avif|bmp|gif|jpe?g|png|svg|webp|flac|m4a|mp3|ogg|wav|webm|3gp|mkv|mov|mp4|ogv|pdf|canvas|base|csv|json|txt"
    r"|html?|docx?|xlsx?|pptx?|zip)\Z",
    re.IGNORECASE,
)


class Normaliser:
    """The links of one text that is about to become the page ``title`` at ``path``."""

    def __init__(self, *, path: str, title: str, body: str, properties: dict[str, Any]) -> None:
        self.path = path
        self.parsed: ParsedBody = parse_body(body)
        self._body = body
        self._properties = properties
        self._found = Candidates()
        self._decided: dict[str, str | None] = {}
        targets = {link.target for link in self._links() if link.target}
        slugs = {slugify(_stem(target)) for target in targets}
        self._found.load(targets, paths=[path, *slugs])
        self._found.add_page(path, title, aliases_of(properties))
        meant = {found for target in targets if (found := self._meant(target))}
        self._found.load_paths(meant)

    def body(self) -> str:
        """The body with its wikilinks as they are to be written."""
        tables = TableSpans(self._body)

        def replace(link: ParsedLink) -> str | None:
            target = self._target(link)
            if target is None:
                return None
            return write_link(self._body, link, tables, target=target, alias=self._alias(link))

        return rewrite_links(self._body, replace)

    def properties(self) -> dict[str, Any]:
        """The properties with the links among them as they are to be written."""
        return {
            key: value if key in _NOT_LINKS else self._property(value, key) for key, value in self._properties.items()
        }

    def _property(self, value: Any, key: str) -> Any:
        if isinstance(value, list):
            return [self._property(item, key) for item in value]
        if isinstance(value, dict):
            return {name: self._property(item, key) for name, item in value.items()}
        link = parse_property_link(value, key) if isinstance(value, str) else None
        target = self._target(link) if link else None
        return write_property(link, target=target, alias=self._alias(link)) if link and target else value

    def _links(self) -> Iterator[ParsedLink]:
        yield from self.parsed.links
        waiting = [value for key, value in self._properties.items() if key not in _NOT_LINKS]
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting.extend(value)
            elif isinstance(value, dict):
                waiting.extend(value.values())
            elif isinstance(value, str) and (link := parse_property_link(value, "")):
                yield link

    def _alias(self, link: ParsedLink) -> str | None:
        """What is shown stays what was shown. An embed shows the page itself, and its alias is a size."""
        if link.alias is not None:
            return link.alias
        if link.embed and self._meant(link.target):
            return None
        return link.target

    def _target(self, link: ParsedLink) -> str | None:
        """The target to write instead; None for a link that stays as it is."""
        if link.kind == "markdown" or not link.target:
            return None
        if link.target not in self._decided:
            self._decided[link.target] = self._decide(link.target)
        return self._decided[link.target]

    def _decide(self, target: str) -> str | None:
        meant = self._meant(target)
        answer = resolve(target, source=self.path, targets=self._found.targets)
        if meant is None:
            return self._for_later(target) if answer.state == "broken" else None
        if answer.path == meant and answer.state in (RESOLVED, "ambiguous") and not self._unsure(target, answer.state):
            return None
        new = link_text(page_path=meant, title="", source=self.path, targets=self._found.targets)
        return new if new != target and writable_target(new) else None

    def _unsure(self, target: str, state: str) -> bool:
        """A title that names one page, written where Obsidian has to choose between files."""
        return state == "ambiguous" and self._found.only_titled(target) is not None

    def _meant(self, target: str) -> str | None:
        titled = self._found.only_titled(target)
        return titled or resolve(target, source=self.path, targets=self._found.targets).path

    def _for_later(self, target: str) -> str | None:
        """The slug of a page that does not exist yet; None where the target is something else, or the slug is taken."""
        if "://" in target or _ATTACHMENT.search(target) or _is_place(target):
            return None
        slug = slugify(_stem(target))
        return slug if slug != target and not self._found.has_name(slug) else None


def _stem(target: str) -> str:
    return target[:-3] if target.lower().endswith(".md") else target


def _is_place(target: str) -> bool:
    """Whether a target with slashes is a path (its first part is a folder that exists), not a title such as TCP/IP."""
    first, slash, _ = target.partition("/")
    if not slash:
        return False
    if first in ("", ".", "..") or not is_allowed(first):
        return True
    try:
        return stat.S_ISDIR(os.lstat(current_vault().root / first).st_mode)
    except OSError:
        return False
