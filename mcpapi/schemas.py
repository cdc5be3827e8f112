"""The JSON schemas that tools/list shows: what each tool takes and gives.

Names, types, defaults, bounds, enums and required lists of the founding contract are kept; what stands beside
them is an addition. Structured output is an object, so the contract's arrays are the field ``result``.
"""

from __future__ import annotations

from typing import Final

from mcpapi.schema_forms import Schema, described, gives, rows, takes

PAGE_TYPES: Final = ["entity", "concept", "source", "synthesis", "comparison"]

_TYPE_OR_NULL: Final[Schema] = {"type": ["string", "null"], "enum": [*PAGE_TYPES, None]}
_TITLE_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_UUID: Final[Schema] = {"type": "string", "format": "uuid"}
_NO_SCORE: Final[Schema] = {"type": "number", "const": 0.0}
_STRING_OR_NULL: Final[Schema] = {"type": ["string", "null"], "default": None}

_EXACT_TITLE: Final = described({"type": "string"}, "Exact page title (case-sensitive).")
_ONE_OF_A_TITLE: Final = described(_STRING_OR_NULL, "Vault path, where pages share a title; title may then be empty.")

SEARCH_WIKI_IN: Final = takes(
    {
        "query": {"type": "string", "description": "Natural-language search query, in any language."},
        "k": {
            "type": "integer",
            "default": 5,
            "minimum": 1,
            "maximum": 50,
            "description": "Maximum number of results to return. Clamped to [1, 50].",
        },
    },
    ["query"],
)
SEARCH_WIKI_OUT: Final = gives(
    {
        "result": rows(
            {
                "id": _UUID,
                "title": _TITLE_OR_NULL,
                "type": _TYPE_OR_NULL,
                "relevance_score": {"type": "number", "minimum": 0.0, "maximum": 1.0},
                "path": {"type": "string"},
                "phase": {"type": "string"},
                "snippet": {"type": "string"},
                "why": {"type": "string"},
            },
            ["id", "relevance_score"],
        ),
        "mode": {"type": "string"},
        "degraded": {"type": ["object", "null"], "description": "null, or which kind of search failed, and why"},
        "data_version": {"type": "integer"},
    },
    ["result"],
)

GET_PAGE_IN: Final = takes(
    {
        "title": _EXACT_TITLE,
        "path": _ONE_OF_A_TITLE,
    },
    ["title"],
)
GET_PAGE_OUT: Final = gives(
    {
        "title": {"type": "string"},
        "type": {"type": ["string", "null"]},
        "content": {"type": "string", "description": "Markdown body without frontmatter block."},
        "frontmatter": {"type": "object", "description": "Parsed YAML frontmatter."},
        "id": _UUID,
        "path": {"type": "string"},
        "content_hash": {"type": "string", "description": "Send it as base_hash when writing this page."},
        "backlinks": {"type": "array"},
    },
    ["title", "content", "frontmatter"],
)

LIST_PAGES_IN: Final = takes(
    {
        "type": {**_TYPE_OR_NULL, "default": None, "description": "Page type to list; null lists all."},
        "limit": {
            "type": "integer",
            "default": 100,
            "minimum": 1,
            "maximum": 500,
            "description": "Pages in one answer. Clamped.",
        },
        "cursor": described(_STRING_OR_NULL, "next_cursor of the answer before; null begins."),
    },
    [],
)
LIST_PAGES_OUT: Final = gives(
    {
        "result": rows(
            {"id": _UUID, "title": _TITLE_OR_NULL, "type": _TYPE_OR_NULL, "relevance_score": _NO_SCORE},
            ["id", "relevance_score"],
        ),
        "next_cursor": {"type": ["string", "null"]},
        "total": {"type": "integer"},
    },
    ["result"],
)

NEIGHBORHOOD_IN: Final = takes(
    {
        "title": _EXACT_TITLE,
        "depth": {
            "type": "integer",
            "default": 1,
            "minimum": 1,
            "maximum": 2,
            "description": "How many links away. Clamped.",
        },
        "path": _ONE_OF_A_TITLE,
    },
    ["title"],
)
NEIGHBORHOOD_OUT: Final = gives(
    {
        "center": {"type": "string", "description": "id of the page asked for"},
        "nodes": rows(
            {"id": _UUID, "title": _TITLE_OR_NULL, "type": _TYPE_OR_NULL, "depth": {"type": "integer"}},
            ["id", "depth"],
        ),
        "edges": rows(
            {
                "source": _UUID,
                "target": _UUID,
                "weight": {"type": "number"},
                "links": {"type": "integer"},
            },
            ["source", "target", "weight"],
        ),
        "truncated": {"type": "boolean"},
    },
    ["center", "nodes", "edges", "truncated"],
)

READ_SOURCE_IN: Final = takes(
    {
        "path": {
            "type": "string",
            "description": "Vault path raw/sources/…, or a path relative to raw/sources. No '..', no absolute path.",
        },
        "offset": {
            "type": "integer",
            "default": 0,
            "minimum": 0,
            "description": "Character to begin at: next_offset of the answer before.",
        },
    },
    ["path"],
)
READ_SOURCE_OUT: Final = gives(
    {
        "path": {"type": "string"},
        "content": {"type": "string"},
        "size_bytes": {"type": "integer"},
        "truncated": {"type": "boolean"},
        "next_offset": {"type": ["integer", "null"]},
        "content_hash": {"type": "string"},
    },
    ["path", "content", "size_bytes", "truncated", "next_offset", "content_hash"],
)

WRITE_PAGE_IN: Final = takes(
    {
        "title": {
            "type": "string",
            "minLength": 1,
            "description": "Page title (non-empty). Must match frontmatter.title.",
        },
        "content": {
            "type": "string",
            "minLength": 1,
            "description": "Markdown body WITHOUT a frontmatter block. Link pages as [[Title]].",
        },
        "frontmatter": {
            "type": "object",
            "description": "At least {type, title, sources, lang}; any other key is kept as given, null removes it.",
            "properties": {
                "type": {"type": "string", "enum": PAGE_TYPES, "description": "Page type. Required."},
                "title": {"type": "string", "minLength": 1, "description": "Page title. Required."},
                "sources": {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "description": "What the page rests on: source paths. Required; joined with those it has.",
                },
                "lang": {
                    "type": "string",
                    "minLength": 2,
                    "description": "ISO-639-1 language code (e.g. 'en', 'it'). Required.",
                },
            },
            "required": ["type", "title", "sources", "lang"],
            "additionalProperties": True,
        },
        "origin_source": {
            "type": "string",
            "default": "",
            "description": "A further source path, added to sources.",
        },
        "base_hash": described(
            _STRING_OR_NULL,
            "content_hash of the version you read. Needed when somebody else changed the page last.",
        ),
        "path": described(_STRING_OR_NULL, "Vault path of the page meant, where several bear the title."),
    },
    ["title", "content", "frontmatter"],
)
WRITE_PAGE_OUT: Final = gives(
    {
        "id": _UUID,
        "title": _TITLE_OR_NULL,
        "type": {"type": ["string", "null"]},
        "relevance_score": _NO_SCORE,
        "path": {"type": "string"},
        "content_hash": {"type": "string"},
        "created": {"type": "boolean"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
    ["id"],
)

RESCAN_IN: Final = takes({}, [])
RESCAN_OUT: Final = gives(
    {
        "started": {"type": "boolean", "description": "false: one was waiting or running already"},
        "job": {"type": ["integer", "null"]},
        "running": {"type": "boolean"},
    },
    ["started", "job", "running"],
)

ITEM_TYPES: Final = ["missing-page", "suggestion", "contradiction", "duplicate", "confirm"]
STATUS_FILTERS: Final = ["pending", "resolved", "dismissed", "all"]
MAX_PROPOSED: Final = 20

STAGED_WRITE_OUT: Final = gives(
    {
        "staged": {"type": "boolean", "const": True},
        "review_id": _UUID,
        "title": _TITLE_OR_NULL,
        "type": {"type": ["string", "null"]},
        "path": {"type": "string"},
        "base_hash": {"type": ["string", "null"], "description": "null: a new page"},
    },
    ["staged", "review_id"],
)

LIST_REVIEWS_IN: Final = takes(
    {
        "status": {
            "type": ["string", "null"],
            "enum": [*STATUS_FILTERS, None],
            "default": None,
            "description": "null: pending. resolved: carried out or done; dismissed: skipped too.",
        },
        "limit": {
            "type": "integer",
            "default": 50,
            "minimum": 1,
            "maximum": 100,
            "description": "Items in one answer. Clamped.",
        },
        "item_type": {
            "type": ["string", "null"],
            "enum": [*ITEM_TYPES, None],
            "default": None,
            "description": "null lists all kinds.",
        },
        "cursor": described(_STRING_OR_NULL, "next_cursor of the answer before; null begins."),
    },
    [],
)
LIST_REVIEWS_OUT: Final = gives(
    {
        "result": rows(
            {
                "id": _UUID,
                "status": {"type": "string"},
                "title": {"type": "string"},
                "failure": {"type": "string"},
            },
            ["id", "status"],
        ),
        "next_cursor": {"type": ["string", "null"]},
        "total": {"type": "integer"},
    },
    ["result"],
)

RESOLVE_REVIEW_IN: Final = takes(
    {
        "id": {"type": "string", "description": "From list_reviews."},
        "action": {
            "type": "string",
            "description": "skip, dismiss, mark-resolved, create (writes the page), deep-research.",
        },
        "note": {"type": "string", "default": "", "description": "Why; kept with the item."},
    },
    ["id", "action"],
)
RESOLVE_REVIEW_OUT: Final = gives(
    {
        "item": {"type": "object", "description": "As list_reviews gives it."},
        "changed": {"type": "boolean"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
    ["item", "changed", "warnings"],
)

PROPOSE_REVIEW_IN: Final = takes(
    {
        "items": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_PROPOSED,
            "description": "Each asks for one decision.",
            "items": {
                "type": "object",
                "properties": {
                    "item_type": {"type": "string", "enum": ITEM_TYPES},
                    "title": {"type": "string", "description": "What is asked, in one line."},
                    "rationale": {"type": "string"},
                    "page": {"type": "string", "description": "The page it is about: id, path or exact title."},
                    "proposed_title": {"type": "string", "description": "Of a page to make; missing-page needs it."},
                    "proposed_page_type": {"type": "string"},
                    "proposed_frontmatter": {"type": "object"},
                    "proposed_body": {"type": "string", "description": "Its text; with page, needs base_hash."},
                    "base_hash": {"type": "string", "description": "content_hash of the page as read."},
                    "referenced_pages": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
                    "search_queries": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                },
                "required": ["item_type", "title"],
                "additionalProperties": False,
            },
        },
    },
    ["items"],
)
PROPOSE_REVIEW_OUT: Final = gives(
    {
        "result": rows(
            {"index": {"type": "integer"}, "outcome": {"type": "string"}, "id": {"type": "string"}},
            ["index", "outcome"],
        ),
        "filed": {"type": "integer"},
        "refreshed": {"type": "integer"},
        "refused": {"type": "integer"},
    },
    ["filed", "refreshed", "refused"],
)

HEALTH_IN: Final = takes({}, [])
HEALTH_OUT: Final = gives(
    {
        "ok": {"type": "boolean", "description": "Everything below answers."},
        "tools": {"type": "array", "items": {"type": "string"}, "description": "Those that tools/list shows you."},
        "contract": {"type": "string", "description": "Name and version of the published contract."},
        "database": {"type": "boolean"},
        "vault": {"type": "boolean"},
        "search_mode": {
            "type": ["string", "null"],
            "description": "lexical or hybrid; null: the index is not readable",
        },
        "backlog": {
            "type": ["object", "null"],
            "description": "What waits: jobs, and pages without their vectors.",
            "properties": {"jobs": {"type": "integer"}, "embedding": {"type": "integer"}},
            "required": ["jobs", "embedding"],
        },
    },
    ["ok", "tools", "contract", "database", "vault", "search_mode", "backlog"],
)
