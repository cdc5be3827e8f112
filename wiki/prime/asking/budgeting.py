"""What fits: atoms taken in their order while there is room, each at a level, and what was left out with the sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from wiki.prime.asking.bounds import MAX_BUDGET
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import Atom

MAX_OMITTED: Final = 10


def clamped(tokens: int) -> int:
    """A budget within 1..25,000."""
    return max(1, min(tokens, MAX_BUDGET))


@dataclass(slots=True)
class Budget:
    """The room there is, what has been taken into it, and what was left out."""

    tokens: int
    used: int = 0
    taken: dict[int, tuple[Atom, Level]] = field(default_factory=dict)
    left_out: dict[int, tuple[Atom, int, str]] = field(default_factory=dict)

    @property
    def room(self) -> int:
        """The tokens that are left."""
        return self.tokens - self.used

    def take(self, atom: Atom, levels: Iterable[Level]) -> Level | None:
        """Take the atom at the first of these levels that fits. None: none did, and it is noted as left out."""
        if atom.pk in self.taken:
            return self.taken[atom.pk][1]
        least = 0
        for level in levels:
            least = atom.cost(level)
            if least <= self.room:
                self.used += least
                self.taken[atom.pk] = (atom, level)
                self.left_out.pop(atom.pk, None)
                return level
        self.left_out.setdefault(atom.pk, (atom, least, self._reason(least)))
        return None

    def take_whole(self, atom: Atom) -> bool:
        """Take the atom at its full level, or raise it to that; False and noted as left out where it does not fit."""
        cost, held = atom.cost(Level.FULL), self.taken.get(atom.pk)
        more = cost - (atom.cost(held[1]) if held else 0)
        if more > self.room:
            if held is None:
                self.left_out.setdefault(atom.pk, (atom, cost, self._reason(cost)))
            return False
        self.used += more
        self.taken[atom.pk] = (atom, Level.FULL)
        self.left_out.pop(atom.pk, None)
        return True

    def _reason(self, cost: int) -> str:
        return f"needs {cost}, {self.room} of {self.tokens} remain"

    def omitted(self) -> list[dict[str, Any]]:
        """The first ten that were left out: id, tokens, reason."""
        rows = list(self.left_out.values())[:MAX_OMITTED]
        return [{"id": atom.id, "tokens": cost, "reason": reason} for atom, cost, reason in rows]
