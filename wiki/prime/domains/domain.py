"""What a wiki is about, and what its texts must hold to: the parts of a domain, and the one that is built in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

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
