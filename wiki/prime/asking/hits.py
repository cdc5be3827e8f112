"""An atom as it is answered: what it costs, where it lies, why it is there, and its words if they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from wiki.prime.asking.ranking import Ranked
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import Atom, level_texts
from wiki.search import texts
from wiki.search.passages import terms_in
from wiki.search.query import MAX_QUERY_CHARS, analyse

MAX_MATCHED: Final = 8


def uri_of(atom: Atom, level: Level) -> str:
    """The address of a level as a resource."""
    return f"synapse://prime/{quote(atom.id, safe='@/')}?level={level}"


def shaped(
    taken: Sequence[tuple[Atom, Level]], explanations: Mapping[int, str], *, include_text: bool
) -> list[dict[str, Any]]:
    """The hits as answered, in this order."""
    words: dict[int, str] = {}
    if include_text:
        for level in dict.fromkeys(level for _, level in taken):
            words |= level_texts([atom.pk for atom, own in taken if own == level], level)
    return [
        {
            "id": atom.id,
            "kind": atom.kind,
            "tokens": atom.cost(level),
            "path": atom.path,
            "explanation": explanations.get(atom.pk, ""),
            "uri": uri_of(atom, level),
            "level": str(level),
            "page_tokens": atom.cost(Level.FULL),
            **({"text": words.get(atom.pk, "")} if include_text else {}),
        }
        for atom, level in taken
    ]


def explained(ranked: Sequence[Ranked], text: str, tags: Sequence[str] = ()) -> dict[int, str]:
    """By page: the score and the signals behind it, and which words of the question the page has."""
    matched = matched_words([one.atom for one in ranked], text)
    return {one.atom.pk: _explanation(one, matched.get(one.atom.pk, ()), tags) for one in ranked}


def _explanation(one: Ranked, matched: Sequence[str], tags: Sequence[str]) -> str:
    parts = [f"{name} {value:.2f}" for name, value in one.signals.items()]
    if matched:
        parts[0] += f" (words: {', '.join(matched)})"
    had = [tag for tag in tags if tag in one.atom.tag_keys]
    said = f"score {one.score:.3f}: {', '.join(parts)}"
    return f"{said}; tags: {', '.join(had)}" if had else said


def matched_words(atoms: Sequence[Atom], text: str) -> dict[int, list[str]]:
    """By page: the words of a question that it has, at most eight, in the question's order."""
    if not text.strip() or not atoms:
        return {}
    query = analyse(text[:MAX_QUERY_CHARS])
    bodies = dict(texts([atom.pk for atom in atoms]))
    found = {}
    for atom in atoms:
        head = "\n".join((atom.title, *atom.aliases, *atom.tags))
        numbers = terms_in(query, f"{head}\n{bodies.get(atom.pk, '')}")
        found[atom.pk] = list(dict.fromkeys(query.terms[number].shown for number in sorted(numbers)))[:MAX_MATCHED]
    return found
