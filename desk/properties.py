"""A page's frontmatter as rows for a person: links lead somewhere, nothing is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from desk.rendering.leads import Lead, Leads, page_address, search_address
from vault.markdown import ParsedLink, parse_property_link
from vault.pages import ParsedPage
from vault.paths import SOURCES

#: Values of one property, and characters of one value, that are shown.
MOST_VALUES: Final = 100
_LONGEST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Value:
    """One value as text; ``address`` where it leads somewhere, ``lead`` what the index says of that link."""

    text: str
    address: str = ""
    lead: Lead | None = None


@dataclass(frozen=True, slots=True)
class Property:
    """A key with its values; ``left_out`` more are not shown."""

    name: str
    values: list[Value]
    left_out: int = 0


def properties(page: ParsedPage) -> list[Property]:
    """The frontmatter in its order; what the head of the page shows anyway (title) is left out."""
    leads = Leads(page.path, page.property_links)
    rows = []
    for name, value in page.frontmatter.items():
        if name == "title" or value in (None, "", [], {}):
            continue
        values = list(_values(str(name), value, leads))
        rows.append(Property(str(name), values[:MOST_VALUES], max(0, len(values) - MOST_VALUES)))
    return rows


def _values(name: str, value: Any, leads: Leads) -> Iterator[Value]:
    if isinstance(value, list):
        for item in value:
            yield from _values(name, item, leads)
    elif isinstance(value, dict):
        for key, item in value.items():
            for inner in _values(name, item, leads):
                yield Value(f"{key}: {inner.text}", inner.address, inner.lead)
    else:
        yield _value(name, _text(value), leads)


def _value(name: str, text: str, leads: Leads) -> Value:
    link: ParsedLink | None = parse_property_link(text, name) if "[[" in text else None
    if link is not None:
        lead = leads.of(link)
        return Value(link.alias or link.target + link.subpath, lead.address, lead)
    if name in ("tags", "tag"):
        return Value(text, search_address(tag=text.lstrip("#")))
    if name == "sources" and text.startswith(f"{SOURCES}/"):
        return Value(text, page_address(text))
    if text.startswith(("https://", "http://")):
        return Value(text, text)
    return Value(text)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
