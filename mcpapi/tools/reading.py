"""Tools that only read."""

from __future__ import annotations

from typing import Any

from mcpapi.callers import Caller
from wiki import graph, search
from wiki.services import reading, sources


def search_wiki(caller: Caller, *, query: str, k: int) -> dict[str, Any]:
    """Pages by relevance, with what the search was able to do."""
    return search.search(query, k=k).as_dict()


def get_page(caller: Caller, *, title: str, path: str | None) -> dict[str, Any]:
    """One page, whole."""
    return reading.page_content(reading.page_by_title(title, path=path))


def list_pages(caller: Caller, *, type: str | None, limit: int, cursor: str | None) -> dict[str, Any]:
    """Page references by title."""
    return reading.list_pages(type=type, limit=limit, cursor=cursor)


def get_graph_neighborhood(caller: Caller, *, title: str, depth: int, path: str | None) -> dict[str, Any]:
    """The stored edges around a page."""
    return graph.neighborhood(reading.page_by_title(title, path=path), depth=depth)


def read_source_file(caller: Caller, *, path: str, offset: int) -> dict[str, Any]:
    """A part of a file under raw/sources."""
    return sources.read_source(path, offset=offset)
