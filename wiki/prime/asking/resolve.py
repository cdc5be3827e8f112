"""prime_resolve: from a brief to the context that serves it, with what that must hold, in so many tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wiki.prime.asking.bounds import DEFAULT_TOKENS
from wiki.prime.asking.budgeting import Budget, clamped
from wiki.prime.asking.contracts import Demand, Demands, demands_of
from wiki.prime.asking.hits import explained, shaped
from wiki.prime.asking.intent import Intent, read_intent
from wiki.prime.asking.phrases import normalised
from wiki.prime.asking.ranking import ASKED, Question, Ranked, rank
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import AtomIndex, atoms
from wiki.search import texts

MAX_WALKED: Final = 200
RELEVANT: Final = 0.4
"""A page without at least this much of the words, tags or axes asked for costs more tokens than it answers with:
at 0.2 contexts held as many facts for a third more tokens, at 0.6 fewer facts (`python -m benchmarks.worth`)."""
FALLING: Final = (Level.FULL, Level.CORE, Level.SUMMARY)
"""A page falls to the next shorter level until it fits. The best one, and those that the brief names, start at full."""


def resolve(
    *, brief: str, max_tokens: int = DEFAULT_TOKENS, domain: str | None = None, include_text: bool = False
) -> dict[str, Any]:
    """The intent of a brief, the pages for it within ``max_tokens``, and its contract.

    What must be there is loaded first: pages at the level that fits, words by a page that has them. What could not be
    met is in ``contract.unmet``, what lost against a stronger demand in ``conflicts``. Raises what
    :func:`wiki.prime.asking.intent.intent` raises.
    """
    index = atoms()
    intent = read_intent(brief, index, domain)
    budget = Budget(clamped(max_tokens))
    ranked = _ranked(intent, brief, index, budget)
    demands = demands_of(intent, [one.atom for one in ranked], index)
    unmet, reasons = _load_demanded(demands, ranked, budget)
    for place, one in enumerate(_relevant(ranked, intent)):
        if one.atom.id not in demands.avoid:
            named = place == 0 or one.atom.pk in intent.pages
            budget.take(one.atom, FALLING if named else FALLING[1:])
        if not budget.room:
            break
    taken = list(budget.taken.values())
    why = explained([one for one in ranked if one.atom.pk in budget.taken], _words(intent, brief), intent.tags)
    explanations = {
        atom.pk: "; ".join(filter(None, (reasons.get(atom.pk, ""), why.get(atom.pk, "")))) for atom, _ in taken
    }
    return {
        "intent": intent.as_dict(index),
        "hits": shaped(taken, explanations, include_text=include_text),
        "contract": {
            "must_include": [demand.shown for demand in demands.include.values()],
            "must_avoid": [demand.shown for demand in demands.avoid.values()],
            "unmet": unmet,
        },
        "total_tokens": budget.used,
        "omitted": budget.omitted(),
        "conflicts": demands.conflicts,
    }


def _words(intent: Intent, brief: str) -> str:
    """What the words index is asked: the brief's content words; the brief as it stands where there are none."""
    return " ".join(intent.terms) or brief


def _ranked(intent: Intent, brief: str, index: AtomIndex, budget: Budget) -> list[Ranked]:
    """The pages for the brief: those it names first, in its order, then the others by rank."""
    question = Question(
        text=_words(intent, brief),
        tags=intent.tags,
        axes=intent.axes,
        kinds=intent.kinds,
        domain=intent.domain,
        level=Level.CORE,
        budget=budget.tokens,
    )
    ranked = rank(index, question)
    by_pk = {one.atom.pk: one for one in ranked}
    named = [by_pk.get(pk) or Ranked(index.by_pk[pk], 0.0, {}) for pk in intent.pages]
    return [*named, *(one for one in ranked if one.atom.pk not in intent.pages)]


def _relevant(ranked: Sequence[Ranked], intent: Intent) -> list[Ranked]:
    """The pages that have enough of what the brief asks for; named ones always. Room is left rather than filled."""
    return [
        one
        for one in ranked[:MAX_WALKED]
        if one.atom.pk in intent.pages or max(one.signals.get(name, 0.0) for name in ASKED) >= RELEVANT
    ]


def _load_demanded(
    demands: Demands, ranked: Sequence[Ranked], budget: Budget
) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Take what must be there. Returns what could not be met, and by page why it was taken."""
    unmet: list[dict[str, Any]] = []
    reasons: dict[int, str] = {}
    pages = [demand for demand in demands.include.values() if demand.atom]
    for at, demand in enumerate(pages):
        atom = demand.atom
        if atom is None:
            continue
        # Each that is still to come keeps the room of its summary, so that one does not crowd out the others.
        kept = sum(one.atom.cost(Level.SUMMARY) for one in pages[at + 1 :] if one.atom)
        fitting = [level for level in FALLING[1:] if atom.cost(level) + kept <= budget.room] or [Level.SUMMARY]
        if budget.take(atom, fitting) is None:
            unmet.append({"name": demand.shown, "reason": budget.left_out[atom.pk][2]})
        else:
            reasons[atom.pk] = f"must be included: {demand.why}"
    words = [demand for demand in demands.include.values() if demand.atom is None]
    unmet += _load_words(words, demands, ranked, budget, reasons)
    return unmet, reasons


def _load_words(
    words: Sequence[Demand], demands: Demands, ranked: Sequence[Ranked], budget: Budget, reasons: dict[int, str]
) -> list[dict[str, Any]]:
    """For each of the words that must be there, a page that says them: whole, since a shorter level may not."""
    if not words:
        return []
    first = [one.atom for one in ranked[:MAX_WALKED] if one.atom.id not in demands.avoid]
    bodies = {pk: normalised(text) for pk, text in texts([atom.pk for atom in first])}
    unmet: list[dict[str, Any]] = []
    for demand in words:
        said = normalised(demand.name)
        having = [atom for atom in first if said in normalised(atom.title) or said in bodies.get(atom.pk, "")]
        if not having:
            unmet.append({"name": demand.shown, "reason": "no page of the ranking says it"})
        elif (atom := next((atom for atom in having if budget.take_whole(atom)), None)) is None:
            unmet.append(
                {"name": demand.shown, "reason": f"no page that says it fits into the {budget.room} that remain"}
            )
        else:
            reasons.setdefault(atom.pk, f"must be included: {demand.why}")
    return unmet
