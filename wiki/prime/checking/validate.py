"""prime_validate: a text held against the atoms it was made from, by rules that run, each and all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.conf import settings

from vault.errors import ErrorCode, SynapseError
from wiki import deadlines
from wiki.prime.asking.contracts import demands_of_set
from wiki.prime.atoms.levels import Level
from wiki.prime.atoms.reading import Atom, atoms, level_texts
from wiki.prime.checking.evidence import Evidence, shown
from wiki.prime.checking.validators import CHECKS, Find
from wiki.prime.domains import WIKI, Domain, Severity, Validator, domains
from wiki.storable import storable

MAX_FINDS: Final = 20
"""Of one validator; how many more there are is told."""


def validate(*, artifact: str, atom_set: Sequence[str], validators: Sequence[str] | None = None) -> dict[str, Any]:
    """The verdict on a text: ``ok`` when no fix is an error, and the fixes, errors first, each in the text's order.

    ``validators`` are names of those to run; by default all of the set's domain. Raises ``unknown_validator`` with
    those there are, ``payload_too_large`` for a text that no page could hold, ``tool_timeout`` once a time limit has
    passed, and what :func:`domains` raises.
    """
    limit: int = settings.SYNAPSE_MAX_PAGE_BYTES
    if len(artifact.encode("utf-8", "surrogatepass")) > limit:
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The artifact is larger than {limit} bytes. Validate it in parts.",
            limit_bytes=limit,
        )
    index = atoms()
    meant = list(dict.fromkeys(one[0] for name in atom_set if len(one := index.named(name)) == 1))
    domain = domain_of_set(meant, domains())
    running = _chosen(domain, validators)
    evidence = Evidence(
        artifact=storable(artifact),  # of the same length, so that places hold
        given=atom_set,
        atoms=meant,
        texts=level_texts([atom.pk for atom in meant], Level.FULL),
        summaries=level_texts([atom.pk for atom in meant], Level.SUMMARY),
        index=index,
        domain=domain,
        demands=demands_of_set(meant, domain, index),
    )
    fixes = sorted(
        (
            (Severity.WARNING if find.mild else validator.severity, order, find.position, at, validator, find)
            for order, validator in enumerate(running)
            for at, find in enumerate(_finds(validator, evidence))
        ),
        key=lambda row: (row[0] != Severity.ERROR, *row[1:4]),
    )
    return {
        "ok": not any(row[0] == Severity.ERROR for row in fixes),
        "fixes": [_fix(row[4], row[0], row[5]) for row in fixes],
    }


def domain_of_set(found: Sequence[Atom], known: Mapping[str, Domain]) -> Domain:
    """The domain whose tags most of the atoms have, the first by name of equals; else the built-in one."""
    hits = {name: sum(bool(atom.tag_keys & set(domain.tags)) for atom in found) for name, domain in known.items()}
    best = max(hits.values(), default=0)
    return known[min(name for name in hits if hits[name] == best)] if best else known[WIKI]


def _chosen(domain: Domain, names: Sequence[str] | None) -> list[Validator]:
    known = {validator.name: validator for validator in domain.validators}
    if names is None:
        return list(known.values())
    for name in names:
        if name not in known:
            raise SynapseError(
                ErrorCode.UNKNOWN_VALIDATOR,
                f"There is no validator {shown(name, 40)}. These exist: {', '.join(known)}.",
                validators=list(known),
            )
    return [validator for name, validator in known.items() if name in names]


def _finds(validator: Validator, evidence: Evidence) -> Iterator[Find]:
    deadlines.check()  # a long text has much to be looked at, and whoever asked may wait no more
    finds = CHECKS[validator.name](evidence) if validator.pattern is None else _by_pattern(validator, evidence)
    more = 0
    for number, find in enumerate(finds):
        if number % 1_000 == 0:
            deadlines.check()
        if number < MAX_FINDS:
            yield find
        else:
            more += 1
    if more:
        yield Find(len(evidence.artifact), f"{more} more of the same kind.", "Mend those above and validate again.")


def _by_pattern(validator: Validator, evidence: Evidence) -> Iterator[Find]:
    about = validator.description or f"rule {validator.name}"
    if validator.require:
        if not validator.pattern.search(evidence.artifact):
            yield Find(0, f"The text lacks what is required: {about}.")
        return
    for found in validator.pattern.finditer(evidence.artifact):
        yield Find(
            found.start(), f"“{shown(found.group())}” is not allowed: {about}.", "Remove it, or say it otherwise."
        )


def _fix(validator: Validator, severity: Severity, find: Find) -> dict[str, str]:
    fix = {"validator": validator.name, "severity": str(severity), "message": find.message}
    return fix | ({"suggestion": find.suggestion} if find.suggestion else {})
