"""Pages and sources as resources: what get_page and read_source_file show, by address, under the same rules.

``synapse://page/<id>`` is a page's file as it is, frontmatter included; ``synapse://source/<path>`` is a text file
under raw/sources, whose path is percent-encoded as in any address. What is too long to be shown whole is refused, as a
part that looks like the whole would mislead. ``synapse://prime/<id>?level=`` is a page at one of its three lengths, by
the id that the tools of prime answer, or any other name of the page; percent-encoded or not, as ``@`` and ``/`` may be.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote
from uuid import UUID

from mcp.types import (
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from mcpapi.prime_schemas import DEFAULT_LEVEL, LEVELS
from vault.errors import ErrorCode, SynapseError
from wiki.services import reading, sources

SCHEME: Final = "synapse://"
PAGE: Final = f"{SCHEME}page/"
SOURCE: Final = f"{SCHEME}source/"
PRIME: Final = f"{SCHEME}prime/"
MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"
TEMPLATES: Final = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=f"{PAGE}{{id}}",
            name="page",
            title="A page",
            description="A live wiki page, its file as it is. The id is the one in every page reference.",
            mime_type=MARKDOWN,
        ),
        ResourceTemplate(
            uri_template=f"{SOURCE}{{+path}}",
            name="source",
            title="A raw source",
            description=(
                "A text file under raw/sources: raw/sources/…, or a path relative to it, percent-encoded. "
                f"Above {sources.MAX_CHARACTERS:,} characters read it with read_source_file."
            ),
        ),
        ResourceTemplate(
            uri_template=f"{PRIME}{{+id}}{{?level}}",
            name="prime",
            title="A page at one of three lengths",
            description=(
                f"A page's words at a level: {', '.join(LEVELS)}; {DEFAULT_LEVEL} if it is left out. The id is the "
                "one of a hit of prime_query, @scope/kind-slug."
            ),
            mime_type=MARKDOWN,
        ),
    ],
)
#: What says how this wiki is kept; listed first, since an agent should know it first.
HOUSE_RULES: Final = ("purpose.md", "schema.md")
_PER_ANSWER: Final = 100
_PAGES: Final = "p."
_SOURCES: Final = "s."
_ID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")


def list_resources(cursor: str | None) -> ListResourcesResult:
    """The live pages by title and then the sources by path, 100 at a time. Raises ``invalid_cursor``."""
    if cursor is not None and cursor.startswith(_SOURCES):
        return _sources(cursor.removeprefix(_SOURCES))
    if cursor is None:
        return _pages(None)
    if cursor.startswith(_PAGES) and len(cursor) > len(_PAGES):
        return _pages(cursor.removeprefix(_PAGES))
    raise SynapseError(
        ErrorCode.INVALID_CURSOR,
        "This cursor does not belong to this list. Pass nextCursor as it was given, or leave it out to start over.",
    )


def _pages(cursor: str | None) -> ListResourcesResult:
    found = reading.list_pages(limit=_PER_ANSWER, cursor=cursor)
    rows = [*([] if cursor else _house_rules()), *found["result"]]
    following = found["next_cursor"]
    after = f"{_PAGES}{following}" if following else _SOURCES if sources.list_sources(limit=1)["total"] else None
    return ListResourcesResult(resources=[_page(row) for row in rows], next_cursor=after)


def _house_rules() -> list[dict[str, Any]]:
    found = []
    for path in HOUSE_RULES:
        with suppress(SynapseError):  # a vault need not have them
            found.append({**reading.page_ref(reading.page_by_title("", path=path)), "name": path})
    return found


def _page(row: dict[str, Any]) -> Resource:
    return Resource(
        uri=f"{PAGE}{row['id']}",
        name=row.get("name") or row["title"] or row["id"],
        title=row["title"],
        description=f"{row['type']} page" if row["type"] else "page",
        mime_type=MARKDOWN,
    )


def _sources(cursor: str) -> ListResourcesResult:
    found = sources.list_sources(limit=_PER_ANSWER, cursor=cursor or None)
    following = found["next_cursor"]
    return ListResourcesResult(
        resources=[
            Resource(
                uri=source_uri(row["path"]),
                name=row["path"],
                title=row["path"].rpartition("/")[2],
                description="raw source",
                mime_type=_mime_of(row["path"]),
                size=row["size_bytes"],
            )
            for row in found["result"]
        ],
        next_cursor=f"{_SOURCES}{following}" if following else None,
    )


def read_resource(uri: str) -> ReadResourceResult:
    """The text at an address.

    Raises what the tools raise: ``page_not_found``, ``source_not_found``, ``path_not_allowed``, ``not_a_text_file``,
    ``payload_too_large``, ``unknown_atom``, ``invalid_level`` …; and ``not_found`` for an address that is none of ours.
    """
    if uri.startswith(PAGE):
        return _read_page(uri, _decoded(uri.removeprefix(PAGE)))
    if uri.startswith(SOURCE):
        return _read_source(uri, _decoded(uri.removeprefix(SOURCE)))
    if uri.startswith(PRIME):
        name, _, asked = uri.removeprefix(PRIME).partition("?")
        return _read_level(uri, _decoded(name), _level(asked))
    raise SynapseError(
        ErrorCode.NOT_FOUND,
        f"There is no such resource. Addresses are {PAGE}<id>, {SOURCE}<path> and {PRIME}<id>?level=; resources/list "
        "has pages and sources, prime_query the others.",
    )


def _decoded(part: str) -> str:
    """What stands in an address, decoded once: an escape that is itself escaped is part of the name."""
    if "?" in part or "#" in part or _BROKEN_ESCAPE.search(part):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "This address can't be read: percent-encode each `?`, `#`, `%` and space of the name, once.",
        )
    return unquote(part, errors="surrogateescape")  # bytes that are no UTF-8 then make a path that is not allowed


def _read_page(uri: str, uid: str) -> ReadResourceResult:
    if not _ID.fullmatch(uid):
        raise SynapseError(
            ErrorCode.PAGE_NOT_FOUND, "This is no page's id. Take one from search_wiki, list_pages or resources/list."
        )
    page = reading.page_by_id(UUID(uid))
    read = reading.read_page(page)
    text = read.data.decode("utf-8", errors="replace")
    return _contents(uri, text, MARKDOWN, page.path, read.content_hash)


def _read_source(uri: str, path: str) -> ReadResourceResult:
    read = sources.read_source(path)
    if read["truncated"]:
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The source is longer than {sources.MAX_CHARACTERS:,} characters and is not shown in part here. Read it "
            "in parts with read_source_file, from offset to offset.",
            path=read["path"],
        )
    return _contents(uri, read["content"], _mime_of(read["path"]), read["path"], read["content_hash"])


def _level(asked: str) -> str:
    """The level that the address asks for, after its ``?``."""
    given = parse_qsl(asked, keep_blank_values=True)
    if any(name != "level" for name, _ in given) or len(given) > 1:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "This address takes one parameter, ?level=.", parameters=["level"]
        )
    return given[0][1] if given and given[0][1] else DEFAULT_LEVEL


def _read_level(uri: str, name: str, level: str) -> ReadResourceResult:
    # Loaded by the first who asks, as in mcpapi.tools.priming.
    from wiki.prime.asking.query import level_named
    from wiki.prime.atoms.reading import atoms, level_texts

    wanted = level_named(level)
    atom = atoms().find(name)
    text = level_texts([atom.pk], wanted).get(atom.pk)
    if text is None:  # deleted since
        raise SynapseError(
            ErrorCode.UNKNOWN_ATOM, "This page was deleted. Look for another with prime_query.", close=[]
        )
    more = {"synapse/level": level, "synapse/tokens": atom.cost(wanted)}
    return _contents(uri, text, MARKDOWN, atom.path, atom.content_hash, **more)


def _contents(uri: str, text: str, mime: str, path: str, content_hash: str, **more: Any) -> ReadResourceResult:
    meta = {"synapse/path": path, "synapse/content_hash": content_hash, **more}
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime, text=text, _meta=meta)])


def source_uri(path: str) -> str:
    """The address of the source at this path."""
    return f"{SOURCE}{quote(path, safe='/', errors='surrogateescape')}"


def _mime_of(path: str) -> str:
    # Not what the name promises else: no client is to draw or run what a source holds.
    return MARKDOWN if path.casefold().endswith((".md", ".markdown")) else TEXT
