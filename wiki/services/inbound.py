"""What a page's new path or title does to links: which files hold links that would break, and their text after it.

Only links change. A link that still leads where it led keeps its bytes; one that would lead elsewhere, or to nothing,
is written for its page's new path. A text shown that was the old title becomes the new one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from django.db.models import Q

from vault import frontmatter
from vault.links import (
    BY_ALIAS,
    BY_TITLE,
    RESOLVED,
    Resolution,
    link_text,
    name_key,
    resolve,
    text_key,
    writable_target,
)
from vault.markdown import ParsedLink, parse_body, parse_property_link, rewrite_links
from vault.pages import property_links
from vault.root import FileRead
from wiki.candidates import Candidates
from wiki.models import Page
from wiki.rows import chunks
from wiki.services.linktext import TableSpans, write_link, write_property


class Renaming(NamedTuple):
    """One page's change of path or title, either of which may stay. ``write_title``: it goes into the frontmatter."""

    page: Page
    path: str
    title: str
    write_title: bool = False

    @property
    def moved(self) -> bool:
        """Whether the path changes."""
        return self.path != self.page.path

    @property
    def retitled(self) -> bool:
        """Whether the title changes, be it only because it is the file's name."""
        return self.title != self.page.title

    def path_of(self, path: str) -> str:
        """Where the file at ``path`` is after the change."""
        return self.path if path == self.page.path else path


class Decision(NamedTuple):
    """For one target as written in one file: what to write instead (None: keep it), and whether it means the page."""

    target: str | None
    named: bool
    means_page: bool


#: By (is a Markdown link, target as written).
Decisions = dict[tuple[bool, str], Decision]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file whose links have to change: its page, and what to decide for each target in it."""

    page: Page
    decisions: Decisions


def affected_pages(renaming: Renaming) -> list[Page]:
    """The live pages with a link whose answer the change can touch, by path; the page itself if it moves."""
    page = renaming.page
    which = Q(links__target=page)
    if renaming.moved:
        which |= Q(links__name_key__in=[page.name_key, name_key(renaming.path)])
    if renaming.retitled:
        which |= Q(links__text_key__in=[page.title_key, text_key(renaming.title)])
    found = set(Page.objects.live().filter(which).values_list("pk", flat=True))
    if renaming.moved:
        found.add(page.pk)
    pages = (page for chunk in chunks(sorted(found)) for page in Page.objects.filter(pk__in=chunk))
    return sorted(pages, key=lambda page: page.path)


def plan(renaming: Renaming, texts: Iterable[tuple[Page, str]]) -> list[Rewrite]:
    """What to decide for each of these files, given as pages with their texts, as they are before the change."""
    files = [(page, _targets(text)) for page, text in texts]
    found = Candidates()
    found.load({target for _, targets in files for _, target in targets}, paths=[renaming.page.path, renaming.path])
    before = {page.pk: _answers(page.path, targets, found) for page, targets in files}
    found.load_paths({answer.path for answers in before.values() for answer in answers.values() if answer.path})
    _apply(renaming, found)
    rewrites = []
    for page, targets in files:
        source = renaming.path_of(page.path)
        after = _answers(source, targets, found)
        decisions = {
            key: _decide(key, before[page.pk][key], after[key], renaming=renaming, source=source, found=found)
            for key in targets
        }
        rewrites.append(Rewrite(page, decisions))
    return rewrites


def _targets(text: str) -> set[tuple[bool, str]]:
    return {(link.kind == "markdown", link.target) for link in _links(text) if link.target}


def _links(text: str) -> Iterator[ParsedLink]:
    block = frontmatter.split(text)
    yield from parse_body(block.body).links
    if block.raw is not None:
        yield from property_links(frontmatter.load(block.raw).data)


def _answers(source: str, targets: set[tuple[bool, str]], found: Candidates) -> dict[tuple[bool, str], Resolution]:
    return {
        (markdown, target): resolve(target, source=source, targets=found.targets, markdown=markdown)
        for markdown, target in targets
    }


def _apply(renaming: Renaming, found: Candidates) -> None:
    """The change, in what links can lead to."""
    page, targets = renaming.page, found.targets
    if renaming.moved:
        targets.remove_file(page.path)
        targets.add_file(renaming.path, page=True)
        for alias in page.aliases.values_list("name", flat=True):
            targets.remove_alias(alias, page.path)
            targets.add_alias(alias, renaming.path)
    targets.remove_title(page.title, page.path)
    targets.add_title(renaming.title, renaming.path)


def _decide(
    key: tuple[bool, str],
    before: Resolution,
    after: Resolution,
    *,
    renaming: Renaming,
    source: str,
    found: Candidates,
) -> Decision:
    if before.path is None:
        return Decision(None, named=False, means_page=False)
    markdown, target = key
    wanted = renaming.path_of(before.path)
    means_page = before.path == renaming.page.path
    named = before.state in (BY_TITLE, BY_ALIAS)
    same = after.path == wanted and after.state in (before.state, RESOLVED)
    if same:
        return Decision(None, named, means_page)
    if markdown:
        return Decision(wanted, named, means_page)
    new = link_text(page_path=wanted, title=renaming.title, source=source, targets=found.targets)
    return Decision(new if writable_target(new) and new != target else None, named, means_page)


def rewritten(text: str, decisions: Decisions, renaming: Renaming) -> str:
    """A file's text with its links as decided; targets that nothing was decided for stay."""
    block = frontmatter.split(text)
    tables = TableSpans(block.body)

    def replace(link: ParsedLink) -> str | None:
        new = _new_parts(link, decisions, renaming)
        return write_link(block.body, link, tables, target=new[0], alias=new[1]) if new else None

    text = text[: block.body_offset] + rewrite_links(block.body, replace)
    if block.raw is None:
        return text
    changes = _property_changes(frontmatter.load(block.raw).data, decisions, renaming)
    return frontmatter.update(text, changes) if changes else text


def _new_parts(link: ParsedLink, decisions: Decisions, renaming: Renaming) -> tuple[str, str | None] | None:
    """The link's new target and alias; None when neither changes."""
    decision = decisions.get((link.kind == "markdown", link.target))
    if decision is None:
        return None
    shows_title = renaming.retitled and decision.means_page and _is(link.alias, renaming.page.title)
    if decision.target is None:
        return (link.target, renaming.title) if shows_title else None
    if link.alias is None and not link.embed and link.kind != "markdown":
        return decision.target, _shown(link.target, decision, renaming)
    return decision.target, renaming.title if shows_title else link.alias


def _shown(target: str, decision: Decision, renaming: Renaming) -> str | None:
    """The alias of a link that had none: needed where its target, which was shown, was a title or an alias."""
    is_title = decision.means_page and text_key(target) == renaming.page.title_key
    if not is_title and not decision.named:
        return None
    shown = renaming.title if is_title and renaming.retitled else target
    return None if text_key(shown) == text_key(decision.target or "") else shown


def _is(text: str | None, title: str) -> bool:
    return text is not None and unicodedata.normalize("NFC", text).strip() == title


def _property_changes(properties: dict[str, Any], decisions: Decisions, renaming: Renaming) -> dict[str, Any]:
    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        if isinstance(value, dict):
            return {key: changed(item) for key, item in value.items()}
        link = parse_property_link(value, "") if isinstance(value, str) and "[[" in value else None
        new = _new_parts(link, decisions, renaming) if link else None
        return write_property(link, target=new[0], alias=new[1]) if link and new else value

    new = {key: changed(value) for key, value in properties.items()}
    return {key: value for key, value in new.items() if value != properties[key]}


def changed_lines(before: str, after: str) -> list[dict[str, Any]]:
    """The lines that differ: ``line`` (from 1), ``before``, ``after``. Rewriting links never adds or removes a line."""
    pairs = zip_longest(before.split("\n"), after.split("\n"), fillvalue="")
    return [
        {"line": number, "before": old.rstrip("\r"), "after": new.rstrip("\r")}
        for number, (old, new) in enumerate(pairs, 1)
        if old != new
    ]


def text_of(read: FileRead) -> str | None:
    """A file as text, None when it is not UTF-8: such a file is never rewritten."""
    try:
        return read.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
