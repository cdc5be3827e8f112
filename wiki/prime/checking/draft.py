"""A source on its way to being compiled: a wiki page, or an atom in the brace form, read into the same shape."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from django.conf import settings

from vault.frontmatter import split
from vault.markdown import parse_body
from vault.pages import parse_page
from vault.slugs import page_path, slugify
from wiki.models import PageType
from wiki.prime.atoms.facts import Facts, facts_of
from wiki.prime.atoms.index import Atom, AtomIndex
from wiki.prime.atoms.pagetext import NO_TYPE, PageText
from wiki.prime.atoms.relations import RELATIONS, verb_of
from wiki.prime.atoms.rows import slug_of
from wiki.prime.checking.brace import Source, read_atom

#: The kinds of the brace form, and which of the five types each becomes.
KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("source",), PageType.SOURCE.value),
    **dict.fromkeys(("tool",), PageType.ENTITY.value),
    **dict.fromkeys(("tradeoff",), PageType.COMPARISON.value),
    **dict.fromkeys(("collection", "feedback", "taxonomy"), PageType.SYNTHESIS.value),
    **dict.fromkeys(
        (
            *("fact", "term", "value", "category", "example", "counter-example", "metric"),
            *("step", "check", "transform", "method"),
            *("rule", "pattern", "anti-pattern", "type"),
            *("persona", "voice", "constraint", "template", "provocation"),
            *("scope", "principle"),
        ),
        PageType.CONCEPT.value,
    ),
}
_BRACE: Final = re.compile(
    r"\s*+(?:(?://[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)\s*+)*+[a-z][\w-]*+\s++[^\W\d]\w*+[^{}\n]*+\{"
)
_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]{1,500})")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: Fields of the brace form that say what the atom is; all others are its text.
_HEAD: Final = frozenset(
    {"id", "version", "description", "title", "tags", "aliases", "sources", "source", "lang", "domain", "lifecycle"}
    | {"status", "created", "updated", "contract", "composition", "root"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is compiled. ``live`` is the page it is, if its bytes are those of one.

    ``line_of`` gives the line of a field or, for "", of the whole. ``text`` is a page's source, "" for the brace form;
    ``source`` is the brace form as read, if it is that.
    """

    id: str
    page: PageText
    path: str
    content_hash: str
    text: str = ""
    live: Atom | None = None
    source: Source | None = None
    line_of: Callable[[str], int] = field(default=lambda name: 1)

    @property
    def kind(self) -> str:
        """One of the five types, or ``page``."""
        return self.page.kind

    @property
    def facts(self) -> Facts:
        """What its frontmatter says for prime to act on."""
        return facts_of(self.page)

    def lines_of_links(self) -> dict[str, int]:
        """The line of the first link to each target, as written in a page."""
        found: dict[str, int] = {}
        line, at = 1, 0
        for link in _LINK.finditer(self.text):
            line, at = line + self.text.count("\n", at, link.start()), link.start()
            found.setdefault(link[1].strip(), line)
        return found

    @property
    def file(self) -> str:
        """Where its lines are counted: the page's path, or ``source``."""
        return self.live.path if self.live else "source"


def read_draft(source: str, index: AtomIndex) -> Draft:
    """The draft of any text: never raises for what it holds."""
    data = source.encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    live = next((atom for atom in index if atom.content_hash == digest), None)
    if live is None and split(source).raw is None and _BRACE.match(source):
        return _from_brace(read_atom(source), digest)
    path = live.path if live else "wiki/source.md"
    parsed = parse_page(path, data)
    page = PageText.of_page(parsed)
    if live is None:
        title = page.title if page.frontmatter.get("title") else _first_heading(page) or page.title
        kind = page.kind if page.frontmatter.get("type") else NO_TYPE
        path = page_path(kind, title) if kind != NO_TYPE else f"wiki/{slugify(title)}.md"
        page = PageText.of_page(parse_page(path, data))
    return Draft(
        id=live.id if live else atom_id(page.kind, slug_of(path)),
        page=page,
        path=path,
        content_hash=digest,
        text=source,
        live=live,
        line_of=cache(partial(_line_of_property, source)),
    )


def atom_id(kind: str, slug: str) -> str:
    """The id of a page that has no namesake."""
    return f"@{settings.SYNAPSE_PRIME_SCOPE}/{kind}-{slug}"


def _first_heading(page: PageText) -> str:
    return next((text.strip() for level, text in page.read.headings if level == 1), "")


def _line_of_property(source: str, name: str) -> int:
    """The line of a property, or of an inline field of this name; 1 where there is none."""
    if name:
        key = re.escape(name).replace(r"\-", "[ _-]")
        properties = len(source) - len(split(source).body)
        for pattern, end in ((rf"^[ \t]*{key}[ \t]*:", properties), (rf"^.*?\b{key}::", len(source))):
            found = re.compile(pattern, re.MULTILINE | re.IGNORECASE).search(source, 0, end)
            if found:
                return source.count("\n", 0, found.start()) + 1
    return 1


def _from_brace(source: Source, digest: str) -> Draft:
    title = _text(source.value("title")) or " ".join(_HUMP.split(source.name)) or "Untitled"
    kind = KINDS.get(source.kind, NO_TYPE)
    page = PageText.of(title, kind, "\n\n".join(_sections(source)), _properties(source, title, kind))
    given = _text(source.value("id"))
    return Draft(
        id=given or atom_id(kind, slugify(title)),
        page=page,
        path=page_path(kind, title) if kind != NO_TYPE else f"wiki/{slugify(title)}.md",
        content_hash=digest,
        source=source,
        line_of=lambda name: source.line_of(name) if name else source.line,
    )


def _properties(source: Source, title: str, kind: str) -> dict[str, Any]:
    """What the frontmatter of the page would say."""
    named = {name: source.value(name) for name in ("version", "description", "tags", "aliases", "lang", "domain")}
    named |= {name: source.value(name) for name in ("lifecycle", "status", "created", "updated")}
    named["sources"] = source.value("sources", "source")
    named["contract"] = source.value("contract", "composition")
    relations = {name: entry.value for name, entry in source.fields.items() if verb_of(name) or name == "relationships"}
    given = {name: value for name, value in named.items() if value is not None}
    head = {"title": title, "type": kind, "prime_kind": source.kind}
    return {**head, **given, **({RELATIONS: _flat(relations)} if relations else {})}


def _flat(relations: Mapping[str, Any]) -> dict[str, list[str]]:
    """Verbs to names; ``relationships`` holds verbs of its own."""
    found: dict[str, list[str]] = {}
    for verb, value in relations.items():
        inner = value.items() if isinstance(value, dict) else [(verb, value)]
        for name, names in inner:
            found.setdefault(name, []).extend(_text(one) for one in (names if isinstance(names, list) else [names]))
    return found


def _sections(source: Source) -> Iterator[str]:
    """The fields that are the atom's text: the first text as the lead, each other under its name as a heading."""
    lead = ("statement", "claim", "text", "body", "definition", "summary")
    fields = {name: entry.value for name, entry in source.fields.items() if name not in _HEAD and not verb_of(name)}
    fields.pop("relationships", None)
    first = next((name for name in lead if isinstance(fields.get(name), str)), None)
    if first:
        yield str(fields.pop(first))
    for name, value in fields.items():
        yield f"## {name.replace('-', ' ').replace('_', ' ').capitalize()}\n\n{_markdown(value)}"


def _markdown(value: Any, depth: int = 0) -> str:
    """A value as Markdown: lists as lists, objects as lists of their names."""
    indent = "  " * depth
    if isinstance(value, list):
        return "\n".join(f"{indent}- {_markdown(item, depth + 1).lstrip()}" for item in value)
    if isinstance(value, dict):
        rows = []
        for name, item in value.items():
            inner = _markdown(item, depth + 1)
            rows.append(
                f"{indent}- {name}:\n{inner}" if isinstance(item, list | dict) else f"{indent}- {name}: {inner}"
            )
        return "\n".join(rows)
    return _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else str(value)


def links_of(page: PageText) -> list[str]:
    """The targets of a page's plain links, each once."""
    return list(dict.fromkeys(link.target for link in parse_body(page.body).links if link.target and not link.embed))
