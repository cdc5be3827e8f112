"""What a wiki is about, and what its texts must hold to: the built-in domain ``wiki``, and those of the vault's owner.

A domain is a file ``.synapse/domains/<any name>.yaml`` (docs/prime.md lists its keys). A file that can't be used is an
error of `manage.py check` and of every answer that needs the domains; it is never skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from vault.current import current_vault
from vault.domain_files import DomainFile, domain_files
from vault.errors import ErrorCode, SynapseError

WIKI: Final = "wiki"
"""The domain that is always there."""


class Severity(StrEnum):
    """What a validator's find means: an ``error`` makes the verdict no."""

    WARNING = "warning"
    ERROR = "error"


BUILTIN_VALIDATORS: Final[Mapping[str, Severity]] = {
    "contract-must-include": Severity.ERROR,
    "contract-must-avoid": Severity.ERROR,
    "atom-set-known": Severity.ERROR,
    "links-resolve": Severity.ERROR,
    "frontmatter-valid": Severity.ERROR,
    "quotes-verbatim": Severity.ERROR,
    "numbers-supported": Severity.WARNING,
    "cites-atom-set": Severity.WARNING,
    "contradiction-in-set": Severity.WARNING,
    "structure": Severity.WARNING,
    "placeholder": Severity.WARNING,
    "superseded": Severity.WARNING,
    "token-limit": Severity.WARNING,
}
"""The validators that come with Synapse, in the order they run, and what they find."""

SIGNALS: Final[Mapping[str, float]] = {
    "lexical": 0.30,
    "tag": 0.20,
    "axis": 0.15,
    "centrality": 0.15,
    "quality": 0.10,
    "kind": 0.05,
    "fit": 0.05,
}
"""What a page is ranked by, and how much each weighs. A domain may weigh them otherwise."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A question by which pages differ (``audience``), and the values that answer it, casefolded."""

    name: str
    description: str
    matches: tuple[str, ...]
    required: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """``include`` is wanted where the intent's field ``key`` has the value."""

    key: str
    value: str
    include: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """What must stand in an answer, and what must not: names of atoms, or words."""

    must_include: tuple[str, ...] = ()
    must_avoid: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractField:
    """A field that the contracts of the domain's pages may have, and what its value must be."""

    type: str
    values: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Validator:
    """One check of a text: a built-in one by its name, or a pattern that must or must not be found."""

    name: str
    severity: Severity
    description: str = ""
    pattern: Any = None
    """A compiled pattern of RE2, whose time is linear in the text; None for a built-in validator."""
    require: bool = False


@dataclass(frozen=True, slots=True)
class TaskType:
    """A kind of task, the words that tell of it, and the kinds of page that serve it."""

    name: str
    match: tuple[str, ...]
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IntentField:
    """A field that the domain adds to an intent: each value with the words that mean it."""

    values: Mapping[str, tuple[str, ...]]
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """A domain as used: every name and word in it casefolded where it is compared."""

    name: str
    version: str = "1.0.0"
    description: str = ""
    tags: tuple[str, ...] = ()
    axes: tuple[Axis, ...] = ()
    contract: Contract = Contract()
    contract_fields: Mapping[str, ContractField] = field(default_factory=dict)
    validators: tuple[Validator, ...] = ()
    synonyms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kind_boosts: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=lambda: SIGNALS)
    task_types: tuple[TaskType, ...] = ()
    intent_fields: Mapping[str, IntentField] = field(default_factory=dict)

    def axis(self, name: str) -> Axis | None:
        """The axis of this name."""
        return next((axis for axis in self.axes if axis.name == name), None)


def builtin_validators(
    severities: Mapping[str, Severity] = BUILTIN_VALIDATORS,
) -> tuple[Validator, ...]:
    """The validators that come with Synapse, with these severities where given."""
    return tuple(Validator(name, severities.get(name, own)) for name, own in BUILTIN_VALIDATORS.items())


BUILTIN: Final = Domain(
    name=WIKI,
    description="Pages of a wiki: entities, concepts, sources, syntheses and comparisons.",
    validators=builtin_validators(),
)


@dataclass(frozen=True, slots=True)
class DomainFault:
    """What is wrong with a domain file: its name, where in it (``axes.0.name``; empty: the whole), and what to do."""

    file: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}{', ' + self.place if self.place else ''}: {self.message}"


def domains() -> dict[str, Domain]:
    """All domains by name, the built-in one first.

    Raises ``dependency_missing`` with the first faults where a file can't be used, ``storage_error`` where none can be
    read.
    """
    found, faults = read_domains(domain_files(current_vault()))
    if faults:
        raise SynapseError(
            ErrorCode.DEPENDENCY_MISSING,
            f"A domain file can't be used: {faults[0]} `manage.py check` lists all that is wrong.",
            faults=[str(fault) for fault in faults[:5]],
        )
    return found


def domain_named(name: str | None) -> Domain:
    """The domain of this name; ``wiki`` for None. Raises ``unknown_domain`` with the names there are."""
    known = domains()
    if name is None:
        return known[WIKI]
    domain = known.get(name.strip().casefold())
    if domain is None:
        raise SynapseError(
            ErrorCode.UNKNOWN_DOMAIN,
            f"There is no such domain. These exist: {', '.join(known)}.",
            domains=list(known),
        )
    return domain


def domain_of_tags(tags: Iterable[str], known: Mapping[str, Domain]) -> Domain:
    """The domain that has most of a page's tags, the first by name of equals; the built-in one where none has any."""
    keys = {tag.casefold() for tag in tags}
    hits = {name: len(keys & set(domain.tags)) for name, domain in known.items()}
    best = max(hits.values(), default=0)
    return known[min(name for name in hits if hits[name] == best)] if best else known[WIKI]


def read_domains(files: list[DomainFile]) -> tuple[dict[str, Domain], list[DomainFault]]:
    """The domains of these files beside the built-in one, and what is wrong with any file."""
    found = {WIKI: BUILTIN}
    faults: list[DomainFault] = []
    for file in files:
        domain, wrong = (
            (None, (DomainFault(file.name, "", file.reason),)) if file.reason else _read(file.name, file.text)
        )
        faults += wrong
        if domain is None:
            continue
        if domain.name in found:
            whose = "the built-in domain" if domain.name == WIKI else "another file"
            faults.append(DomainFault(file.name, "name", f"{domain.name} is the name of {whose}. Take another."))
        else:
            found[domain.name] = domain
    return found, faults


@lru_cache(maxsize=128)
def _read(name: str, text: str) -> tuple[Domain | None, tuple[DomainFault, ...]]:
    from wiki.prime.domain_schema import read_domain  # who has no domain file does not pay for its reader

    return read_domain(name, text)
