"""What an answer must hold and must not: gathered from the brief, the domain and the pages.

The brief beats the domain, the domain beats a page, and of two pages the one that ranks higher. What loses is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, NamedTuple

from wiki.prime.asking.intent import Intent
from wiki.prime.asking.phrases import normalised
from wiki.prime.atoms.reading import Atom, AtomIndex, Relation, relations
from wiki.prime.atoms.relations import CONFLICTS, REQUIRES, SUPERSEDED_BY, SUPERSEDES
from wiki.prime.domains import Domain

MAX_DEPTH: Final = 5
"""So far are the pages followed that pages require."""
MAX_LEADING: Final = 5
"""The contracts of so many pages count, from the top of the ranking, where the brief names none."""
MAX_FROM_PAGES: Final = 20
"""What so many pages conflict with is kept out."""
REQUIRED: Final = "requires it"
SUPERSEDED: Final = frozenset({"superseded", "deprecated", "archived", "obsolete"})


class Origin(IntEnum):
    """Who asks for something; the smaller number wins."""

    BRIEF = 0
    DOMAIN = 1
    PAGE = 2


class Asker(NamedTuple):
    """Who asks for something, and how that is told."""

    origin: Origin
    why: str

    def when(self, key: str, value: str) -> Asker:
        """The same one, under a condition."""
        return self._replace(why=f"{self.why}, when {key} is {value}")


@dataclass(frozen=True, slots=True)
class Demand:
    """Something that must or must not be there: an atom, or words."""

    name: str
    atom: Atom | None
    asker: Asker

    @property
    def why(self) -> str:
        """For whom."""
        return self.asker.why

    @property
    def is_requirement(self) -> bool:
        """Whether it only has to be at hand, since another atom requires it."""
        return self.why.endswith(REQUIRED)

    @property
    def key(self) -> str:
        """By this two demands are the same."""
        return self.atom.id if self.atom else normalised(self.name)

    @property
    def shown(self) -> str:
        """The id of an atom, else the words."""
        return self.atom.id if self.atom else self.name


@dataclass(slots=True)
class Demands:
    """The contract of one brief: what must be there, what must not, and what lost against a stronger demand."""

    include: dict[str, Demand] = field(default_factory=dict)
    avoid: dict[str, Demand] = field(default_factory=dict)
    conflicts: list[dict[str, str]] = field(default_factory=list)
    named: frozenset[str] = frozenset()
    """The atoms that the brief is about: only the brief itself can keep one out."""

    def want(self, demand: Demand) -> None:
        """Note that it must be there, unless something as strong or stronger keeps it out."""
        self._note(demand, self.include, self.avoid, "must_include", "must_avoid")

    def shun(self, demand: Demand) -> None:
        """Note that it must not be there, unless something as strong or stronger wants it."""
        if demand.key in self.named and demand.asker.origin is not Origin.BRIEF:
            self._lost(demand, "must_avoid", "the brief names it")
            return
        self._note(demand, self.avoid, self.include, "must_avoid", "must_include")

    def _note(
        self, demand: Demand, own: dict[str, Demand], other: dict[str, Demand], own_name: str, other_name: str
    ) -> None:
        against = other.get(demand.key)
        if against is None:
            own.setdefault(demand.key, demand)
            return
        # Demands come strongest first, so what stands already wins.
        self._lost(demand, own_name, f"{other_name}: {against.why}")

    def _lost(self, demand: Demand, own_name: str, kept: str) -> None:
        row = {"name": demand.shown, "kept": kept, "dropped": f"{own_name}: {demand.why}"}
        if row not in self.conflicts:
            self.conflicts.append(row)


def demands_of(intent: Intent, ranked: Sequence[Atom], index: AtomIndex) -> Demands:
    """The contract for a brief and the pages that rank for it."""
    found = Demands(named=frozenset(index.by_pk[pk].id for pk in intent.pages))
    brief = Asker(Origin.BRIEF, "the brief")
    for said in intent.avoid:
        for demand in _unwanted(index, said, brief):
            found.shun(demand)
    for said in intent.must:
        found.want(_demand(index, said, brief))
    named = [index.by_pk[pk] for pk in intent.pages]
    leading = named or list(ranked[:MAX_LEADING])
    _take_contracts(found, index, intent.domain, leading, intent.value)
    _take_opposed(found, index, list(dict.fromkeys([*named, *ranked]))[:MAX_FROM_PAGES])
    _take_required(found, index, leading)
    return found


def demands_of_set(atoms: Sequence[Atom], domain: Domain, index: AtomIndex) -> Demands:
    """The contract for a text made from these atoms. Conditions need a brief, and there is none."""
    found = Demands()
    _take_contracts(found, index, domain, atoms, lambda key: ())
    _take_required(found, index, atoms)
    return found


def _take_contracts(
    found: Demands, index: AtomIndex, domain: Domain, atoms: Iterable[Atom], values: Callable[[str], Sequence[str]]
) -> None:
    """What the domain asks for, then what each page does. ``values``: what the brief says under a condition's key."""
    own = domain.contract
    conditions = [{"when": f"{one.key}:{one.value}", "include": one.include} for one in own.conditions]
    lists: dict[str, Any] = {"must_include": own.must_include, "must_avoid": own.must_avoid, "conditionals": conditions}
    asking = [(lists, Asker(Origin.DOMAIN, f"the domain {domain.name}"))]
    asking += [(dict(atom.contract), Asker(Origin.PAGE, atom.id)) for atom in atoms]
    for contract, asker in asking:
        for name in contract.get("must_avoid", ()):
            for demand in _unwanted(index, name, asker):
                found.shun(demand)
        for name in contract.get("must_include", ()):
            found.want(_demand(index, name, asker))
        for condition in contract.get("conditionals", ()):
            key, _, value = (part.strip() for part in str(condition.get("when", "")).partition(":"))
            if value.casefold() in (one.casefold() for one in values(key)):
                for name in condition.get("include", ()):
                    found.want(_demand(index, name, asker.when(key, value)))


def _take_opposed(found: Demands, index: AtomIndex, first: Sequence[Atom]) -> None:
    """What the pages conflict with, and what newer pages replace."""
    related = relations([atom.pk for atom in first])
    for atom in first:
        for relation in related.get(atom.pk, ()):
            target = _target(index, relation)
            if target is None:
                continue
            if relation.verb == CONFLICTS:
                found.shun(_atom_demand(target, f"{atom.id} conflicts with it"))
            elif relation.verb == SUPERSEDES:
                found.shun(_atom_demand(target, f"{atom.id} supersedes it"))
            elif relation.verb == SUPERSEDED_BY:
                found.shun(_atom_demand(atom, f"{target.id} supersedes it"))
        if atom.lifecycle.casefold() in SUPERSEDED:
            found.shun(_atom_demand(atom, f"it is marked as {atom.lifecycle}"))


def _take_required(found: Demands, index: AtomIndex, first: Sequence[Atom]) -> None:
    """What the pages require that are wanted or rank high, and what that requires, five steps on at most."""
    wanted = [demand.atom for demand in found.include.values() if demand.atom]
    level = list(dict.fromkeys([*wanted, *(atom for atom in first if atom.id not in found.avoid)]))
    seen: set[int] = set()
    for _ in range(MAX_DEPTH):
        seen |= {atom.pk for atom in level}
        related = relations([atom.pk for atom in level])
        following: dict[int, Atom] = {}
        for atom in level:
            for relation in related.get(atom.pk, ()):
                target = _target(index, relation) if relation.verb == REQUIRES else None
                if target is None:
                    continue
                found.want(_atom_demand(target, f"{atom.id} {REQUIRED}"))
                if target.pk not in seen and target.id not in found.avoid:
                    following[target.pk] = target
        if not following:
            return
        level = list(following.values())


def _atom_demand(atom: Atom, why: str) -> Demand:
    return Demand(atom.title, atom, Asker(Origin.PAGE, why))


def _target(index: AtomIndex, relation: Relation) -> Atom | None:
    return index.by_pk.get(relation.target) if relation.target is not None else None


def _demand(index: AtomIndex, name: str, asker: Asker) -> Demand:
    """The atom that the name means, where it means one; else the words themselves."""
    bare = _bare(name)
    meant = index.named(bare)
    return Demand(bare, meant[0] if len(meant) == 1 else None, asker)


def _bare(name: str) -> str:
    return name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].strip()


def _unwanted(index: AtomIndex, name: str, asker: Asker) -> list[Demand]:
    """What a name keeps out: of a name that several atoms have, all of them."""
    bare = _bare(name)
    return [Demand(bare, atom, asker) for atom in index.named(bare)] or [Demand(bare, None, asker)]
