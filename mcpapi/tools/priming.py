"""Tools of prime: pages within a budget, and texts and sources checked by rules.

What they call is loaded by the first call of one: it holds arrays that no start should wait for.
"""

from __future__ import annotations

from typing import Any

from mcpapi.callers import Caller


def prime_query(
    caller: Caller,
    *,
    scope: str | None,
    tags: list[str] | None,
    level: str,
    budget_tokens: int,
    kinds: list[str] | None,
    exclude_ids: list[str] | None,
    include_text: bool,
) -> dict[str, Any]:
    """The best pages that fit the budget."""
    from wiki.prime.asking.query import query

    return query(
        scope=scope,
        tags=tags or (),
        level=level,
        budget_tokens=budget_tokens,
        kinds=kinds,
        exclude_ids=exclude_ids or (),
        include_text=include_text,
    )


def prime_resolve(
    caller: Caller, *, brief: str, max_tokens: int, domain: str | None, include_text: bool
) -> dict[str, Any]:
    """The context for a brief."""
    from wiki.prime.asking.resolve import resolve

    return resolve(brief=brief, max_tokens=max_tokens, domain=domain, include_text=include_text)


def prime_intent(caller: Caller, *, brief: str, domain: str | None) -> dict[str, Any]:
    """What a brief asks for."""
    from wiki.prime.asking.intent import intent

    return intent(brief=brief, domain=domain)


def prime_validate(
    caller: Caller, *, artifact: str, atom_set: list[str], validators: list[str] | None
) -> dict[str, Any]:
    """The verdict on a text."""
    from wiki.prime.checking.validate import validate

    return validate(artifact=artifact, atom_set=atom_set, validators=validators)


def prime_compile(caller: Caller, *, source: str, deep: bool) -> dict[str, Any]:
    """The atom that a source makes."""
    from wiki.prime.checking.compile import compile_source

    return compile_source(source=source, deep=deep)
