"""Where a query looks: ``axis:value``, as the pages it admits, or as words and an axis to rank by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from vault.errors import ErrorCode, SynapseError
from wiki.graph import near_pages
from wiki.prime.asking.bounds import KINDS
from wiki.prime.asking.phrases import normalised, phrase
from wiki.prime.atoms.reading import Atom, AtomIndex
from wiki.prime.domains import WIKI, Axis, Domain

Mask = npt.NDArray[np.bool_]

NEAR: Final = 2
"""How many edges the neighbourhood of a page reaches."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a scope asks for. ``admits`` is None where every page is admitted; ``text`` are words to rank by."""

    admits: Mask | None = None
    text: str = ""
    axis: Axis | None = None
    value: str = ""
    domain: Domain | None = None


def read_scope(scope: str | None, index: AtomIndex, known: Mapping[str, Domain]) -> Scope:
    """The scope as written by the caller; None asks for nothing.

    Raises ``invalid_scope`` with ``valid_axes`` (and ``valid_values``), ``unknown_domain``, and for ``page:`` what
    :meth:`AtomIndex.find` raises.
    """
    if scope is None:
        return Scope()
    axis, colon, value = (part.strip() for part in scope.partition(":"))
    axis = axis.casefold()
    valid = [*_FILTERS, "page", "focus", *_axes(known)]
    if not colon or not value:
        raise _refusal(
            f"A scope is written axis:value, as in tag:history. An axis is one of: {', '.join(valid)}.",
            valid_axes=valid,
        )
    if axis == "focus":
        return Scope(text=value)
    if axis == "page":
        pks = near_pages(index.find(value).pk, depth=NEAR)
        return Scope(admits=np.isin(index.pks, np.fromiter(pks, dtype=np.int64)))
    if axis in _FILTERS:
        return _FILTERS[axis](index, value, known)
    if axis in _axes(known):
        return _on_axis(axis, normalised(value), known)
    raise _refusal(f"There is no such axis. It is one of: {', '.join(valid)}.", valid_axes=valid)


def axis_strength(atom: Atom, value: str, domain: Domain) -> float:
    """How far a page is what an axis asks for: 1 by its tags, one half by its title or description, else 0."""
    words = {value, *domain.synonyms.get(value, ())}
    if words & atom.tag_keys:
        return 1.0
    said = f" {' '.join(phrase(f'{atom.title} {atom.description}'))} "
    return 0.5 if any(f" {' '.join(phrase(word))} " in said for word in words) else 0.0


def kinds_mask(index: AtomIndex, kinds: Iterable[str]) -> Mask:
    """The atoms of these kinds. Raises ``invalid_param_value`` for one that there is not."""
    wanted = set(kinds)
    if unknown := sorted(wanted - set(KINDS)):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"There is no kind {unknown[0][:40]}. A kind is one of: {', '.join(KINDS)}.",
            parameter="kinds",
            allowed=list(KINDS),
        )
    return _mask(index, lambda atom: atom.kind in wanted)


def tag_mask(index: AtomIndex, tag: str) -> Mask:
    """The atoms with a tag, or one nested in it: ``#project`` takes in ``#project/alpha``, as in Obsidian."""
    key = tag.strip().lstrip("#").casefold()
    found = np.zeros(len(index), dtype=bool)
    for name, places in index.tags.items():
        if name == key or name.startswith(key + "/"):
            found[places] = True
    return found


def _mask(index: AtomIndex, admits: Callable[[Atom], bool]) -> Mask:
    return np.fromiter((admits(atom) for atom in index), dtype=bool, count=len(index))


def _by_type(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    kind = value.casefold()
    if kind not in KINDS:
        raise _refusal(f"A type is one of: {', '.join(KINDS)}.", valid_values=list(KINDS))
    return Scope(admits=kinds_mask(index, [kind]))


def _by_tag(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    return Scope(admits=tag_mask(index, value))


def _by_path(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    return Scope(admits=_mask(index, lambda atom: atom.path.startswith(value)))


def _by_source(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    wanted = value.casefold()

    def cites(atom: Atom) -> bool:
        sources = (source.casefold() for source in atom.sources)
        return any(source == wanted or source.endswith("/" + wanted) for source in sources)

    return Scope(admits=_mask(index, cites))


def _by_lang(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    lang = value.casefold()

    def speaks(atom: Atom) -> bool:
        own = atom.lang.casefold()
        return own == lang or own.startswith(lang + "-")

    return Scope(admits=_mask(index, speaks))


def _by_domain(index: AtomIndex, value: str, known: Mapping[str, Domain]) -> Scope:
    domain = known.get(value.casefold())
    if domain is None:
        raise SynapseError(
            ErrorCode.UNKNOWN_DOMAIN, f"There is no such domain. These exist: {', '.join(known)}.", domains=list(known)
        )
    if domain.name == WIKI:
        return Scope(domain=domain)
    admitted = np.zeros(len(index), dtype=bool)
    for tag in domain.tags:
        admitted |= tag_mask(index, tag)
    return Scope(admits=admitted, domain=domain)


_FILTERS: Final[dict[str, Callable[[AtomIndex, str, Mapping[str, Domain]], Scope]]] = {
    "type": _by_type,
    "tag": _by_tag,
    "path": _by_path,
    "source": _by_source,
    "lang": _by_lang,
    "domain": _by_domain,
}


def _axes(known: Mapping[str, Domain]) -> dict[str, list[Domain]]:
    """The axes of the domains, by name, with the domains that have one. Names taken by a filter are the filter's."""
    found: dict[str, list[Domain]] = {}
    for domain in known.values():
        for axis in domain.axes:
            if axis.name not in _FILTERS and axis.name not in ("page", "focus"):
                found.setdefault(axis.name, []).append(domain)
    return found


def _on_axis(name: str, value: str, known: Mapping[str, Domain]) -> Scope:
    """The axis of the first domain that knows the value."""
    values: dict[str, None] = {}
    for domain in _axes(known)[name]:
        axis = domain.axis(name)
        if axis and value in axis.matches:
            return Scope(axis=axis, value=value, domain=domain)
        values.update(dict.fromkeys(axis.matches if axis else ()))
    raise _refusal(f"This is no value of {name}. It is one of: {', '.join(values)}.", valid_values=list(values))


def narrowed(scope: Scope, mask: Mask) -> Scope:
    """The scope with this filter too."""
    return replace(scope, admits=mask if scope.admits is None else scope.admits & mask)


def _refusal(message: str, **repair: list[str]) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_SCOPE, message, **repair)
