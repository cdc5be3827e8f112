"""What a page's frontmatter says for prime to act on: its contract, its state, its dates. Nothing in it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from vault.frontmatter import text_of
from wiki.prime.atoms.pagetext import PageText
from wiki.storable import storable

#: Entries of one list of a contract, and characters of one of them, that are read.
MAX_ENTRIES: Final = 100
MAX_CHARACTERS: Final = 500
_SHORT: Final = 40
_CONDITIONALS: Final = ("conditionals", "conditionally_required")


class Facts(NamedTuple):
    """``contract`` has ``must_include`` and ``must_avoid`` (names of pages), and ``conditionals``, a list of
    ``{"when": "key:value", "include": [names]}``; it is empty where the page has none. The others are texts."""

    contract: dict[str, Any]
    lifecycle: str
    version: str
    created: str
    updated: str


def facts_of(page: PageText) -> Facts:
    """The facts of a page. Its state is its ``lifecycle``, else its ``status``, in lower case."""
    lifecycle = page.word("lifecycle") or page.word("status")
    return Facts(
        contract=contract_of(page.frontmatter.get("contract")),
        lifecycle=lifecycle.lower()[:_SHORT],
        version=page.word("version")[:_SHORT],
        created=page.word("created")[:_SHORT],
        updated=page.word("updated")[:_SHORT],
    )


def contract_of(value: Any) -> dict[str, Any]:
    """A contract as it is kept, from what a page or a domain writes; keys may have hyphens. Empty for anything else."""
    if not isinstance(value, Mapping):
        return {}
    given = {str(key).strip().lower().replace("-", "_"): item for key, item in value.items()}
    found: dict[str, Any] = {key: _names(given.get(key)) for key in ("must_include", "must_avoid")}
    found["conditionals"] = list(_conditionals(given))
    return found if any(found.values()) else {}


def _conditionals(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    entries: list[Any] = next((given[key] for key in _CONDITIONALS if isinstance(given.get(key), list)), [])
    for entry in entries[:MAX_ENTRIES]:
        if not isinstance(entry, Mapping):
            continue
        when, include = entry.get("when"), _names(entry.get("include"))
        if isinstance(when, Mapping) and len(when) == 1:
            when = ":".join(text_of(part) for part in next(iter(when.items())))
        condition = _one(when)
        if include and ":" in condition:
            yield {"when": condition, "include": include}


def _names(value: Any) -> list[str]:
    """Names of pages, a link by its target, each once."""
    items = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(name for item in items[:MAX_ENTRIES] if (name := _name(_one(item)))))


def _name(text: str) -> str:
    if text.startswith("[[") and text.endswith("]]"):
        return text[2:-2].partition("|")[0].partition("#")[0].strip()
    return text


def _one(value: Any) -> str:
    return " ".join(storable(text_of(value)).split())[:MAX_CHARACTERS]
