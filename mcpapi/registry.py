"""The one list of tools. The server, the profiles, the self-test, the contract and docs/mcp.md are derived from it.

How a tool is added, renamed, hidden and retired: docs/tools.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from mcpapi import prime_schemas, schemas
from mcpapi.schema_forms import Schema
from mcpapi.tools import health, priming, reading, reviewing, writing
from wiki.models import Scope

VISIBLE_TOOL_CAP: Final = 15
"""More tools than this make an agent choose worse; raised only by a decision record."""

Handler = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """All there is to know about one tool.

    ``handler`` is called as ``handler(caller, **arguments)`` in a thread, with every argument validated and
    present. ``seconds`` is its time limit where SYNAPSE_TIMEOUT_<TOOL> does not say otherwise: it ends a read, and
    of a tool that ``writes`` what comes before its first change. A ``hidden`` tool is called and not listed, unless
    SYNAPSE_HIDDEN_TOOLS says otherwise. ``destructive`` and ``idempotent`` are the hints of the protocol.
    """

    name: str
    title: str
    description: str
    input_schema: Schema
    output_schema: Schema
    handler: Handler
    scope: str = Scope.READ
    seconds: float = 5
    hidden: bool = False
    destructive: bool = False
    idempotent: bool = True

    @property
    def writes(self) -> bool:
        """Does it change anything? Every scope but ``read`` does."""
        return self.scope != Scope.READ


TOOLS: Final[tuple[ToolSpec, ...]] = (
    ToolSpec(
        name="search_wiki",
        title="Search the wiki",
        description=(
            "Find pages by what they say. Use it first, whenever you do not know a page's exact title. Returns up to "
            "k pages, best first, with path and snippet; read one with get_page. `mode` says how it searched; "
            "`degraded` is null unless a kind of search failed. An empty result means that nothing fits."
        ),
        input_schema=schemas.SEARCH_WIKI_IN,
        output_schema=schemas.SEARCH_WIKI_OUT,
        handler=reading.search_wiki,
        seconds=15,
    ),
    ToolSpec(
        name="get_page",
        title="Read a page",
        description=(
            "Read one live page whole. Use it when you know the exact title, from search_wiki, list_pages or a link. "
            "Returns the Markdown body, frontmatter, path, content_hash (to write it with) and the pages that link to "
            "it. A deleted or unknown title is page_not_found, one of several pages ambiguous_title with their paths; "
            "a page over the size limit, payload_too_large."
        ),
        input_schema=schemas.GET_PAGE_IN,
        output_schema=schemas.GET_PAGE_OUT,
        handler=reading.get_page,
    ),
    ToolSpec(
        name="list_pages",
        title="List pages",
        description=(
            "List live wiki pages by title, of one type or all. Use it to see what the wiki covers; to find "
            "something, search_wiki is better. Returns page references without content, total, and next_cursor while "
            "there is more. Deleted and reserved pages (index, log, overview, schema, purpose) are left out."
        ),
        input_schema=schemas.LIST_PAGES_IN,
        output_schema=schemas.LIST_PAGES_OUT,
        handler=reading.list_pages,
    ),
    ToolSpec(
        name="get_graph_neighborhood",
        title="See a page's neighbours",
        description=(
            "Show which pages a page is linked with, in both directions. Use it to find related pages and context. "
            "Returns nodes with their distance and weighted edges, heaviest first, at most 200 nodes (truncated says "
            "if there were more)."
        ),
        input_schema=schemas.NEIGHBORHOOD_IN,
        output_schema=schemas.NEIGHBORHOOD_OUT,
        handler=reading.get_graph_neighborhood,
        seconds=10,
    ),
    ToolSpec(
        name="read_source_file",
        title="Read a raw source",
        description=(
            "Read a text file that the person put under raw/sources. Use it before writing a page from a source, or "
            "to check a claim. Returns up to 100,000 characters from offset, with next_offset while there is more. "
            "Only raw/sources can be read: any other path is path_not_allowed."
        ),
        input_schema=schemas.READ_SOURCE_IN,
        output_schema=schemas.READ_SOURCE_OUT,
        handler=reading.read_source_file,
    ),
    ToolSpec(
        name="list_reviews",
        title="List the review queue",
        description=(
            "List what waits for a decision, or was decided. Use it before filing or deciding, and to see what became "
            "of your proposals. Returns items, oldest first, without proposed texts; failure says why carrying one out "
            "failed."
        ),
        input_schema=schemas.LIST_REVIEWS_IN,
        output_schema=schemas.LIST_REVIEWS_OUT,
        handler=reviewing.list_reviews,
    ),
    ToolSpec(
        name="prime_query",
        title="Take pages within a budget",
        description=(
            "Take the pages that serve best, as many as a token budget holds. Use it when room is short and you know "
            "a scope, tags or kinds. Returns hits, best first, each with why it ranks and the uri of its text, and up"
            " to ten that did not fit. Never over the budget."
        ),
        input_schema=prime_schemas.PRIME_QUERY_IN,
        output_schema=prime_schemas.PRIME_QUERY_OUT,
        handler=priming.prime_query,
        seconds=10,
    ),
    ToolSpec(
        name="prime_resolve",
        title="Gather context for a task",
        description=(
            "Turn a task into its context within a token budget. Use it before you answer or write something larger. "
            "Returns the intent (as prime_intent), hits (as prime_query), the contract (what your text must include "
            "and avoid; unmet: what could not be had) and conflicts. Never over max_tokens."
        ),
        input_schema=prime_schemas.PRIME_RESOLVE_IN,
        output_schema=prime_schemas.PRIME_RESOLVE_OUT,
        handler=priming.prime_resolve,
        seconds=15,
    ),
    ToolSpec(
        name="prime_intent",
        title="Read what a task asks for",
        description=(
            "Say what a task asks for. Use it to see how prime_resolve understands a brief. Returns task type, ids of"
            " named pages, tags, words that must or must not be there, ambiguities, and fields of the domain. By "
            "rules: it knows words, not hints."
        ),
        input_schema=prime_schemas.PRIME_INTENT_IN,
        output_schema=prime_schemas.PRIME_INTENT_OUT,
        handler=priming.prime_intent,
        seconds=10,
    ),
    ToolSpec(
        name="prime_validate",
        title="Check a text against its pages",
        description=(
            "Hold a text against the pages it was made from. Use it before you hand over or write it. Returns ok, and"
            " fixes: contract, links, quotations, numbers, citations, frontmatter, the domain's rules. Rules see "
            "wording, not truth. A text too long for a page is payload_too_large."
        ),
        input_schema=prime_schemas.PRIME_VALIDATE_IN,
        output_schema=prime_schemas.PRIME_VALIDATE_OUT,
        handler=priming.prime_validate,
        seconds=10,
    ),
    ToolSpec(
        name="prime_compile",
        title="Try a page before it is written",
        description=(
            "See what a source would be as a page. Use it before write_page, to find faults, duplicates and dead "
            "links. Returns diagnostics and, without errors, the atom, its relations and three levels. Writes "
            "nothing."
        ),
        input_schema=prime_schemas.PRIME_COMPILE_IN,
        output_schema=prime_schemas.PRIME_COMPILE_OUT,
        handler=priming.prime_compile,
        seconds=10,
    ),
    ToolSpec(
        name="write_page",
        title="Create or update a page",
        description=(
            "Create a wiki page, or replace the body of the one with this exact title. Use it to keep knowledge, "
            "after reading the page there is. Frontmatter keys you leave out stay. Returns the page's reference, "
            "path, content_hash, created, and warnings. Only pages under wiki/ can be written. conflict or "
            "base_required means that somebody else changed the page: read it again, merge, and send its "
            "content_hash as base_hash."
        ),
        input_schema=schemas.WRITE_PAGE_IN,
        output_schema=schemas.WRITE_PAGE_OUT,
        handler=writing.write_page,
        scope=Scope.WRITE,
        seconds=30,
        destructive=True,
        idempotent=False,
    ),
    ToolSpec(
        name="trigger_source_rescan",
        title="Rescan the vault",
        description=(
            "Ask for an incremental scan of the vault's files. Use it when changed files do not show up yet. "
            "Returns at once: whether a scan was started, its job, and whether one is running. Never a full scan; "
            "changes no file."
        ),
        input_schema=schemas.RESCAN_IN,
        output_schema=schemas.RESCAN_OUT,
        handler=writing.trigger_source_rescan,
        scope=Scope.WRITE,
    ),
    ToolSpec(
        name="resolve_review",
        title="Decide a review item",
        description=(
            "Decide one pending review item, once and for good. Use it only where the person leaves that to you. "
            "Returns the item, and changed: false when it was decided so before. One decided otherwise answers "
            "review_terminal. If create can't write (conflict …), the item stays pending."
        ),
        input_schema=schemas.RESOLVE_REVIEW_IN,
        output_schema=schemas.RESOLVE_REVIEW_OUT,
        handler=reviewing.resolve_review,
        scope=Scope.WRITE,
        seconds=30,
        destructive=True,
    ),
    ToolSpec(
        name="propose_review",
        title="Ask for a decision",
        description=(
            "File what a person should decide: a missing page, an edit, a contradiction, a duplicate, a doubt. Use it "
            "instead of writing where you are not sure. Writes no page. Returns each item's outcome (filed, refreshed, "
            "unchanged, refused) with its id or error. What was dismissed stays refused."
        ),
        input_schema=schemas.PROPOSE_REVIEW_IN,
        output_schema=schemas.PROPOSE_REVIEW_OUT,
        handler=reviewing.propose_review,
        scope=Scope.PROPOSE,
        seconds=30,
    ),
    ToolSpec(
        name="surface_health",
        title="See whether the surface works",
        description=(
            "Say whether Synapse's tools can work. Use it when calls fail and you want to know why, or to watch the "
            "server. Returns ok, the tools you are shown, the contract's version, whether the database and the vault "
            "answer, how a search would go, and how much waits. Reads no page and loads no model."
        ),
        input_schema=schemas.HEALTH_IN,
        output_schema=schemas.HEALTH_OUT,
        handler=health.surface_health,
        hidden=True,
    ),
)

BY_NAME: Final = {tool.name: tool for tool in TOOLS}
HIDDEN_BY_DEFAULT: Final = frozenset(tool.name for tool in TOOLS if tool.hidden)

STAGED_WRITE_PAGE: Final = replace(
    BY_NAME["write_page"],
    title="Propose a page",
    description=(
        "Propose to create a wiki page, or to replace the body of the one with this exact title. Nothing is written: a "
        "person sees the change and decides. Use it to keep knowledge, after reading the page there is. Frontmatter "
        "keys you leave out stay. Returns review_id; list_reviews shows what becomes of it. conflict or base_required "
        "means that somebody else changed the page: read it again, merge, and send its content_hash as base_hash."
    ),
    output_schema=schemas.STAGED_WRITE_OUT,
    handler=reviewing.stage_page,
    scope=Scope.PROPOSE,
    destructive=False,
    idempotent=True,
)
"""What write_page is where changes are proposed and not made."""


def require_bounded(tools: Iterable[ToolSpec]) -> None:
    """RuntimeError, by name, if two tools share a name or more than the cap are visible by default."""
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RuntimeError(f"Two tools bear one name: {', '.join(twice)}")
    visible = [tool.name for tool in tools if not tool.hidden]
    if len(visible) > VISIBLE_TOOL_CAP:
        raise RuntimeError(
            f"{len(visible)} tools are visible, {VISIBLE_TOOL_CAP} is the cap. Merge or hide one: {', '.join(visible)}"
        )


require_bounded(TOOLS)
