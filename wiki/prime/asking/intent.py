"""What a brief asks for, read from its words alone: the task, the pages and tags it names, what must and must not be.

No model: the same brief over the same index gives the same intent. Rules are data (:mod:`wiki.prime.asking.lexicon`
and the domain's own); the first rule that fits counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeVar

from vault.errors import ErrorCode, SynapseError
from wiki.prime.asking.avoided import Part, all_common, avoided, is_common, names_of
from wiki.prime.asking.lexicon import EXPLORE, NO_TASK, QUOTES, SCRIPTS, TASK_TYPES
from wiki.prime.asking.phrases import PhraseTable, Word, normalised, words_of
from wiki.prime.atoms.reading import AtomIndex, atoms
from wiki.prime.domains import WIKI, Domain, TaskType, domain_named, domains
from wiki.search.stopwords import stopwords
from wiki.search.text import fold

MAX_BRIEF: Final = 200_000
"""Characters of a brief: what is longer is material, and no task."""
MAX_TERMS: Final = 64
MAX_PAGES: Final = 20
SHORT: Final = 3
_QUOTED: Final = re.compile("|".join(f"{a}([^{a}{b}]{{1,300}}){b}" for a, b in QUOTES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A brief, understood. ``pages`` are the rows of the pages it names, ``own`` the domain's own fields.

    ``must`` and ``avoid`` are names or words. ``confidence`` is 0 to 1: how much of the brief the rules understood.
    """

    domain: Domain
    task_type: str
    terms: tuple[str, ...]
    tags: tuple[str, ...]
    pages: tuple[int, ...]
    kinds: tuple[str, ...]
    axes: Mapping[str, str]
    must: tuple[str, ...]
    avoid: tuple[str, ...]
    lang: str
    required_axes: tuple[str, ...]
    ambiguity_flags: tuple[str, ...]
    confidence: float
    own: Mapping[str, str | None] = field(default_factory=dict)

    def as_dict(self, index: AtomIndex) -> dict[str, Any]:
        """The intent as its readers get it: pages by their ids."""
        return {
            "domain": self.domain.name,
            "task_type": self.task_type,
            "terms": list(self.terms),
            "tags": list(self.tags),
            "pages": [index.by_pk[pk].id for pk in self.pages],
            "kinds": list(self.kinds),
            "axes": dict(self.axes),
            "must": list(self.must),
            "avoid": list(self.avoid),
            "lang": self.lang,
            "required_axes": list(self.required_axes),
            "ambiguity_flags": list(self.ambiguity_flags),
            "confidence": self.confidence,
            **self.own,
        }

    def value(self, key: str) -> tuple[str, ...]:
        """What the intent says under a key that a condition may name: a field, an axis, or a field of the domain."""
        if key in ("task_type", "lang"):
            return (str(getattr(self, key)),)
        if key in ("tag", "tags", "kind", "kinds", "term", "terms"):
            return tuple(getattr(self, key.rstrip("s") + "s"))
        found = self.axes.get(key) or self.own.get(key)
        return (found,) if found else ()


def intent(*, brief: str, domain: str | None = None) -> dict[str, Any]:
    """The intent of a brief.

    Raises ``invalid_param_value`` for a blank brief, ``payload_too_large``, ``unknown_domain``, and what
    :func:`domains` raises.
    """
    index = atoms()
    return read_intent(brief, index, domain).as_dict(index)


def read_intent(brief: str, index: AtomIndex, domain: str | None = None) -> Intent:
    """As :func:`intent`, over atoms at hand. Linear in the length of the brief."""
    if len(brief) > MAX_BRIEF:
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The brief is longer than {MAX_BRIEF:,} characters. Say what is to be done, without the material.",
            limit_characters=MAX_BRIEF,
        )
    text = normalised(brief)
    if not text:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "The brief is blank. Say what is to be done.", parameter="brief"
        )
    words = words_of(text)
    quoted = _quoted(text)
    lang = _language(text, words)
    unwanted = avoided(text, words, quoted, index, lang)
    wanted = _outside(words, unwanted)
    chosen, several = (domain_named(domain), False) if domain is not None else _domain_of(wanted, domains())
    pages, unclear = _pages(wanted, index)
    task = _task(_outside(wanted, _told(wanted, quoted, index)), chosen) or _task(wanted, chosen)
    tags = _tags(wanted, index, chosen)
    axes, unclear_axes = _axes(wanted, chosen)
    terms = _terms(_content(wanted, chosen), lang)
    own = {name: _first(wanted, given.values) for name, given in chosen.intent_fields.items()}
    flags = [
        *(["short_brief"] if len(words) < SHORT else []),
        *(["no_task_verb"] if task is None else []),
        *(["no_known_page"] if not pages else []),
        *(f"title_ambiguous:{name}" for name in unclear),
        *(f"axis_ambiguous:{name}" for name in unclear_axes),
        *(["multiple_domains"] if several else []),
    ]
    return Intent(
        domain=chosen,
        task_type=task.name if task else EXPLORE,
        terms=terms,
        tags=tags,
        pages=pages,
        kinds=task.kinds if task else (),
        axes=axes,
        must=tuple(dict.fromkeys(part.said for part in _outside(quoted, unwanted))),
        avoid=tuple(dict.fromkeys(part.said for part in unwanted)),
        lang=lang,
        required_axes=(
            *(axis.name for axis in chosen.axes if axis.required and axis.name not in axes),
            *(name for name, given in chosen.intent_fields.items() if given.required and own[name] is None),
        ),
        ambiguity_flags=tuple(flags),
        confidence=_confidence(task is not None, pages, tags, terms, len(unclear) + len(unclear_axes) + several),
        own=own,
    )


def _confidence(task: bool, pages: Sequence[int], tags: Sequence[str], terms: Sequence[str], ambiguous: int) -> float:
    """A share for each thing that was understood (.2 for having words at all), less .1 for each that is ambiguous."""
    sure = 0.2 * bool(terms) + 0.3 * task + 0.3 * bool(pages) + 0.1 * bool(tags) + 0.1 * (len(terms) >= SHORT)
    return round(max(0.0, sure - 0.1 * ambiguous), 2)


def _quoted(text: str) -> list[Part]:
    parts = ((found, next(filter(None, found.groups()), "").strip()) for found in _QUOTED.finditer(text))
    return [Part(found.start(), found.end(), said) for found, said in parts if said]


_Place = TypeVar("_Place", Word, Part)


def _outside(things: Sequence[_Place], parts: Sequence[Part]) -> list[_Place]:
    """Those that begin in none of the parts; both in the order of the text."""
    found, at = [], 0
    for thing in things:
        while at < len(parts) and parts[at].end <= thing.start:
            at += 1
        if at == len(parts) or thing.start < parts[at].start:
            found.append(thing)
    return found


def _pages(words: Sequence[Word], index: AtomIndex) -> tuple[tuple[int, ...], list[str]]:
    """The pages named, in the order of the brief, and the names that mean several."""
    pages: dict[int, None] = {}
    unclear: dict[str, None] = {}
    for match in names_of(index).find(words):
        if len(match.values) > 1:
            unclear[index.by_pk[match.values[0]].title] = None
        pages.update(dict.fromkeys(sorted(match.values, key=lambda pk: index.by_pk[pk].id)))
    return tuple(pages)[:MAX_PAGES], list(unclear)


def _domain_of(words: Sequence[Word], known: Mapping[str, Domain]) -> tuple[Domain, bool]:
    """The domain of which the brief has most tags, and whether another has as many. None has any: the built-in one."""
    hits = {name: sum(1 for _ in _vocabulary(domain).find(words)) for name, domain in known.items() if name != WIKI}
    best = max(hits.values(), default=0)
    if not best:
        return known[WIKI], False
    winners = sorted(name for name, count in hits.items() if count == best)
    return known[winners[0]], len(winners) > 1


def _vocabulary(domain: Domain) -> PhraseTable[str]:
    """The domain's tags and their synonyms."""
    own = ((tag, tag) for tag in domain.tags)
    return PhraseTable([*own, *((word, tag) for tag, words in domain.synonyms.items() for word in (tag, *words))])


def _task(words: Sequence[Word], domain: Domain) -> TaskType | None:
    """The first type of task of which a word is there, the domain's before the built-in ones."""
    for task in (*domain.task_types, *TASK_TYPES):
        if any(match.values[0] for match in _phrases(task.match).find(words)):
            return task
    return None


def _told(words: Sequence[Word], quoted: Sequence[Part], index: AtomIndex) -> list[Part]:
    """Quotations and names of several words: what they say is what the brief is about, not what is to be done."""
    names = [match for match in names_of(index).find(words) if match.after - match.first > 1]
    parts = [Part(words[match.first].start, words[match.after - 1].end, "") for match in names]
    return sorted([*parts, *quoted])


@lru_cache(maxsize=256)
def _phrases(texts: tuple[str, ...]) -> PhraseTable[bool]:
    return PhraseTable([*((text, True) for text in texts), *((text, False) for text in NO_TASK)])


@lru_cache(maxsize=2)
def _tag_table(index: AtomIndex) -> PhraseTable[str]:
    return PhraseTable((tag, tag) for tag in sorted(index.tags))


def _tags(words: Sequence[Word], index: AtomIndex, domain: Domain) -> tuple[str, ...]:
    matches = [*_tag_table(index).find(words), *_vocabulary(domain).find(words)]
    matches.sort(key=lambda match: match.first)
    return tuple(dict.fromkeys(tag for match in matches for tag in match.values if not is_common(tag)))


def _axes(words: Sequence[Word], domain: Domain) -> tuple[dict[str, str], list[str]]:
    """The value of each axis that the brief names, and the axes of which it names several."""
    found: dict[str, str] = {}
    unclear: list[str] = []
    for axis in domain.axes:
        values = [value for match in _axis_table(axis.matches).find(words) for value in match.values]
        if values:
            found[axis.name] = values[0]
        if len(set(values)) > 1:
            unclear.append(axis.name)
    return found, unclear


@lru_cache(maxsize=256)
def _axis_table(values: tuple[str, ...]) -> PhraseTable[str]:
    return PhraseTable((value, value) for value in values)


def _first(words: Sequence[Word], values: Mapping[str, tuple[str, ...]]) -> str | None:
    """The value whose words come first in the brief."""
    table = PhraseTable((word, value) for value, its in values.items() for word in (value, *its))
    return next((value for match in table.find(words) for value in match.values), None)


def _content(words: Sequence[Word], domain: Domain) -> list[Word]:
    """The words that say what it is about, without those that say what to do with it."""
    verbs = [
        match
        for task in (*domain.task_types, *TASK_TYPES)
        for match in _phrases(task.match).find(words)
        if match.values[0]
    ]
    asked = {at for match in verbs for at in range(match.first, match.after)}
    return [word for at, word in enumerate(words) if at not in asked]


def _terms(words: Sequence[Word], lang: str) -> tuple[str, ...]:
    common = stopwords().get(lang) or all_common()
    kept = (word.text for word in words if fold(word.text) not in common)
    return tuple(dict.fromkeys(kept))[:MAX_TERMS]


def _language(text: str, words: Iterable[Word]) -> str:
    """ISO 639-1, told by the script or by the function words; "" where neither tells. English needs one, others two."""
    for code, characters in SCRIPTS:
        if re.search(f"[{characters}]", text):
            return code
    counts: Counter[str] = Counter()
    for word in words:
        folded = fold(word.text)
        counts.update(code for code, common in stopwords().items() if folded in common)
    best = max(counts.values(), default=0)
    winners = [code for code in stopwords() if counts[code] == best and best]
    if not winners or (best < 2 and "en" not in winners):
        return ""
    return "en" if "en" in winners else winners[0]
