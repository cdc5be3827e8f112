"""The form of a domain file, and how it is read: every mistake is named with its place, nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

import re2
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from vault.frontmatter import load
from wiki.prime.domains.domain import (
    BUILTIN_VALIDATORS,
    SIGNALS,
    Axis,
    Condition,
    Contract,
    ContractField,
    Domain,
    DomainFault,
    IntentField,
    Severity,
    TaskType,
    Validator,
    builtin_validators,
)

MAX_TAGS: Final = 200
MAX_PATTERN: Final = 1_000
_BUILTIN: Final = "builtin:"
_CHECKER: Final = re.compile(r"regex:/(?P<pattern>.+)/(?P<flags>[a-z]*)", re.DOTALL)
_SAID: Final = {
    "extra_forbidden": "There is no such key here. Remove it, or correct its name.",
    "missing": "This key is missing. Add it.",
    "string_pattern_mismatch": "Write a name in small letters and digits with hyphens between, a version as 1.0.0.",
}
#: What a page may be: its five types, and `page` for none of them.
_KINDS: Final = ("entity", "concept", "source", "synthesis", "comparison", "page")
#: Names that a scope has for itself, and those of the fields of every intent.
_SCOPES: Final = ("type", "tag", "path", "source", "lang", "domain", "page", "focus")
_FIELDS: Final = frozenset(
    {"domain", "task_type", "terms", "tags", "pages", "kinds", "axes", "must", "avoid", "lang"}
    | {"required_axes", "ambiguity_flags", "confidence"}
)
#: What a condition may ask for, beside the domain's axes and fields.
_ASKED: Final = ("task_type", "lang", "tag", "tags", "kind", "kinds", "term", "terms")
_CONDITION: Final = re.compile(r"\s*([\w-]+)\s*:\s*(\S.*?)\s*")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Key = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*$", max_length=64)]
Word = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Short = Annotated[str, StringConstraints(max_length=512)]
Words = Annotated[list[Word], Field(max_length=500)]
Factor = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False, strict=False)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Axis(_Form):
    name: Key
    description: Short = ""
    matches: Annotated[list[Word], Field(min_length=1, max_length=500)]
    required: bool = False


class _Condition(_Form):
    when: Word
    include: Words


class _ContractField(_Form):
    type: Literal["atom-id-array", "string-array", "enum", "enum-array", "string", "boolean"]
    values: Words = []
    description: Short = ""


class _Validator(_Form):
    name: Name
    description: Short = ""
    checker: Annotated[str, StringConstraints(max_length=MAX_PATTERN)]
    severity: Literal["warning", "error"] | None = None
    mode: Literal["require", "forbid"] = "forbid"


class _TaskType(_Form):
    name: Key
    match: Annotated[list[Word], Field(min_length=1, max_length=500)]
    kinds: Words = []


class _IntentField(_Form):
    values: dict[Key, Words]
    required: bool = False


class _Intent(_Form):
    task_types: Annotated[list[_TaskType], Field(max_length=50)] = []
    fields: dict[Key, _IntentField] = {}


class _Domain(_Form):
    name: Name
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$", max_length=32)]
    description: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    tags: Annotated[list[Annotated[Word, StringConstraints(max_length=64)]], Field(max_length=MAX_TAGS)] = []
    axes: Annotated[list[_Axis], Field(max_length=50)] = []
    contract: dict[str, Any] = {}
    validators: Annotated[list[_Validator], Field(max_length=100)] = []
    synonyms: dict[Word, Words] = {}
    kind_boosts: dict[Key, Factor] = {}
    weights: dict[Key, Factor] = {}
    intent: _Intent = _Intent()


class _Lists(_Form):
    """The part of ``contract`` that holds by itself; other keys there define fields of the pages' contracts."""

    must_include: Words = []
    must_avoid: Words = []
    conditionally_required: list[_Condition] = []


class _Reader:
    """One file on its way to a Domain. Mistakes are collected, so that one look shows all of them."""

    def __init__(self, file: str) -> None:
        self.faults: list[DomainFault] = []
        self._file = file

    def wrong(self, place: str, message: str) -> None:
        self.faults.append(DomainFault(self._file, place, message))

    def take(self, form: type[_Form], data: Any, place: str = "") -> Any:
        """The data in this form; None and faults where it has another."""
        try:
            return form.model_validate(data)
        except ValidationError as error:
            for fault in error.errors(include_url=False, include_context=False, include_input=False):
                where = ".".join(map(str, fault["loc"]))
                message = _SAID.get(fault["type"]) or f"{fault['msg']}."
                self.wrong(f"{place}.{where}" if place and where else place or where, message)
            return None


def read_domain(file: str, text: str) -> tuple[Domain | None, tuple[DomainFault, ...]]:
    """The domain in the text of a file, or what is wrong with it."""
    reader = _Reader(file)
    loaded = load(text, above=0)
    if loaded.flags:
        reader.wrong("", "; ".join(flag.reason for flag in loaded.flags))
        return None, tuple(reader.faults)
    form = reader.take(_Domain, loaded.data)
    if form is None:
        return None, tuple(reader.faults)
    domain = Domain(
        name=form.name,
        version=form.version,
        description=form.description,
        tags=_folded(form.tags),
        axes=tuple(Axis(axis.name, axis.description, _folded(axis.matches), axis.required) for axis in form.axes),
        contract=_contract(reader, form.contract),
        contract_fields=_contract_fields(reader, form.contract),
        validators=_validators(reader, form.validators),
        synonyms={tag.casefold(): _folded(words) for tag, words in form.synonyms.items()},
        kind_boosts=form.kind_boosts,
        weights=_weights(reader, form.weights),
        task_types=tuple(
            TaskType(task.name, _folded(task.match), tuple(task.kinds)) for task in form.intent.task_types
        ),
        intent_fields={
            name: IntentField({value: _folded(words) for value, words in given.values.items()}, given.required)
            for name, given in form.intent.fields.items()
        },
    )
    _no_effect(reader, form, domain)
    for place, names in (
        ("axes", [axis.name for axis in form.axes]),
        ("intent.task_types", [t.name for t in domain.task_types]),
    ):
        for name in sorted({name for name in names if names.count(name) > 1}):
            reader.wrong(place, f"{name} is there twice. Keep one of them.")
    return (None if reader.faults else domain), tuple(reader.faults)


def _folded(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(" ".join(word.casefold().split()) for word in words))


def _no_effect(reader: _Reader, form: _Domain, domain: Domain) -> None:
    """What can be read and would change nothing, or something else: its owner would wait for it in vain."""
    for at, axis in enumerate(domain.axes):
        if axis.name in _SCOPES:
            reader.wrong(f"axes.{at}.name", f"A scope has another meaning for {axis.name}. Call the axis otherwise.")
    for name in domain.intent_fields:
        if name in _FIELDS:
            reader.wrong(f"intent.fields.{name}", f"Every intent has {name} already. Call the field otherwise.")
    kinds = [("kind_boosts", kind) for kind in domain.kind_boosts]
    kinds += [(f"intent.task_types.{at}.kinds", kind) for at, one in enumerate(domain.task_types) for kind in one.kinds]
    for place, kind in kinds:
        if kind not in _KINDS:
            reader.wrong(place, f"There is no kind {kind}. A kind is one of: {', '.join(_KINDS)}.")
    for at, one in enumerate(form.validators):
        if one.checker.startswith(_BUILTIN) and one.mode != "forbid":
            reader.wrong(f"validators.{at}.mode", "A built-in validator has no mode. Leave it out.")
    _conditions(reader, domain)
    for name in sorted(set(domain.contract.must_include) & set(domain.contract.must_avoid)):
        reader.wrong("contract", f"It wants {name} and forbids it. Keep one of the two.")


def _conditions(reader: _Reader, domain: Domain) -> None:
    """Conditions that can never hold."""
    values = {axis.name: axis.matches for axis in domain.axes}
    values |= {name: tuple(given.values) for name, given in domain.intent_fields.items()}
    for at, condition in enumerate(domain.contract.conditions):
        place = f"contract.conditionally_required.{at}.when"
        if condition.key not in values and condition.key not in _ASKED:
            known = ", ".join((*_ASKED, *values))
            reader.wrong(place, f"No intent has {condition.key}. Ask for one of: {known}.")
        elif condition.key in values and condition.value not in values[condition.key]:
            reader.wrong(place, f"{condition.key} is never {condition.value}, but: {', '.join(values[condition.key])}.")


def _is_field(value: Any) -> bool:
    return isinstance(value, dict) and "type" in value


def _contract(reader: _Reader, given: dict[str, Any]) -> Contract:
    lists = {name.replace("-", "_"): value for name, value in given.items() if not _is_field(value)}
    form = reader.take(_Lists, lists, "contract")
    if form is None:
        return Contract()
    conditions = []
    for at, one in enumerate(form.conditionally_required):
        when = _CONDITION.fullmatch(one.when)
        if when is None:
            reader.wrong(
                f"contract.conditionally_required.{at}.when", "Write it as key: value, as in task_type:author."
            )
        else:
            conditions.append(Condition(when[1], when[2].casefold(), tuple(one.include)))
    return Contract(tuple(form.must_include), tuple(form.must_avoid), tuple(conditions))


def _contract_fields(reader: _Reader, given: dict[str, Any]) -> dict[str, ContractField]:
    found = {}
    for name, value in given.items():
        if _is_field(value) and (form := reader.take(_ContractField, value, f"contract.{name}")) is not None:
            if form.type.startswith("enum") and not form.values:
                reader.wrong(f"contract.{name}.values", "An enum needs its values.")
            found[name] = ContractField(form.type, tuple(form.values), form.description)
    return found


def _weights(reader: _Reader, given: dict[str, float]) -> dict[str, float]:
    for name in given:
        if name not in SIGNALS:
            reader.wrong(f"weights.{name}", f"There is no such signal. These are weighed: {', '.join(SIGNALS)}.")
    weights = {**SIGNALS, **given}
    if not any(weights.values()):
        reader.wrong("weights", "At least one signal must weigh more than 0.")
    return weights


def _validators(reader: _Reader, given: list[_Validator]) -> tuple[Validator, ...]:
    """The built-in ones, with the severities that the file gives them, then the file's own."""
    severities: dict[str, Severity] = {}
    own: dict[str, Validator] = {}
    for at, one in enumerate(given):
        place = f"validators.{at}"
        if one.name in severities or one.name in own:
            reader.wrong(place, f"{one.name} is there twice. Keep one of them.")
        elif one.checker.startswith(_BUILTIN):
            _take_builtin(reader, place, one, severities)
        elif one.name in BUILTIN_VALIDATORS:
            reader.wrong(place, f"{one.name} is a built-in validator. Name yours otherwise.")
        elif (pattern := _pattern(reader, f"{place}.checker", one.checker)) is not None:
            if one.mode == "forbid" and pattern.search(""):
                reader.wrong(
                    f"{place}.checker", "The pattern finds even nothing, everywhere. Say what must not be there."
                )
            severity = Severity(one.severity or Severity.WARNING)
            own[one.name] = Validator(one.name, severity, one.description, pattern, one.mode == "require")
    return (*builtin_validators(severities), *own.values())


def _take_builtin(reader: _Reader, place: str, one: _Validator, severities: dict[str, Severity]) -> None:
    name = one.checker.removeprefix(_BUILTIN)
    if name not in BUILTIN_VALIDATORS:
        reader.wrong(f"{place}.checker", f"There is no such validator. Built in are: {', '.join(BUILTIN_VALIDATORS)}.")
    elif name != one.name:
        reader.wrong(f"{place}.name", f"A built-in validator keeps its name, {name}.")
    else:
        severities[name] = Severity(one.severity) if one.severity else BUILTIN_VALIDATORS[name]


def _pattern(reader: _Reader, place: str, checker: str) -> Any:
    """The compiled pattern of ``regex:/…/flags``. RE2, because a pattern of its kind can't take for ever."""
    found = _CHECKER.fullmatch(checker)
    if found is None:
        reader.wrong(place, "Write builtin:<name>, or a pattern as regex:/…/ with i, m or s behind it.")
        return None
    if unknown := set(found["flags"]) - set("imsu"):
        reader.wrong(place, f"The flags of a pattern are i, m and s, not {', '.join(sorted(unknown))}.")
        return None
    flags = "".join(sorted(set(found["flags"]) & set("ims")))
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile((f"(?{flags})" if flags else "") + found["pattern"], options)
    except re2.error:
        reader.wrong(place, "The pattern can't be read. It is of the kind of RE2: no look-around, no back-references.")
        return None
    return pattern
