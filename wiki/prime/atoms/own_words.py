"""What a page says of itself in its frontmatter, as text: what the body does not hold and a reader must not lose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from vault.frontmatter import OWNED_KEYS, text_of
from vault.markdown.text import SUMMARY_CHARACTERS
from wiki.prime.atoms.pagetext import PageText
from wiki.prime.atoms.relations import RELATIONS, relations_of, verb_of
from wiki.storable import storable

#: Properties that have a place of their own in a level.
_SHOWN: Final = frozenset({"title", "type", "tags", "tag", "aliases", "alias", "sources", "lang", RELATIONS})


def tail_of(page: PageText, tags: Sequence[str]) -> str:
    """The end of a page's full text: more tags, other names, properties, relations by verbs, sources."""
    parts = [f"Tags: {', '.join(tags)}"] if tags else []
    if page.aliases:
        parts.append(f"Aliases: {'; '.join(page.aliases)}")
    parts += _list("Properties:", _properties(page))
    parts += _list("Relations:", [f"{verb}: [[{text}]]" for verb, text, _, _ in relations_of(page)])
    parts += _list("Sources:", page.sources)
    return "\n\n".join(parts)


def _list(name: str, items: Sequence[str]) -> list[str]:
    return ["\n".join([name, *(f"- {item}" for item in items)])] if items else []


def _properties(page: PageText) -> list[str]:
    """The other properties, by their names: a database may give them in any order."""
    shown = _SHOWN | OWNED_KEYS
    # What was too long for the summary is not lost.
    if len(page.word("description")) <= SUMMARY_CHARACTERS:
        shown |= {"description"}
    keys = sorted(key for key in page.frontmatter if key.lower() not in shown and not verb_of(key))
    return [line for key in keys for line in _lines(key, page.frontmatter[key])]


def _lines(key: str, value: Any) -> Iterator[str]:
    """A property as lines ``key: text``; of a list all texts in one, of a mapping each key by itself."""
    waiting = [(key, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{name}.{inner}", value[inner]) for inner in sorted(value, reverse=True)]
        elif isinstance(value, list):
            texts = [text for item in value if (text := _line(item))]
            if texts:
                yield f"{storable(name)}: {'; '.join(texts)}"
            deeper = [(f"{name}.{at}", item) for at, item in enumerate(value) if isinstance(item, Mapping | list)]
            waiting += reversed(deeper)
        elif text := _line(value):
            yield f"{storable(name)}: {text}"


def _line(value: Any) -> str:
    return " ".join(storable(text_of(value)).split())
