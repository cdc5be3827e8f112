"""Pages that others link to and that nobody has written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from django.conf import settings

from reviews.models import ItemType
from reviews.producers.asking import Asked, asked_for, folded
from reviews.producers.roles import is_template
from reviews.services.findings import MAX_REFERENCES, Finding
from vault.current import current_vault
from vault.links import BROKEN, Targets, resolve
from vault.paths import classify
from vault.root import Vault, WalkEntry
from vault.slugs import slugify
from wiki.changes import Changed
from wiki.models import LinkKind, Page
from wiki.rows import all_rows, chunks, select

# Of listed pages. A Markdown link is a path: a page made for it would have another one.
_FROM: Final = (
    "FROM {link} link JOIN {page} page ON page.id = link.source_id AND page.deleted_at IS NULL AND NOT page.reserved "
    "WHERE link.kind <> 'markdown' AND "
)
# The empty text keeps SQLite from walking all broken links instead of those of a few pages, or a few of them.
_ASKING: Final = (
    f"SELECT page.path, link.kind, link.text, link.alias {_FROM}"
    "link.source_id IN {items} AND link.state || '' = 'broken'"
)
_BROKEN: Final = f"SELECT link.source_id, page.uid, page.path, link.kind, link.text, link.alias, link.name_key {_FROM}"
_ALL: Final = "link.state = 'broken'"
_SOME: Final = "link.id IN {items} AND link.state || '' = 'broken'"


class _Broken(NamedTuple):
    """A link that leads nowhere, and the page that holds it."""

    page: int
    uid: UUID
    path: str
    kind: str
    text: str
    alias: str | None
    name_key: str


@dataclass(slots=True)
class _Missing:
    """One page that is asked for: by which pages, under which names, and where."""

    links: list[_Broken] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)

    def add(self, link: _Broken, asked: Asked) -> None:
        self.links.append(link)
        self.names[asked.name] += 1
        if asked.page_type:
            self.types[asked.page_type] += 1

    @property
    def title(self) -> str:
        """The name most often used; one that is only a slug where there is no other."""
        if len(self.names) == 1:
            return next(iter(self.names))
        return min(self.names, key=lambda name: (slugify(name) == name, -self.names[name], name))

    @property
    def askers(self) -> dict[int, tuple[str, UUID]]:
        """Path and id of the asking pages by number, by path."""
        found = {link.page: (link.path, link.uid) for link in self.links}
        return dict(sorted(found.items(), key=lambda entry: entry[1][0]))


class MissingPage:
    """A name that broken links ask for. Its target is that name, folded (:mod:`reviews.producers.asking`)."""

    rule: Final = "missing-page"
    item_type: Final = ItemType.MISSING_PAGE.value

    def targets(self, changed: Changed) -> set[str]:
        """What the pages that changed ask for."""
        asked = (_asked(*row) for row in select(_ASKING, changed.pages))
        return {one.question for one in asked if one is not None}

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a name; the pages that ask for it are those of its broken links."""
        missing: dict[str, _Missing] = {}
        for link in _broken(None) if targets is None else _broken_named(targets):
            asked = _asked(link.path, link.kind, link.text, link.alias)
            if asked is not None and (targets is None or asked.question in targets):
                missing.setdefault(asked.question, _Missing()).add(link, asked)
        for question in _answered_elsewhere(missing):
            del missing[question]
        askers = {question: list(found.askers) for question, found in missing.items()}
        pages = _shown(number for numbers in askers.values() for number in numbers[:MAX_REFERENCES])
        alike = _alike(missing)
        for question in sorted(missing):
            references = [pages[number] for number in askers[question][:MAX_REFERENCES]]
            yield self._finding(question, missing[question], references, alike.get(question))

    def _finding(self, question: str, missing: _Missing, references: list[Page], alike: Page | None) -> Finding:
        title, askers = missing.title, missing.askers
        folder = question.rpartition("/")[0]
        place = f"{title} in {folder}" if folder else title  # the same name may be asked for elsewhere, too
        count = "1 page" if len(askers) == 1 else f"{len(askers):,} pages"
        hint = (
            f" {alike.title} ({alike.path}) has nearly that name: if it is meant, correct the links." if alike else ""
        )
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=question,
            title=f"Missing page: {place} (asked for by {count})",
            rationale=f"{count} {'links' if len(askers) == 1 else 'link'} to {place}, which is not there.{hint}",
            proposed_title=title,
            proposed_page_type=max(sorted(missing.types), key=lambda kind: missing.types[kind], default=""),
            references=references,
            search_queries=[title],
            evidence=[str(uid) for _, uid in askers.values()],
            rests_on=list(askers),
            rank=len(askers),
        )


def _asked(path: str, kind: str, text: str, alias: str | None) -> Asked | None:
    """What page a broken link of the page at ``path`` asks for; a template asks for none."""
    return None if is_template(path) else asked_for(text, alias, path, embed=kind == LinkKind.EMBED)


def _broken(links: Collection[int] | None) -> Iterator[_Broken]:
    """Those of the links that are broken and ask for something by name; None: among all."""
    for page, uid, *rest in all_rows(_BROKEN + _ALL) if links is None else select(_BROKEN + _SOME, links):
        yield _Broken(page, uid if isinstance(uid, UUID) else UUID(uid), *rest)


def _broken_named(targets: Collection[str]) -> Iterator[_Broken]:
    """Broken links that may ask for one of these. The names of all that are broken lie together in an index."""
    wanted = {target.rpartition("/")[2] for target in targets}
    slugs = {slugify(name) for name in wanted}
    names = all_rows("SELECT id, name_key FROM {link} WHERE state = 'broken'")
    return _broken([number for number, name in names if name in slugs or folded(name) in wanted])


def _answered_elsewhere(missing: dict[str, _Missing]) -> list[str]:
    """Questions that are none: links whose folder is wrong, for a page of that name is elsewhere; files left out."""
    placed = {question: found for question, found in missing.items() if "/" in question}
    names = {link.name_key for found in placed.values() for link in found.links}
    there: set[str] = set()
    for chunk in chunks(names):
        there.update(Page.objects.listed().filter(name_key__in=chunk).order_by().values_list("name_key", flat=True))
    elsewhere = [
        question for question, found in placed.items() if not there.isdisjoint(link.name_key for link in found.links)
    ]
    excluded = _excluded_files() if missing and settings.SYNAPSE_EXCLUDE else None
    if excluded is not None:
        elsewhere += [
            question
            for question, found in missing.items()
            if any(resolve(link.text, source=link.path, targets=excluded).state != BROKEN for link in found.links)
        ]
    return sorted(set(elsewhere))


def _excluded_files() -> Targets:
    """The pages that SYNAPSE_EXCLUDE leaves out: the index does not know them, but a link to one is not broken."""
    vault, targets = current_vault(), Targets()
    for entry in Vault(vault.root, vault.data).walk():
        if isinstance(entry, WalkEntry) and classify(entry.path, settings.SYNAPSE_EXCLUDE) is None:
            targets.add_file(entry.path, page=True)
    return targets


def _shown(numbers: Iterable[int]) -> dict[int, Page]:
    """What findings say of these pages."""
    found: dict[int, Page] = {}
    for chunk in chunks(set(numbers)):
        found.update((page.pk, page) for page in Page.objects.filter(pk__in=chunk).only("uid", "path", "title"))
    return found


def _alike(questions: Iterable[str]) -> dict[str, Page]:
    """A listed page with nearly the name that is asked for: other separators between its words."""
    spellings = {spelling: name for name in questions for spelling in (name, *_spellings(name))}
    found: dict[str, Page] = {}
    for chunk in chunks(spellings):
        listed = Page.objects.listed().only("path", "title", "name_key", "title_key").order_by("-path")
        for page in listed.filter(name_key__in=chunk):
            found[spellings[page.name_key]] = page
        for page in listed.filter(title_key__in=chunk):
            found[spellings[page.title_key]] = page
    return found


def _spellings(question: str) -> tuple[str, str]:
    return question.replace("-", " "), question.replace("-", "_")
