"""What is wrong with a source: its form (L1), what it says (L2, if asked for), its place among the others (L3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from vault.links import text_key
from wiki.prime.asking.phrases import phrase
from wiki.prime.atoms.index import Atom, AtomIndex
from wiki.prime.atoms.quality import CHECKS
from wiki.prime.atoms.reading import relations
from wiki.prime.atoms.relations import CONFLICTS, REQUIRES, relations_of
from wiki.prime.checking.draft import KINDS, Draft

Target = tuple[str, Atom | None, str]
"""A relation of a draft: its verb, the atom it leads to or None, and the text it is written with."""

ERROR: Final = "error"
WARNING: Final = "warning"
INFO: Final = "info"

#: Two atoms are nearly the same: so many tags in common of three or more, and so many words of their descriptions.
ALIKE_TAGS: Final = 0.85
ALIKE_WORDS: Final = 0.3
FEWEST_TAGS: Final = 3
MAX_ALIKE: Final = 5
#: Names that lead nowhere of which each is told.
MAX_DANGLING: Final = 100
_ID: Final = re.compile(r"@[a-z0-9][a-z0-9_.-]*/[a-z0-9]+(?:-[a-z0-9]+)+")
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?")
_LINE: Final = re.compile(r"Line (\d{1,9}): ")
_FROM_HEADER: Final = {"body": "", "placeholder": ""}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One remark. ``place`` is the field whose line is told; "" is the whole."""

    level: str
    layer: str
    message: str
    hint: str = ""
    place: str = ""
    line: int = 0

    def as_dict(self, draft: Draft) -> dict[str, Any]:
        """The remark as answered."""
        row: dict[str, Any] = {"level": self.level, "layer": self.layer, "atom": draft.id, "message": self.message}
        if self.hint:
            row["hint"] = self.hint
        row["source"] = {"file": draft.file, "line": self.line or draft.line_of(self.place)}
        return row


def diagnostics(draft: Draft, index: AtomIndex, targets: Sequence[Target], *, deep: bool) -> list[Diagnostic]:
    """All remarks, by layer. ``targets`` are the draft's relations: verb, atom or None, text."""
    found = [*_form(draft), *_contract(draft, index)]
    if deep:
        found += _sense(draft)
    found += _place(draft, index, targets)
    if draft.live:  # what is in the vault is served as it is: its faults stop nothing
        found = [replace(one, level=WARNING) if one.level == ERROR else one for one in found]
    return found


def _form(draft: Draft) -> Iterator[Diagnostic]:
    """L1: what is needed to be an atom at all, and for a page what makes a good one."""
    if draft.source:
        yield from _brace_form(draft)
    for check in CHECKS:
        if check.layer != "L1" or check.passes(draft.page) or (draft.source and check.name in ("title", "type")):
            continue
        if check.name == "frontmatter":
            yield from _flags(draft)
        else:
            place = _FROM_HEADER.get(check.name, check.name)
            yield Diagnostic(WARNING, "L1", check.message, check.hint, place)
    for written in relations_of(draft.page):
        if written.as_written:
            message = f"{written.as_written[:40]} is no known relation; it is read as related."
            yield Diagnostic(
                WARNING, "L1", message, "Use requires, conflicts, supersedes, extends, see-also …", "relations"
            )


def _flags(draft: Draft) -> Iterator[Diagnostic]:
    """What is wrong with a page's file, each with the line that its reason begins with."""
    for flag in draft.page.flags:
        line = _LINE.match(flag["reason"])
        message = flag["reason"][line.end() :] if line else flag["reason"]
        yield Diagnostic(ERROR, "L1", message, "Correct the file here.", line=int(line[1]) if line else 1)


def _brace_form(draft: Draft) -> Iterator[Diagnostic]:
    source = draft.source
    if source is None:
        return
    for fault in source.faults:
        yield Diagnostic(ERROR, "L1", fault.message, fault.hint, line=fault.line)
    if source.kind and source.kind not in KINDS:
        yield Diagnostic(
            ERROR, "L1", f"There is no kind {source.kind[:40]}.", f"A kind is one of: {', '.join(sorted(KINDS))}."
        )
    given = source.value("id")
    if given is None:
        yield Diagnostic(ERROR, "L1", "The atom has no id.", f'Add id: "@scope/{source.kind or "kind"}-name".')
    elif not isinstance(given, str) or not _ID.fullmatch(given):
        yield Diagnostic(
            ERROR, "L1", "The id is not of the form @scope/kind-name.", 'Write it like "@web/rule-contrast".', "id"
        )
    elif source.kind and not given.partition("/")[2].startswith(f"{source.kind}-"):
        yield Diagnostic(
            WARNING, "L1", "The id does not begin with the atom's kind.", f"Call it {source.kind}-….", "id"
        )
    version = source.value("version")
    if version is not None and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        yield Diagnostic(ERROR, "L1", "The version is not of the form 1.0.0.", "Write three numbers.", "version")
    if not isinstance(source.value("description"), str):
        yield Diagnostic(
            ERROR, "L1", "The atom has no description.", 'Add description: "…", a sentence.', "description"
        )


def _contract(draft: Draft, index: AtomIndex) -> Iterator[Diagnostic]:
    """L3: names in the contract that lead nowhere, and what it wants and forbids at once."""
    contract = draft.facts.contract
    wanted, shunned = list(contract.get("must_include", ())), list(contract.get("must_avoid", ()))
    for both in sorted({_key(index, name) for name in wanted} & {_key(index, name) for name in shunned}):
        yield Diagnostic(ERROR, "L3", f"The contract wants {both} and forbids it.", "Keep one of the two.", "contract")
    for condition in contract.get("conditionals", ()):
        wanted += condition["include"]
    for name in dict.fromkeys(wanted):
        # Words may be wanted as well as pages; what is written as the id of an atom is one.
        if name.startswith("@") and not index.named(name):
            close = ", ".join(index.close(name))
            yield Diagnostic(
                ERROR,
                "L3",
                f"must_include names {name[:80]}, and there is no such atom.",
                f"Did you mean {close}?" if close else "Write that page first.",
                "contract",
            )


def _key(index: AtomIndex, name: str) -> str:
    meant = index.named(name)
    return meant[0].id if len(meant) == 1 else text_key(name)


def _sense(draft: Draft) -> Iterator[Diagnostic]:
    """L2: by what can be told without reading for meaning."""
    for check in CHECKS:
        if check.layer == "L2" and not check.passes(draft.page):
            yield Diagnostic(
                WARNING, "L2", check.message, check.hint, _FROM_HEADER.get(check.name, check.name.partition("-")[0])
            )
    if draft.source and draft.facts.version in ("", "0.0.0"):
        yield Diagnostic(INFO, "L2", "The atom has no version yet.", "Give it one when others build on it.", "version")


def _place(draft: Draft, index: AtomIndex, targets: Sequence[Target]) -> Iterator[Diagnostic]:
    """L3: beside the other atoms."""
    for atom in dict.fromkeys([*index.named(draft.id), *index.named(draft.page.title)]):
        if atom is draft.live:
            continue
        if atom.id == draft.id or text_key(atom.title) == text_key(draft.page.title):
            what = "id" if atom.id == draft.id else "title"
            message = f"{atom.id} has this {what} already."
            yield Diagnostic(ERROR, "L3", message, "Change that page, or choose another name.", what)
    yield from _related(draft, index, targets)
    linked = {target.pk for _, target, _ in targets if target}
    for atom in _alike(draft, index, linked):
        hint = "Merge the two, or link them and say how they differ."
        yield Diagnostic(WARNING, "L3", f"{atom.id} is nearly the same.", hint, "description")
    if not linked and not (draft.live and draft.live.degree) and not draft.page.frontmatter.get("root"):
        yield Diagnostic(INFO, "L3", "Nothing links it with other pages.", "Link it, or set root: true.")


def _related(draft: Draft, index: AtomIndex, targets: Sequence[Target]) -> Iterator[Diagnostic]:
    """Relations that lead nowhere, and those that contradict themselves."""
    dangling = [(verb, text) for verb, target, text in targets if target is None]
    lines = draft.lines_of_links() if dangling else {}
    for verb, text in dangling[:MAX_DANGLING]:
        close = ", ".join(index.close(text))
        hint = f"Did you mean {close}?" if close else "Write that page, or take the name out."
        message, line = f"{verb} names {text[:80]}, and there is no such page.", lines.get(text, 0)
        yield Diagnostic(ERROR if verb == REQUIRES else WARNING, "L3", message, hint, verb, line)
    if more := dangling[MAX_DANGLING:]:
        level = ERROR if any(verb == REQUIRES for verb, _ in more) else WARNING
        yield Diagnostic(level, "L3", f"{len(more)} more names lead nowhere.", "Mend those above and compile again.")
    required = [target for verb, target, _ in targets if verb == REQUIRES and target]
    if (cycle := _cycle(draft, index, required)) is not None:
        message = f"It requires itself, by way of {cycle.id}."
        yield Diagnostic(ERROR, "L3", message, "Take one of the two out.", REQUIRES)
    for name in dict.fromkeys(target.id for verb, target, _ in targets if verb == CONFLICTS and target in required):
        yield Diagnostic(ERROR, "L3", f"It requires {name} and conflicts with it.", "Keep one of the two.", CONFLICTS)


def _cycle(draft: Draft, index: AtomIndex, required: Sequence[Atom]) -> Atom | None:
    """An atom through which the draft would require itself."""
    own = {draft.live.pk} if draft.live else {atom.pk for atom in index.named(draft.id)}
    seen: set[int] = set()
    level = list(required)
    while level:
        for atom in level:
            if atom.pk in own:
                return atom
        seen |= {atom.pk for atom in level}
        related = relations([atom.pk for atom in level])
        following: dict[int, Atom] = {}
        for atom in level:
            for relation in related.get(atom.pk, ()):
                if relation.verb == REQUIRES and relation.target is not None:
                    if relation.target in own:
                        return atom
                    if relation.target not in seen and relation.target in index.by_pk:
                        following[relation.target] = index.by_pk[relation.target]
        level = list(following.values())
    return None


def _alike(draft: Draft, index: AtomIndex, linked: set[int]) -> list[Atom]:
    tags = {tag.casefold() for tag in draft.page.tags}
    if len(tags) < FEWEST_TAGS:
        return []
    words = set(phrase(draft.page.description))
    places = {int(place) for tag in tags for place in index.tags.get(tag, ())}
    found = []
    for place in sorted(places):
        atom = index.atoms[place]
        if atom is draft.live or atom.pk in linked or _jaccard(tags, atom.tag_keys) < ALIKE_TAGS:
            continue
        if _jaccard(words, set(phrase(atom.description))) >= ALIKE_WORDS:
            found.append(atom)
    return found[:MAX_ALIKE]


def _jaccard(one: set[str] | frozenset[str], other: set[str] | frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
