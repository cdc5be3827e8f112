"""From a parsed page to the values of its rows: bounded keys, and text that every database can hold."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any, Final

from vault.errors import SynapseError
from vault.links import link_keys, name_key, path_key, text_key
from vault.markdown import ParsedLink
from vault.pages import ParsedPage
from vault.paths import is_reserved, source_path
from wiki.models import LinkState
from wiki.storable import MAX_KEY, MAX_TITLE, key, names_of, storable, title_of
from wiki.sync.reads import PageRead

__all__ = [
    "LINK_FIELDS",
    "MAX_KEY",
    "MAX_TITLE",
    "PAGE_FIELDS",
    "TITLE_CUT",
    "WRITTEN",
    "citation_keys",
    "key",
    "link_rows",
    "names_of",
    "page_values",
    "source_key",
    "storable",
    "title_of",
]

TITLE_CUT: Final = ("title_too_long", f"The title is cut at {MAX_TITLE} characters.")

_NOT_STORABLE_JSON: Final = re.compile(r"\\u(?:0000|d[89a-f][0-9a-f]{2})")

#: Fields of a page's row that come from its file, in the order of :func:`page_values`.
PAGE_FIELDS: Final = (
    "path",
    "path_key",
    "name_key",
    "title",
    "title_key",
    "type",
    "lang",
    "summary",
    "frontmatter",
    "sources",
    "flags",
    "reserved",
    "words",
    "content_hash",
    "size",
    "mtime_ns",
    "inode",
    "birth_ns",
    "read_ns",
)
#: Fields of a link's row but its page, in the order of :class:`LinkRow` values.
LINK_FIELDS: Final = (
    "order",
    "kind",
    "embed",
    "text",
    "subpath",
    "alias",
    "property",
    "name_key",
    "text_key",
    "state",
    "target_path",
    "target",
)
_PENDING: Final = LinkState.PENDING.value
#: The part of LINK_FIELDS that the file says; the rest follows from the vault.
WRITTEN: Final = 7


def _json_safe(value: Any) -> Any:
    if not _NOT_STORABLE_JSON.search(json.dumps(value)):
        return value
    if isinstance(value, dict):
        return {storable(str(name)): _json_safe(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_json_safe(item) for item in value]
    return storable(value) if isinstance(value, str) else value


def page_values(read: PageRead, parsed: ParsedPage) -> tuple[Any, ...]:
    """The values of PAGE_FIELDS."""
    title = title_of(parsed)
    flags = read.flags if len(parsed.title) <= MAX_TITLE else (*read.flags, TITLE_CUT)
    return (
        read.path,
        key(path_key(read.path)),
        key(name_key(read.path)),
        title,
        key(text_key(title)),
        parsed.type,
        parsed.lang[:16],
        storable(parsed.summary),
        _json_safe(parsed.frontmatter),
        [storable(source) for source in parsed.sources],
        [{"code": code, "reason": storable(reason)} for code, reason in flags],
        is_reserved(read.path),
        parsed.words,
        read.content_hash,
        read.size,
        read.mtime_ns,
        read.inode,
        read.birth_ns,
        read.read_ns,
    )


def source_key(path: str) -> str:
    """The key under which a source at this vault path is cited."""
    return key(unicodedata.normalize("NFC", path))


def citation_keys(sources: Iterable[str]) -> list[str]:
    """The keys of the raw sources that a page names, by either form of their paths, each once and sorted.

    What is no path below raw/sources (an address, say) has none.
    """
    return sorted({found for source in sources if (found := _citation_key(source)) is not None})


def _citation_key(source: str) -> str | None:
    try:
        return source_key(source_path(source))
    except SynapseError:
        return None


def link_rows(path: str, parsed: ParsedPage) -> list[tuple[Any, ...]]:
    """The values of LINK_FIELDS for all links of a page, unresolved: those of the body, then those of properties."""
    return list(_link_rows(path, parsed))


def _link_rows(path: str, parsed: ParsedPage) -> Iterator[tuple[Any, ...]]:
    # The body is decoded text, which any database can hold; YAML has escapes for what none can.
    links: list[ParsedLink] = [*parsed.links, *map(_storable_link, parsed.property_links)]
    for order, link in enumerate(links):
        names, texts = link_keys(link.target, path)
        yield (
            order,
            link.kind,
            link.embed,
            link.target,
            link.subpath,
            link.alias,
            link.property,
            names[:MAX_KEY],
            texts[:MAX_KEY],
            _PENDING,
            None,
            None,
        )


def _storable_link(link: ParsedLink) -> ParsedLink:
    return link._replace(
        target=storable(link.target),
        subpath=storable(link.subpath),
        alias=None if link.alias is None else storable(link.alias),
        property=storable(link.property),
    )
