"""What a difference between two contracts means to those who call: breaking, or an addition.

A breaking change is one after which a call that worked is refused or means something else, or after which an answer
no longer fits what was promised. So an input may be taken more widely and an output be promised more narrowly, and not
the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final


class Kind(StrEnum):
    """What a change means to callers."""

    BREAKING = "breaking"
    ADDITIVE = "additive"


class Side(StrEnum):
    """Whether callers send what a schema describes, or receive it."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: what it means, where in the contract it is (keys with dots between), and what it is."""

    kind: Kind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.where}: {self.what}"


#: Words for people, which no program goes by.
_WORDS: Final = frozenset({"title", "description"})
#: Bounds: a larger value of these allows less, or more.
_LOWER: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})
#: Keywords that allow less by being there.
_NARROWING: Final = frozenset({"const", "pattern", "format", "enum", "uniqueItems", "multipleOf"})
#: Hints of the protocol, and the value that promises more.
_HINTS: Final = {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False, "openWorldHint": False}
_SCOPES: Final = ("read", "propose", "write")


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """All differences between two contracts, breaking ones first."""
    found = [
        *_tools("tools", old["tools"], new["tools"]),
        *_variants(old["variants"], new["variants"]),
        *_profiles(old["profiles"], new["profiles"]),
        *_aliases(old["aliases"], new["aliases"]),
        *_entries("removed", old["removed"], new["removed"], changed=Kind.ADDITIVE),
        *_entries("error_statuses", old["error_statuses"], new["error_statuses"], changed=Kind.BREAKING),
        *schema_changes("error_envelope", old["error_envelope"], new["error_envelope"], Side.OUTPUT),
        *(
            Change(Kind.BREAKING, key, f"{old.get(key)} is {new.get(key)} now")
            for key in ("contract", "server")
            if old.get(key) != new.get(key)
        ),
    ]
    return sorted(found, key=lambda change: (change.kind is not Kind.BREAKING, change.where, change.what))


def schema_changes(where: str, old: Any, new: Any, side: Side) -> Iterator[Change]:
    """The differences between two JSON schemas that callers send (INPUT) or receive (OUTPUT)."""
    if old == new:
        return
    if not isinstance(old, dict) or not isinstance(new, dict):
        yield Change(Kind.BREAKING, where, f"{old} is {new} now")
        return
    yield from _properties(where, old, new, side)
    yield from _required(where, old, new, side)
    for keyword in sorted((old.keys() | new.keys()) - {"properties", "required"}):
        before, after = old.get(keyword), new.get(keyword)
        # null is a value of a keyword, too
        if before != after or (keyword in old) is not (keyword in new):
            yield from _keyword(f"{where}.{keyword}", keyword, (before, after), (keyword in old, keyword in new), side)


def _narrower(side: Side) -> Kind:
    return Kind.BREAKING if side is Side.INPUT else Kind.ADDITIVE


def _wider(side: Side) -> Kind:
    return Kind.ADDITIVE if side is Side.INPUT else Kind.BREAKING


def _properties(where: str, old: dict[str, Any], new: dict[str, Any], side: Side) -> Iterator[Change]:
    before, after = old.get("properties", {}), new.get("properties", {})
    for name in sorted(before.keys() - after.keys()):
        yield Change(Kind.BREAKING, f"{where}.{name}", "removed")
    closed = old.get("additionalProperties") is False
    for name in sorted(after.keys() - before.keys()):
        # Of an open object it was allowed before, whatever it held.
        yield Change(_wider(side) if closed else _narrower(side), f"{where}.{name}", "added")
    for name in sorted(before.keys() & after.keys()):
        yield from schema_changes(f"{where}.{name}", before[name], after[name], side)


def _required(where: str, old: dict[str, Any], new: dict[str, Any], side: Side) -> Iterator[Change]:
    before, after = set(old.get("required", ())), set(new.get("required", ()))
    for name in sorted(after - before):
        yield Change(_narrower(side), f"{where}.{name}", "required now")
    for name in sorted(before - after):
        yield Change(_wider(side), f"{where}.{name}", "not required any more")


def _keyword(
    where: str, keyword: str, values: tuple[Any, Any], there: tuple[bool, bool], side: Side
) -> Iterator[Change]:
    before, after = values
    said = f"{before} is {after} now" if all(there) else "added" if there[1] else "removed"
    if keyword in _WORDS:
        yield Change(Kind.ADDITIVE, where, "worded anew")
    elif keyword == "default":
        # A caller who leaves the argument out gets something else.
        yield Change(Kind.BREAKING if there[0] else Kind.ADDITIVE, where, said)
    elif keyword in ("type", "enum") and all(there):
        yield from _sets(where, before, after, side)
    elif keyword in _LOWER | _UPPER and all(there):
        narrower = (after > before) is (keyword in _LOWER)
        yield Change(_narrower(side) if narrower else _wider(side), where, said)
    elif keyword in _LOWER | _UPPER | _NARROWING | {"type"} and not all(there):
        yield Change(_narrower(side) if there[1] else _wider(side), where, said)
    elif keyword == "additionalProperties" and not (isinstance(before, dict) or isinstance(after, dict)):
        closed = after is False
        yield Change(_narrower(side) if closed else _wider(side), where, "closed" if closed else "open now")
    elif keyword in ("items", "additionalProperties") and all(there):
        yield from schema_changes(where, before, after, side)
    elif keyword in ("oneOf", "anyOf", "allOf") and all(there) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from schema_changes(f"{where}.{number}", one, other, side)
    else:
        yield Change(Kind.BREAKING, where, said)  # nobody has thought about what it means


def _sets(where: str, old: Any, new: Any, side: Side) -> Iterator[Change]:
    before, after = ([value] if isinstance(value, str) else value for value in (old, new))
    for value in (value for value in before if value not in after):
        yield Change(_narrower(side), where, f"{value} removed")
    for value in (value for value in after if value not in before):
        yield Change(_wider(side), where, f"{value} added")


def _tools(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"{where}.{name}", "removed")
    for name in sorted(new.keys() - old.keys()):
        yield Change(Kind.ADDITIVE, f"{where}.{name}", "added")
    for name in sorted(old.keys() & new.keys()):
        yield from _tool(f"{where}.{name}", old[name], new[name])


def _tool(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    yield from schema_changes(f"{where}.input", old["inputSchema"], new["inputSchema"], Side.INPUT)
    yield from schema_changes(f"{where}.output", old["outputSchema"], new["outputSchema"], Side.OUTPUT)
    for name in sorted(old["annotations"].keys() | new["annotations"].keys()):
        before, after = old["annotations"].get(name), new["annotations"].get(name)
        if before != after:
            promises_more = name in _HINTS and after is _HINTS[name]
            yield Change(
                Kind.ADDITIVE if promises_more else Kind.BREAKING, f"{where}.{name}", f"{before} is {after} now"
            )
    if old["scope"] != new["scope"]:
        more = _SCOPES.index(new["scope"]) > _SCOPES.index(old["scope"])
        said = f"{old['scope']} is {new['scope']} now"
        yield Change(Kind.BREAKING if more else Kind.ADDITIVE, f"{where}.scope", said)
    if old["hidden"] != new["hidden"]:
        yield Change(
            Kind.BREAKING if new["hidden"] else Kind.ADDITIVE, where, "hidden" if new["hidden"] else "listed now"
        )
    for name in sorted((old.keys() | new.keys()) - {"inputSchema", "outputSchema", "annotations", "scope", "hidden"}):
        if old.get(name) != new.get(name):
            yield Change(Kind.ADDITIVE if name in _WORDS else Kind.BREAKING, f"{where}.{name}", "worded anew")


def _variants(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for profile in sorted(old.keys() | new.keys()):
        yield from _tools(f"variants.{profile}", old.get(profile, {}), new.get(profile, {}))


def _profiles(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for profile in sorted(old.keys() | new.keys()):
        for part in ("visible", "hidden"):
            before, after = (set(all_.get(profile, {}).get(part, ())) for all_ in (old, new))
            callable_now = {name for names in new.get(profile, {}).values() for name in names}
            for name in sorted(before - after):
                # A hidden tool that is listed now can still be called.
                kept = part == "hidden" and name in callable_now
                yield Change(Kind.ADDITIVE if kept else Kind.BREAKING, f"profiles.{profile}.{part}", f"{name} removed")
            for name in sorted(after - before):
                yield Change(Kind.ADDITIVE, f"profiles.{profile}.{part}", f"{name} added")


def _aliases(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"aliases.{name}", "removed")
    for name in sorted(new.keys() - old.keys()):
        yield Change(Kind.ADDITIVE, f"aliases.{name}", "added")
    for name in sorted(old.keys() & new.keys()):
        for part in sorted(old[name].keys() | new[name].keys()):
            before, after = old[name].get(part), new[name].get(part)
            if before != after:
                kind = Kind.ADDITIVE if part == "use_instead" else Kind.BREAKING
                yield Change(kind, f"aliases.{name}.{part}", f"{before} is {after} now")


def _entries(where: str, old: Mapping[str, Any], new: Mapping[str, Any], *, changed: Kind) -> Iterator[Change]:
    for name in sorted(old.keys() - new.keys()):
        yield Change(Kind.BREAKING, f"{where}.{name}", "removed")
    for name in sorted(new.keys() - old.keys()):
        yield Change(Kind.ADDITIVE, f"{where}.{name}", "added")
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            yield Change(changed, f"{where}.{name}", f"{old[name]} is {new[name]} now")
