"""One page as prime looks at it: what its levels, relations and quality are made from, and nothing else.

All of it follows from the page alone. So a write changes one page's levels, and a rebuild gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from vault.frontmatter import aliases_of, lang_of, sources_of, tags_of, text_of
from vault.markdown import ParsedBody, ParsedLink, parse_body
from vault.pages import ParsedPage, property_links
from wiki.search.text import clean
from wiki.storable import names_of, storable, title_of

#: The kind of a page that has none of the five types.
NO_TYPE: Final = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageText:
    """A page's own words.

    ``kind`` is the type, or ``page``; ``body`` the Markdown after the frontmatter as the words index holds it (NFC),
    ``read`` what it holds, with offsets into it; ``property_links`` the links of the frontmatter, numbered after
    those of the body. ``flags`` are ``{"code", "reason"}`` of what is wrong with the file.
    """

    title: str
    kind: str
    lang: str
    body: str
    read: ParsedBody
    frontmatter: Mapping[str, Any]
    tags: Sequence[str]
    aliases: Sequence[str]
    sources: Sequence[str]
    property_links: Sequence[ParsedLink]
    flags: Sequence[Mapping[str, str]] = ()

    @classmethod
    def of(cls, title: str, kind: str | None, body: str, frontmatter: Mapping[str, Any] | None = None) -> Self:
        """A page that is no file: all else is read from its body and its properties."""
        properties = dict(frontmatter or {})
        body = clean(body)
        read = parse_body(body)
        tags = [*tags_of(properties), *read.tags]
        return cls(
            title=title,
            kind=kind or NO_TYPE,
            lang=lang_of(properties),
            body=body,
            read=read,
            frontmatter=properties,
            tags=list({tag.casefold(): tag for tag in reversed(tags)}.values())[::-1],
            aliases=aliases_of(properties),
            sources=sources_of(properties),
            property_links=list(property_links(properties)),
        )

    @classmethod
    def of_page(cls, parsed: ParsedPage) -> Self:
        """A page as its file was read (:func:`vault.pages.parse_page`)."""
        body = clean(parsed.body)
        return cls(
            title=title_of(parsed),
            kind=parsed.type or NO_TYPE,
            lang=parsed.lang[:16],
            body=body,
            # What NFC makes shorter has its headings and links elsewhere.
            read=parsed.read if body == parsed.body else parse_body(body),
            frontmatter=parsed.frontmatter,
            tags=names_of(parsed.tags),
            aliases=names_of(parsed.aliases),
            sources=[storable(source) for source in parsed.sources],
            property_links=parsed.property_links,
            flags=parsed.flags,
        )

    def word(self, key: str) -> str:
        """A property that is one line of text; "" when it is something else or missing."""
        return " ".join(storable(text_of(self.frontmatter.get(key))).split())

    @property
    def description(self) -> str:
        """What the page is about, on one line: its ``description``, else its first sentence."""
        return self.word("description") or storable(self.read.summary)
