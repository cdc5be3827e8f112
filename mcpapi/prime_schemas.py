"""The JSON schemas of the five tools of prime.

Names, types and required lists of their founding document are kept, and what stands beside them is an addition. What
need not be sent has no default there where it means nothing: left out, or null, it is not asked for.
"""

from __future__ import annotations

from typing import Any, Final

from mcpapi.schema_forms import Schema, described, gives, rows, takes

# Written out, as the rooms below load more than a start should: a test compares them with what is there.
LEVELS: Final = ["summary", "core", "full"]
DEFAULT_LEVEL: Final = "core"
MAX_BUDGET: Final = 25_000

_TEXT: Final[Schema] = {"type": "string"}
_COUNT: Final[Schema] = {"type": "integer"}
_OBJECT: Final[Schema] = {"type": "object"}
_YES: Final[Schema] = {"type": "boolean"}
_NAMES: Final[Schema] = {"type": "array", "items": _TEXT}
_LEVEL: Final[Schema] = {"type": "string", "enum": LEVELS}

_WITH_TEXT: Final = described({**_YES, "default": False}, "Send the texts too.")
_DOMAIN: Final = described(_TEXT, "Else told from the brief.")
_BRIEF: Final = described(_TEXT, "The task in free words.")


def _budget(default: int) -> Schema:
    # A number, as the founding document has it; a part of a token is cut off.
    return {
        "type": "number",
        "default": default,
        "minimum": 1,
        "maximum": MAX_BUDGET,
        "description": "Tokens of all hits. Clamped.",
    }


_HIT: Final[dict[str, Schema]] = {
    "id": _TEXT,
    "kind": _TEXT,
    "tokens": described(_COUNT, "of its level"),
    "path": _TEXT,
    "explanation": _TEXT,
}
_MORE_OF_HIT: Final[dict[str, Schema]] = {"uri": _TEXT, "level": _LEVEL, "page_tokens": _COUNT, "text": _TEXT}
_LIST: Final[Schema] = {"type": "array"}

PRIME_QUERY_IN: Final = takes(
    {
        "scope": described(
            _TEXT,
            "axis:value. type, tag, path, source, lang, domain filter; page:<title>: what is near it; focus:<words>: "
            "by words; or a domain's axis.",
        ),
        "tags": described(_NAMES, "All must match."),
        "level": {**_LEVEL, "default": DEFAULT_LEVEL, "description": "How much of a page."},
        "budget_tokens": _budget(1_200),
        "kinds": described(_NAMES, "Only these page types; page: without one."),
        "exclude_ids": described(_NAMES, "To leave out: ids, titles or paths."),
        "include_text": _WITH_TEXT,
    },
    [],
)
PRIME_QUERY_OUT: Final = gives(
    {"hits": rows({**_HIT, **_MORE_OF_HIT}, list(_HIT)), "total_tokens": _COUNT, "omitted": _LIST},
    ["hits", "total_tokens"],
)

PRIME_RESOLVE_IN: Final = takes(
    {"brief": _BRIEF, "max_tokens": _budget(1_500), "domain": _DOMAIN, "include_text": _WITH_TEXT}, ["brief"]
)
PRIME_RESOLVE_OUT: Final = gives(
    {
        "intent": _OBJECT,
        "hits": rows(_HIT, list(_HIT)),
        "contract": {
            "type": "object",
            "properties": {
                "must_include": described(_NAMES, "ids, or words"),
                "must_avoid": _NAMES,
                "unmet": _LIST,
            },
            "required": ["must_include", "must_avoid"],
        },
        "total_tokens": _COUNT,
        "omitted": _LIST,
        "conflicts": _LIST,
    },
    ["intent", "hits", "contract", "total_tokens"],
)

PRIME_INTENT_IN: Final = takes({"brief": _BRIEF, "domain": _DOMAIN}, ["brief"])
_INTENT: Final[dict[str, Schema]] = {
    "domain": _TEXT,
    "task_type": _TEXT,
    **dict.fromkeys(("terms", "tags", "pages", "kinds"), _LIST),
    "axes": _OBJECT,
    **dict.fromkeys(("must", "avoid"), _LIST),
    "lang": _TEXT,
    **dict.fromkeys(("required_axes", "ambiguity_flags"), _LIST),
    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
}
PRIME_INTENT_OUT: Final = gives(_INTENT, ["domain", "task_type", "confidence"])

PRIME_VALIDATE_IN: Final = takes(
    {
        "artifact": described(_TEXT, "The text to check."),
        "atom_set": described(_NAMES, "What it was made from: ids, titles or paths."),
        "validators": described(_NAMES, "Else all of the domain."),
    },
    ["artifact", "atom_set"],
)
PRIME_VALIDATE_OUT: Final = gives(
    {
        "ok": _YES,
        "fixes": rows(
            {
                "validator": _TEXT,
                "severity": {"type": "string", "enum": ["warning", "error"]},
                "message": _TEXT,
                "suggestion": _TEXT,
            },
            ["validator", "severity", "message"],
        ),
    },
    ["ok", "fixes"],
)

PRIME_COMPILE_IN: Final = takes(
    {
        "source": described(_TEXT, "A page with its frontmatter, or an atom in braces."),
        "deep": {**_YES, "default": False, "description": "Judge its content too (L2)."},
    },
    ["source"],
)


def _whole(properties: dict[str, Any]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


PRIME_COMPILE_OUT: Final = gives(
    {
        "ok": _YES,
        "diagnostics": rows(
            {
                "level": {"type": "string", "enum": ["error", "warning", "info"]},
                "layer": {"type": "string", "enum": ["L1", "L2", "L3"]},
                "atom": _TEXT,
                "message": _TEXT,
                "hint": _TEXT,
                "source": {"type": "object", "properties": {"file": _TEXT, "line": _COUNT}},
            },
            ["level", "layer", "atom", "message"],
        ),
        "compiled": {
            **_whole(
                {
                    "atom_yaml": _OBJECT,
                    "graph_yaml": _OBJECT,
                    "chunks": {"type": "object", "properties": dict.fromkeys(LEVELS, _TEXT)},
                }
            ),
            "type": ["object", "null"],
        },
    },
    ["ok", "diagnostics", "compiled"],
)
