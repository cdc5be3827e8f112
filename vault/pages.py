"""One file's bytes to everything the index needs of a page. Never raises for what a file holds."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from vault.frontmatter import PAGE_TYPES, aliases_of, lang_of, load, sources_of, split, tags_of, text_of
from vault.markdown import ParsedBody, ParsedLink, parse_body, parse_property_link
from vault.slugs import type_of_folder

ENCODING: Final = "encoding"
# What a template leaves to be filled in: text to Obsidian, a mapping that is its own key to YAML.
_PLACEHOLDER: Final = re.compile(
    r"^([ \t]*+(?:- ++|[^\s:#\"'{}][^:\n]*+: ++))\{\{([^{}\n\"\\]*+)\}\}[ \t\r]*+$", re.MULTILINE
)
# Those of UTF-32 first: the mark of UTF-16 is how one of them starts.
_WIDE: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "UTF-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "UTF-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "UTF-16", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as read.

    ``title`` and ``tags`` are those of the frontmatter, else of the file's name and the body; ``type`` is one of the
    five or None; ``flags`` are ``{"code", "reason"}`` of what is wrong with the file. ``links`` are those of the body,
    in order, with offsets into ``body``; ``property_links`` those of the frontmatter. ``read`` is all that the body
    holds; it starts ``body_offset`` characters into the decoded text, a byte order mark not counted.
    """

    path: str
    title: str
    type: str | None
    lang: str
    aliases: list[str]
    tags: list[str]
    sources: list[str]
    frontmatter: dict[str, Any]
    flags: list[dict[str, str]]
    summary: str
    links: list[ParsedLink]
    property_links: list[ParsedLink]
    headings: list[tuple[int, str]]
    blocks: list[str]
    remote_images: list[str]
    body: str
    body_offset: int
    words: int
    read: ParsedBody


def parse_page(path: str, data: bytes) -> ParsedPage:
    """Read a page from the bytes of its file at a vault path."""
    text, flags = decode(data)
    parts = split(text)
    properties: dict[str, Any] = {}
    linked = properties
    if parts.raw is not None:
        loaded = load(parts.raw)
        properties = loaded.data
        flags += [{"code": flag.code, "reason": flag.reason} for flag in loaded.flags]
        linked = properties if not loaded.flags else load(_PLACEHOLDER.sub(r'\1"{\2}"', parts.raw)).data
    body = parse_body(parts.body)
    return ParsedPage(
        path=path,
        title=_title(properties, path),
        type=_type(properties, path),
        lang=lang_of(properties),
        aliases=aliases_of(properties),
        tags=_merged(tags_of(properties), body.tags),
        sources=sources_of(properties),
        frontmatter=properties,
        flags=flags,
        summary=body.summary,
        links=body.links,
        property_links=list(property_links(linked)),
        headings=body.headings,
        blocks=body.blocks,
        remote_images=body.remote_images,
        body=parts.body,
        body_offset=parts.body_offset,
        words=body.words,
        read=body,
    )


def decode(data: bytes) -> tuple[str, list[dict[str, str]]]:
    """A file's text and the flags of its encoding; what is not UTF-8, and NUL, become U+FFFD.

    A byte order mark is no part of the text. UTF-16 and UTF-32 with their marks are read, and flagged.
    """
    flags: list[dict[str, str]] = []
    wide = next((form for form in _WIDE if data.startswith(form[0])), None)
    if wide is not None:
        mark, name, codec = wide
        text = data[len(mark) :].decode(codec, "replace")
        flags.append(_flag(f"The file is {name}. Save it as UTF-8."))
    else:
        if data.startswith(codecs.BOM_UTF8):
            data = data[3:]
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            text = data.decode("utf-8", "replace")
            line = data.count(b"\n", 0, error.start) + 1
            flags.append(_flag(f"Line {line}: not UTF-8. Save the file as UTF-8."))
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
        if not flags:
            flags.append(_flag("The text holds NUL characters. Remove them."))
    return text, flags


def property_links(properties: dict[str, Any]) -> Iterator[ParsedLink]:
    """The links of a frontmatter, in its order: each text that is exactly one wikilink, however deep it is nested.

    A text that holds more than the link is not one: Obsidian keeps property links as values, not as prose.
    """
    waiting: list[tuple[str, Any]] = [(key, value) for key, value in reversed(properties.items())]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, str):
            if "[[" in value and (link := parse_property_link(value, key)) is not None:
                yield link
        elif isinstance(value, dict):
            waiting += [(f"{key}.{name}", item) for name, item in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(f"{key}.{index}", value[index]) for index in reversed(range(len(value)))]


def _flag(reason: str) -> dict[str, str]:
    return {"code": ENCODING, "reason": reason}


def _title(properties: dict[str, Any], path: str) -> str:
    title = " ".join(text_of(properties.get("title")).splitlines()).strip()
    if not title:
        title = path.rpartition("/")[2]
        title = title[:-3] if title[-3:].lower() == ".md" else title
    return title if title.isascii() else unicodedata.normalize("NFC", title)


def _type(properties: dict[str, Any], path: str) -> str | None:
    kind = properties.get("type")
    return kind if isinstance(kind, str) and kind in PAGE_TYPES else type_of_folder(path)


def _merged(tags: list[str], more: list[str]) -> list[str]:
    kept = {tag.casefold(): tag for tag in reversed([*tags, *more])}
    return [tag for tag in dict.fromkeys([*tags, *more]) if kept.get(tag.casefold()) == tag]
