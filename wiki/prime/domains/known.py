"""The domains there are: the built-in one, and those of the vault's owner.

A domain is a file ``.synapse/domains/<any name>.yaml`` (docs/prime.md lists its keys). A file that can't be used is an
error of `manage.py check` and of every answer that needs the domains; it is never skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from vault.current import current_vault
from vault.domain_files import DomainFile, domain_files
from vault.errors import ErrorCode, SynapseError
from wiki.prime.domains.domain import BUILTIN, WIKI, Domain, DomainFault


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
    from wiki.prime.domains.form import read_domain  # who has no domain file does not pay for its reader

    return read_domain(name, text)
