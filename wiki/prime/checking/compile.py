"""prime_compile: one source to an atom, its relations and its three levels, without writing anything."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from vault.errors import ErrorCode, SynapseError
from vault.links import resolve
from wiki.candidates import Candidates
from wiki.prime.atoms.index import Atom, AtomIndex
from wiki.prime.atoms.levels import TOKENS, Level, levels_of
from wiki.prime.atoms.loading import atoms
from wiki.prime.atoms.quality import failed_checks, quality_of
from wiki.prime.atoms.reading import relations
from wiki.prime.atoms.relations import DERIVED, RELATED, relations_of
from wiki.prime.checking.diagnostics import ERROR, Target, diagnostics
from wiki.prime.checking.draft import Draft, links_of, read_draft
from wiki.prime.domains import domain_of_tags, domains


def compile_source(*, source: str, deep: bool = False) -> dict[str, Any]:
    """The atom that a source makes, or what keeps it from being one: ``compiled`` is null on any error.

    A source is a wiki page or the brace form. One whose bytes are those of a live page compiles as that page. Raises
    ``invalid_param_value`` for a blank source, ``payload_too_large`` for one that no page could be.
    """
    limit: int = settings.SYNAPSE_MAX_PAGE_BYTES
    if not source.strip():
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "The source is blank. Send a page or an atom.", parameter="source"
        )
    if len(source.encode("utf-8", "surrogatepass")) > limit:
        raise SynapseError(
            ErrorCode.PAYLOAD_TOO_LARGE,
            f"The source is larger than {limit} bytes. Make several pages of it.",
            limit_bytes=limit,
        )
    index = atoms()
    draft = read_draft(source, index)
    targets = _targets(draft, index)
    found = diagnostics(draft, index, targets, deep=deep)
    failed = any(one.level == ERROR for one in found)
    return {
        "ok": not failed,
        "diagnostics": [one.as_dict(draft) for one in found],
        "compiled": None if failed else _compiled(draft, targets),
    }


def _targets(draft: Draft, index: AtomIndex) -> list[Target]:
    """What the draft has to do with others: a live page's relations as the index has them."""
    if draft.live:
        return [
            (one.verb, index.by_pk.get(one.target or 0), one.text) for one in relations([draft.live.pk])[draft.live.pk]
        ]
    links = links_of(draft.page)
    written = relations_of(draft.page)
    candidates = Candidates()
    candidates.load([*links, *(one.text for one in written)])
    by_path = {atom.path: atom for atom in index}

    def meant(text: str) -> Atom | None:
        named = index.named(text)
        if len(named) == 1:
            return named[0]
        path = resolve(text, source=draft.path, targets=candidates.targets).path
        return by_path.get(path or "")

    found: list[Target] = [(one.verb, meant(one.text), one.text) for one in written]
    told = {text for _, _, text in found}
    found += [(RELATED, meant(text), text) for text in links if text not in told]
    pages = ((source, index.named(source)) for source in draft.page.sources)
    found += [(DERIVED, named[0], text) for text, named in pages if len(named) == 1]
    return found


def _compiled(draft: Draft, targets: list[Target]) -> dict[str, Any]:
    levels = levels_of(draft.page)
    rows = [{"type": verb, "target": atom.id} for verb, atom, _ in targets if atom]
    return {
        "atom_yaml": _atom(draft, levels, rows),
        "graph_yaml": {
            "atom": draft.id,
            "relations": rows,
            "dangling": [{"type": verb, "text": text} for verb, atom, text in targets if atom is None],
        },
        "chunks": {str(level): levels.text(level) for level in Level},
    }


def _atom(draft: Draft, levels: Any, rows: list[dict[str, str]]) -> dict[str, Any]:
    page, facts = draft.page, draft.facts
    failed = failed_checks(page)
    atom = {
        "id": draft.id,
        "kind": draft.kind,
        "version": facts.version,
        "title": page.title,
        "description": levels.description,
        "domain": domain_of_tags(page.tags, domains()).name,
        "tags": list(page.tags),
        "lang": page.lang,
        "page": draft.path,
        "content_hash": f"sha256:{draft.content_hash}",
        "tokens": {**{str(level): levels.tokens(level) for level in Level}, "counted": TOKENS},
        "quality": {"overall": quality_of(failed), "failed": failed},
        "relations": rows,
        "sources": list(page.sources),
        "lifecycle": facts.lifecycle,
        "created_at": facts.created,
        "updated_at": facts.updated,
    }
    return atom | ({"prime_kind": draft.source.kind} if draft.source else {})
