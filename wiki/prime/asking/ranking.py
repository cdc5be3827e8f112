"""Which atoms come first: a weighted mean of the signals that the question makes use of, the same each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from wiki.prime.asking.scope import Mask, axis_strength, tag_mask
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import Atom, AtomIndex
from wiki.prime.domains import Domain
from wiki.search.candidates import word_candidates
from wiki.search.filters import Filters
from wiki.search.query import MAX_QUERY_CHARS, analyse

Values = npt.NDArray[np.float64]

MAX_CANDIDATES: Final = 500
MAX_ASKED: Final = 5_000
"""Up to so many admitted pages the words index is asked about these alone; of more, about all."""
ASKED: Final = ("lexical", "tag", "axis")
"""The signals of what a question asks for; the others are of what a page is."""
_LEVELS: Final = (Level.SUMMARY, Level.CORE, Level.FULL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What pages are ranked by. An empty field asks for nothing.

    ``tags`` are wished for, not required: a page scores by the share it has. ``axes`` are values by axis.
    """

    text: str = ""
    tags: Sequence[str] = ()
    axes: Mapping[str, str] = field(default_factory=dict)
    kinds: Sequence[str] = ()
    domain: Domain
    level: Level = Level.CORE
    budget: int = 1

    @property
    def asks(self) -> bool:
        """Whether anything is asked for that a page can fail to have."""
        return bool(self.text.strip() or self.tags or self.axes)


@dataclass(frozen=True, slots=True)
class Ranked:
    """One atom in its place: its score and the signals, each 0 to 1."""

    atom: Atom
    score: float
    signals: Mapping[str, float]


def rank(index: AtomIndex, question: Question, admits: Mask | None = None) -> list[Ranked]:
    """The admitted atoms that have anything of what is asked for, best first, equals by id.

    A question that asks for nothing ranks all of them by what they are. The score is
    sum(weight * signal) / sum(weight) over the active signals, rounded to six places.
    """
    admitted = np.ones(len(index), dtype=bool) if admits is None else admits
    if not admitted.any():
        return []
    found = _asked(index, question, admitted)
    if question.asks:
        admitted = admitted & np.any([values > 0 for values in found.values()], axis=0)
    places = np.flatnonzero(admitted)
    signals = {**{name: values[places] for name, values in found.items()}, **_own(index, question, places)}
    weights = {name: question.domain.weights.get(name, 0.0) for name in signals}
    total = sum(weights.values()) or 1.0
    score: Values = np.zeros(len(places))
    for name, values in signals.items():
        score += weights[name] * values
    score = np.round(score / total, 6)
    # Atoms are sorted by id, and a stable sort keeps equals in that order.
    order = np.argsort(-score, kind="stable")
    return [
        Ranked(index.atoms[places[at]], float(score[at]), {name: float(values[at]) for name, values in signals.items()})
        for at in order
    ]


def _asked(index: AtomIndex, question: Question, admitted: Mask) -> dict[str, Values]:
    """The signals of what is asked for, over all atoms."""
    found: dict[str, Values] = {}
    if question.text.strip():
        found["lexical"] = _lexical(index, question.text, admitted)
    if question.tags:
        found["tag"] = np.mean([tag_mask(index, tag) for tag in question.tags], axis=0)
    if question.axes:
        found["axis"] = _axis(index, question, admitted)
    return found


def _lexical(index: AtomIndex, text: str, admitted: Mask) -> Values:
    """How well the words fit, by the words index: 1 for the best page."""
    query = analyse(text[:MAX_QUERY_CHARS])
    narrow = int(admitted.sum())
    filters = Filters(only=index.pks[admitted].tolist()) if narrow < min(len(index), MAX_ASKED) else Filters()
    values: Values = np.zeros(len(index))
    for candidate in word_candidates(query, filters, MAX_CANDIDATES):
        if candidate.pk in index.by_pk:
            values[index.place(candidate.pk)] = candidate.score
    values *= admitted
    best = values.max()
    return values / best if best else values


def _axis(index: AtomIndex, question: Question, admitted: Mask) -> Values:
    values: Values = np.zeros(len(index))
    for place in np.flatnonzero(admitted):
        atom = index.atoms[place]
        strengths = [axis_strength(atom, value, question.domain) for value in question.axes.values()]
        values[place] = sum(strengths) / len(strengths)
    return values


def _own(index: AtomIndex, question: Question, places: npt.NDArray[np.intp]) -> dict[str, Values]:
    """The signals of what the atoms are: how central, how good, of which kind, and how well they fit the budget."""
    degrees = np.log1p(index.degree.astype(float))
    most = degrees.max() if len(degrees) else 0.0
    cost = index.tokens[places, _LEVELS.index(question.level)].astype(float)
    signals: dict[str, Values] = {
        "centrality": degrees[places] / most if most else np.zeros(len(places)),
        "quality": index.quality[places].astype(float),
        "fit": np.clip(1.0 - cost / max(1, question.budget), 0.0, 1.0),
    }
    boosts = {**dict.fromkeys(question.kinds, 1.0), **question.domain.kind_boosts}
    if boosts:
        top = max(boosts.values()) or 1.0
        signals["kind"] = np.array([boosts.get(index.atoms[place].kind, 0.0) / top for place in places], dtype=float)
    return signals
