"""What a client may offer while a person fills in an argument of a prompt or of a resource's address."""

from __future__ import annotations

import unicodedata
from typing import Final

from mcp.types import CompleteRequestParams, CompleteResult, Completion, PromptReference

from mcpapi import prompts, resources
from mcpapi.prime_schemas import LEVELS
from mcpapi.schemas import ITEM_TYPES
from vault.errors import ErrorCode, SynapseError
from wiki.services import reading, sources

MAX_VALUES: Final = 100
"""As many as the protocol allows."""
_MAX_CHARACTERS: Final = 500
_WORDS: Final = {"item_type": ITEM_TYPES, "level": LEVELS}


def complete(params: CompleteRequestParams) -> CompleteResult:
    """At most 100 values that begin as the argument does, and whether there are more.

    Paths of sources, titles of pages (for the address of a page: the ids of pages whose title begins so, for that
    of a level: the ids of atoms that begin so, or whose title does), levels, kinds of review items; nothing for an
    argument that is anybody's to say. Raises ``not_found`` for a prompt or address that is none,
    ``invalid_param_value`` for an argument it does not have.
    """
    ref, name, begun = params.ref, params.argument.name, params.argument.value
    if isinstance(ref, PromptReference):
        known = {argument.name: argument.name for argument in prompts.named(ref.name).arguments}
    else:
        known = _variables(ref.uri)
    if name not in known:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"There is no such argument. There is: {', '.join(known)}.",
            arguments=list(known),
        )
    return _values(known[name], unicodedata.normalize("NFC", begun))


def _variables(uri: str) -> dict[str, str]:
    """The variables of an address, and what each is."""
    known = {template.uri_template: template.uri_template for template in resources.TEMPLATES.resource_templates}
    if uri not in known:
        raise SynapseError(ErrorCode.NOT_FOUND, f"There is no such template. There is: {', '.join(known)}.")
    if uri.startswith(resources.PRIME):
        return {"id": "atom", "level": "level"}
    return {"id": "id"} if uri.startswith(resources.PAGE) else {"path": "path"}


def _values(name: str, begun: str) -> CompleteResult:
    if len(begun) > _MAX_CHARACTERS:
        return _result([], 0)
    if name == "path":
        found = sources.list_sources(prefix=begun, limit=MAX_VALUES)
        if not found["total"]:
            found = sources.list_sources(prefix=f"raw/sources/{begun}", limit=MAX_VALUES)
        return _result([row["path"] for row in found["result"]], found["total"])
    if name in ("title", "id"):
        pages, total = reading.pages_that_begin(begun, limit=MAX_VALUES)
        return _result([page.title if name == "title" else str(page.uid) for page in pages], total)
    if name == "atom":
        ids = _atoms(begun)
        return _result(ids[:MAX_VALUES], len(ids))
    if name in _WORDS:
        words = [word for word in _WORDS[name] if word.startswith(begun)]
        return _result(words, len(words))
    return _result([], 0)


def _atoms(begun: str) -> list[str]:
    """The ids of atoms that begin so, or whose title does, in their order."""
    from wiki.prime.atoms.reading import atoms  # loaded by the first who asks, as in mcpapi.tools.priming

    title = begun.casefold()
    return [atom.id for atom in atoms() if atom.id.startswith(begun) or atom.title.casefold().startswith(title)]


def _result(values: list[str], total: int) -> CompleteResult:
    return CompleteResult(completion=Completion(values=values, total=total, has_more=total > len(values)))
