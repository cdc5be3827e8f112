"""The built-in validators: each looks for one kind of fault and says what to do about it.

What stands in the text exactly as in the atoms it was made from is theirs: it is judged nowhere but in the atoms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from vault.errors import SynapseError
from vault.frontmatter import text_of, validate
from vault.links import BROKEN, resolve
from vault.markdown import HIDDEN
from vault.slugs import page_path, slugify
from wiki.models import PageType
from wiki.prime.asking.bounds import MAX_BUDGET
from wiki.prime.asking.contracts import SUPERSEDED, Demand
from wiki.prime.asking.phrases import normalised, words_of
from wiki.prime.atoms.reading import Atom, AtomIndex
from wiki.prime.atoms.relations import CONFLICTS, SUPERSEDED_BY, SUPERSEDES
from wiki.prime.checking.evidence import Evidence, shown
from wiki.prime.checking.numbers import known_numbers, numbers_of
from wiki.search.budget import tokens

QUOTED_WORDS: Final = 4
"""A quotation of fewer words is a name or a word that is talked about."""


@dataclass(frozen=True, slots=True)
class Find:
    """A fault: where in the text (characters; 0 for the whole), what is wrong, and what to do. ``mild``: a warning."""

    position: int
    message: str
    suggestion: str = ""
    mild: bool = False


Check = Callable[[Evidence], Iterator[Find]]


def _is_met(evidence: Evidence, demand: Demand) -> bool:
    if demand.atom:
        at_hand = demand.is_requirement and demand.atom in evidence.atoms
        return at_hand or demand.atom.pk in evidence.mentioned
    return normalised(demand.name) in normalised(evidence.artifact)


def _must_include(evidence: Evidence) -> Iterator[Find]:
    for demand in evidence.demands.include.values():
        if not _is_met(evidence, demand):
            how = (
                f"Name it, as in [[{demand.atom.title}]]." if demand.atom else "Say it, or take it out of the contract."
            )
            yield Find(0, f"{demand.shown} must be included ({demand.why}).", how)


def _must_avoid(evidence: Evidence) -> Iterator[Find]:
    for demand in evidence.demands.avoid.values():
        atom = demand.atom
        if atom is None:
            yield from _said(evidence, demand)
        elif atom in evidence.atoms:
            yield Find(
                0, f"{atom.id} must not be used ({demand.why}).", "Leave it out of the set, and what comes from it."
            )
        else:
            for link in evidence.own_links():
                if atom in evidence.index.named(link.target):
                    yield Find(link.start, f"{atom.id} must not be cited ({demand.why}).", "Remove the link.")


def _said(evidence: Evidence, demand: Demand) -> Iterator[Find]:
    said = f" {' '.join(word.text for word in words_of(normalised(demand.name)))} "
    for line in evidence.lines:
        if not line.borrowed and said in f" {' '.join(word.text for word in words_of(normalised(line.text)))} ":
            yield Find(line.start, f"“{shown(demand.name)}” must not be said ({demand.why}).", "Say it otherwise.")


def _set_known(evidence: Evidence) -> Iterator[Find]:
    if not evidence.given:
        yield Find(0, "atom_set is empty.", "Name the atoms that the text was made from: ids, titles or paths.")
    for name in evidence.given:
        meant = evidence.index.named(name)
        if not meant:
            close = ", ".join(atom.id for atom in _close(evidence.index, name))
            hint = f"Did you mean {close}?" if close else "prime_query lists the atoms there are."
            yield Find(0, f"There is no atom {shown(name)}.", hint)
        elif len(meant) > 1:
            ids = ", ".join(atom.id for atom in meant[:5])
            yield Find(0, f"Several atoms are called {shown(name)}.", f"Use an id: {ids}.")


def _close(index: AtomIndex, name: str) -> list[Atom]:
    """Atoms with a name like this one."""
    try:
        return [index.find(name)]
    except SynapseError as error:
        return [index.by_id[one] for one in error.repair.get("close", ()) if one in index.by_id]


def _links_resolve(evidence: Evidence) -> Iterator[Find]:
    source = _path_of(evidence)
    for link in evidence.own_links():
        if not link.target:
            continue
        targets = evidence.candidates.targets
        answer = resolve(link.target, source=source, targets=targets, markdown=link.kind == "markdown")
        if answer.state == BROKEN and not evidence.index.named(link.target):
            close = ", ".join(f"[[{atom.title}]]" for atom in _close(evidence.index, link.target))
            hint = f"Did you mean {close}?" if close else "Write the page, or unlink it."
            yield Find(link.start, f"[[{shown(link.target)}]] leads nowhere.", hint, mild=not evidence.is_page)


def _path_of(evidence: Evidence) -> str:
    """Where the text would lie as a page: from there its links by paths lead."""
    title, kind = (text_of(evidence.properties.data.get(key)) for key in ("title", "type"))
    if not title:
        return "wiki/text.md"
    return page_path(kind, title) if kind in PageType.values else f"wiki/{slugify(title)}.md"


def _frontmatter(evidence: Evidence) -> Iterator[Find]:
    if not evidence.is_page:
        return
    for flag in evidence.properties.flags:
        yield Find(0, f"The frontmatter can't be read: {flag.reason}", "Correct it.")
    if evidence.properties.flags:
        return
    data = evidence.properties.data
    try:
        validate(data, title=text_of(data.get("title")))
    except SynapseError as error:
        fields: Mapping[str, str] = error.repair.get("fields", {})
        for name, sentence in fields.items():
            yield Find(0, f"The frontmatter's {name} is not right.", sentence)
        if not fields:
            yield Find(0, error.message)


#: A straight mark opens before a word and closes behind one: 5" is an inch. A line may end within, a paragraph not.
_QUOTATION: Final = re.compile(
    r"(?<!\w)\"(?=\S)((?:[^\"\n]|\n(?![ \t>]*\n)){1,2000})(?<=\S)\"(?!\w)"
    r"|“([^“”]{1,2000})”|„([^„“”]{1,2000})[“”]|«([^«»]{1,2000})»|»([^«»]{1,2000})«"
    r"|「([^「」]{1,2000})」|『([^『』]{1,2000})』"
)
_ELLIPSIS: Final = re.compile(r"\[?(?:…|\.\.\.)\]?|\[[^\[\]\n]{0,80}\]")


def _quotes(evidence: Evidence) -> Iterator[Find]:
    if not evidence.texts:
        return
    for found in _QUOTATION.finditer(evidence.prose):
        # Links are hidden in the prose, and a quotation may hold one: the words are those of the body.
        said = evidence.parts.body[found.start() : found.end()]
        if len(words_of(normalised(said))) < QUOTED_WORDS or evidence.line_at(found.start()).borrowed:
            continue
        for part in _ELLIPSIS.split(said):
            words = " ".join(word.text for word in words_of(normalised(_bare_links(part))))
            if words and f" {words} " not in evidence.all_words:
                yield Find(
                    found.start(),
                    f"The quotation “{shown(said[1:-1])}” stands in no atom of the set.",
                    "Quote word by word, or say it in your own words without quotation marks.",
                )
                break


_LINK: Final = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")


def _bare_links(text: str) -> str:
    return _LINK.sub(r"\1", text)


def _numbers(evidence: Evidence) -> Iterator[Find]:
    if not evidence.texts:
        return
    known = known_numbers(evidence.texts.values())
    for number in numbers_of(evidence.prose.replace(HIDDEN, " ")):
        if not known.has(number) and not evidence.line_at(number.position).borrowed:
            yield Find(
                number.position,
                f"The number {shown(number.written)} stands in no atom of the set.",
                "Check it against the sources.",
            )


def _cites(evidence: Evidence) -> Iterator[Find]:
    for atom in evidence.atoms:
        if atom.pk not in evidence.mentioned:
            yield Find(0, f"{atom.id} is in the set, and the text does not name it.", f"Cite it: [[{atom.title}]].")


def _contradictions(evidence: Evidence) -> Iterator[Find]:
    told: set[frozenset[int]] = set()
    by_pk = {atom.pk: atom for atom in evidence.atoms}
    for atom in evidence.atoms:
        for relation in evidence.relations.get(atom.pk, ()):
            other = by_pk.get(relation.target or 0)
            if relation.verb == CONFLICTS and other and frozenset((atom.pk, other.pk)) not in told:
                told.add(frozenset((atom.pk, other.pk)))
                yield Find(0, f"{atom.id} and {other.id} contradict each other.", "Say which of them holds, and why.")


def _structure(evidence: Evidence) -> Iterator[Find]:
    own = [
        (level, text, place)
        for (level, text), (place, _) in zip(evidence.body.headings, evidence.body.places, strict=True)
        if not evidence.line_at(place).borrowed
    ]
    for _, text, place in [heading for heading in own if heading[0] == 1][1:]:
        yield Find(place, f"“{shown(text)}” is a second heading of the first level.", "Make it ## or lower.")
    before = 0
    for level, text, place in own:
        if before and level > before + 1:
            yield Find(place, f"“{shown(text)}” skips a level of headings.", f"Make it {'#' * (before + 1)}.")
        before = level


_PLACEHOLDER: Final = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|(?i:\blorem ipsum\b)|\[(?:citation needed|\.\.\.|…)\]|\?\?\?"
)


def _placeholders(evidence: Evidence) -> Iterator[Find]:
    for found in _PLACEHOLDER.finditer(evidence.prose):
        if not evidence.line_at(found.start()).borrowed:
            yield Find(
                found.start(), f"“{shown(found[0])}” stands for something that is missing.", "Write it, or remove it."
            )


def _superseded(evidence: Evidence) -> Iterator[Find]:
    for atom in evidence.atoms:
        newer = _newer(evidence, atom)
        if newer or atom.lifecycle.casefold() in SUPERSEDED:
            hint = f"Use {newer.id}." if newer else "Use a page that is still valid."
            yield Find(0, f"{atom.id} is superseded.", hint)


def _newer(evidence: Evidence, atom: Atom) -> Atom | None:
    for relation in evidence.relations.get(atom.pk, ()):
        if relation.verb == SUPERSEDED_BY and relation.target is not None:
            return evidence.index.by_pk.get(relation.target)
    for other in evidence.atoms:
        if any(one.verb == SUPERSEDES and one.target == atom.pk for one in evidence.relations.get(other.pk, ())):
            return other
    return None


def _token_limit(evidence: Evidence) -> Iterator[Find]:
    count = tokens(evidence.artifact)
    if count > MAX_BUDGET:
        yield Find(0, f"The text is about {count} tokens, more than {MAX_BUDGET}.", "Cut it, or make several of it.")


CHECKS: Final[Mapping[str, Check]] = {
    "contract-must-include": _must_include,
    "contract-must-avoid": _must_avoid,
    "atom-set-known": _set_known,
    "links-resolve": _links_resolve,
    "frontmatter-valid": _frontmatter,
    "quotes-verbatim": _quotes,
    "numbers-supported": _numbers,
    "cites-atom-set": _cites,
    "contradiction-in-set": _contradictions,
    "structure": _structure,
    "placeholder": _placeholders,
    "superseded": _superseded,
    "token-limit": _token_limit,
}
"""By the names of :data:`wiki.prime.domains.BUILTIN_VALIDATORS`."""
