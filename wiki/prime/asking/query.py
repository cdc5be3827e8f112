"""prime_query: the pages that serve a question best, as many as a budget of tokens holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from vault.errors import ErrorCode, SynapseError
from wiki.prime.asking.bounds import DEFAULT_BUDGET
from wiki.prime.asking.budgeting import Budget, clamped
from wiki.prime.asking.hits import explained, shaped
from wiki.prime.asking.ranking import Question, rank
from wiki.prime.asking.scope import Mask, kinds_mask, narrowed, read_scope, tag_mask
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import AtomIndex, atoms
from wiki.prime.domains import domains

MAX_WALKED: Final = 2_000
"""So many places of a ranking are tried for the room that is left; what comes later is of no use."""


def level_named(level: str) -> Level:
    """The level of this name. Raises ``invalid_level``."""
    try:
        return Level(level)
    except ValueError:
        raise SynapseError(
            ErrorCode.INVALID_LEVEL,
            f"A level is one of: {', '.join(Level)}.",
            parameter="level",
            allowed=[str(one) for one in Level],
        ) from None


def query(
    *,
    scope: str | None = None,
    tags: Sequence[str] = (),
    level: str = Level.CORE,
    budget_tokens: int = DEFAULT_BUDGET,
    kinds: Sequence[str] | None = None,
    exclude_ids: Sequence[str] = (),
    include_text: bool = False,
) -> dict[str, Any]:
    """The best pages in their order that fit the budget, each at the level asked for.

    ``tags`` must all be there. ``exclude_ids`` are names of atoms; those that there are not exclude nothing. Raises
    ``invalid_level``, ``invalid_scope``, ``invalid_param_value`` for a kind, and what the scope's look-ups raise.
    """
    wanted = level_named(level)
    index, known = atoms(), domains()
    where = read_scope(scope, index, known)
    for tag in tags:
        where = narrowed(where, tag_mask(index, tag))
    if kinds:
        where = narrowed(where, kinds_mask(index, kinds))
    if exclude_ids:
        where = narrowed(where, _without(index, exclude_ids))
    budget = Budget(clamped(budget_tokens))
    question = Question(
        text=where.text,
        tags=tuple(dict.fromkeys(tag.strip().lstrip("#").casefold() for tag in tags)),
        axes={where.axis.name: where.value} if where.axis else {},
        domain=where.domain or known["wiki"],
        level=wanted,
        budget=budget.tokens,
    )
    ranked = rank(index, question, where.admits)
    for one in ranked[:MAX_WALKED]:
        budget.take(one.atom, (wanted,))
        if not budget.room:
            break
    taken = [(atom, own) for atom, own in budget.taken.values()]
    why = explained([one for one in ranked[:MAX_WALKED] if one.atom.pk in budget.taken], question.text, question.tags)
    return {
        "hits": shaped(taken, why, include_text=include_text),
        "total_tokens": budget.used,
        "omitted": budget.omitted(),
    }


def _without(index: AtomIndex, names: Sequence[str]) -> Mask:
    found = index.pks == -1
    for name in names:
        for atom in index.named(name):
            found[index.place(atom.pk)] = True
    kept: Mask = ~found
    return kept
