"""Domains: what parts of a wiki are about, as its owner says."""

from wiki.prime.domains.domain import (
    BUILTIN,
    BUILTIN_VALIDATORS,
    SIGNALS,
    WIKI,
    Axis,
    Condition,
    Domain,
    DomainFault,
    Severity,
    TaskType,
    Validator,
)
from wiki.prime.domains.known import domain_named, domain_of_tags, domains, read_domains

__all__ = [
    "BUILTIN",
    "BUILTIN_VALIDATORS",
    "SIGNALS",
    "WIKI",
    "Axis",
    "Condition",
    "Domain",
    "DomainFault",
    "Severity",
    "TaskType",
    "Validator",
    "domain_named",
    "domain_of_tags",
    "domains",
    "read_domains",
]
