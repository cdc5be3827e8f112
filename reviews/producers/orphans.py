"""Pages that stand apart: nothing links to them, or they link to nothing.

A link is any resolved one, those of properties included, between two listed pages: those of index and log don't count.
What serves the vault (templates, daily notes, READMEs), pages without words, and views (a page that shows a list of
others) stand apart by nature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from reviews.models import ItemType
from reviews.producers import roles
from reviews.producers.rows import page_targets, pages_asked_about, read, shown
from reviews.services.findings import Finding
from wiki.changes import Changed
from wiki.models import Page
from wiki.rows import select
from wiki.search import texts

#: A page of fewer words is no dead end: it is a stub, and lacks text rather than links.
FEWEST_WORDS: Final = 1

_APART: Final = (
    "SELECT page.id FROM {page} page WHERE page.deleted_at IS NULL AND NOT page.reserved AND page.words > 0 AND NOT "
)
_LINK_IN: Final = (
    "EXISTS (SELECT 1 FROM {link} link JOIN {page} source ON source.id = link.source_id AND source.deleted_at IS NULL "
    "AND NOT source.reserved WHERE link.target_id = page.id AND link.source_id <> page.id)"
)
# A link to a page that nobody has written yet leads on as well: that page is asked for.
_LINK_OUT: Final = (
    "EXISTS (SELECT 1 FROM {link} link LEFT JOIN {page} target ON target.id = link.target_id "
    "WHERE link.source_id = page.id AND ((link.target_id <> page.id AND target.deleted_at IS NULL "
    "AND NOT target.reserved) OR (link.state = 'broken' AND NOT link.embed)))"
)
_AMONG: Final = " AND page.id IN {items}"
_LINKED: Final = "SELECT DISTINCT target_id FROM {link} WHERE target_id IS NOT NULL AND source_id IN {items}"
_FILED: Final = "SELECT DISTINCT source_id FROM {link} WHERE kind = 'property' AND target_id IN {items}"
_FILING: Final = (
    "SELECT source_id, target_id FROM {link} WHERE kind = 'property' AND target_id IS NOT NULL AND source_id IN {items}"
)
_SHOWING: Final = (
    "SELECT DISTINCT source_id FROM {link} WHERE embed AND source_id IN {items} "
    "AND (lower(text) LIKE '%%.base' OR lower(text) LIKE '%%.canvas')"
)
#: Code that Obsidian and its plugins show as a list of pages.
_QUERY: Final = re.compile(
    r"^[ \t>]*(?:```+|~~~+)[ \t]*(?:base|dataview|dataviewjs|datacore\w*|query|tasks)\b", re.MULTILINE
)


class Orphan:
    """A page that no other page links to. Its target is the page's id.

    A page whose properties name a view is filed there, and the view shows it: it is no orphan.
    """

    rule: Final = "orphan"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """The changed pages, those they link to, and those that are filed under them."""
        pages = set(changed.pages)
        for statement in (_LINKED, _FILED):
            pages.update(row[0] for row in select(statement, changed.pages))
        return page_targets(pages)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a page."""
        apart = _pages(_APART + _LINK_IN, targets)
        filed = list(select(_FILING, apart))
        views = _views({*apart, *(view for _, view in filed)})
        shown = {pk for pk, view in filed if view in views}
        for pk, page in apart.items():
            if pk in views or pk in shown or roles.serves(page.path, page.title) or roles.is_tool(page.frontmatter):
                continue
            yield Finding(
                item_type=self.item_type,
                rule=self.rule,
                target=str(page.uid),
                title=f"No page links to “{page.title}”",
                rationale=f"Whoever reads on from page to page never comes to {page.path}. Link to it where it "
                "belongs, merge it into a page that is read, or delete it.",
                page=page,
                rests_on=[pk],
            )


class DeadEnd:
    """A page that others link to and that links to no other page. Its target is the page's id.

    Links that lead to pages nobody has written yet count: those are asked for by another rule.
    """

    rule: Final = "dead-end"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """The changed pages: a page's own links tell, and whoever gained or lost a link in is among them."""
        pages = set(changed.pages)
        pages.update(row[0] for row in select(_LINKED, changed.pages))
        return page_targets(pages)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a page."""
        ends = _pages(f"{_APART}{_LINK_OUT} AND {_LINK_IN}", targets)
        views = _views(ends)
        for pk, page in ends.items():
            if pk in views or roles.serves(page.path, page.title) or roles.is_tool(page.frontmatter):
                continue
            yield Finding(
                item_type=self.item_type,
                rule=self.rule,
                target=str(page.uid),
                title=f"“{page.title}” links to no page",
                rationale=f"Pages lead to {page.path}, and nothing leads on from there. Link the pages that it builds "
                "on, or that say more.",
                page=page,
                rests_on=[pk],
            )


def _pages(statement: str, targets: Collection[str] | None) -> dict[int, Page]:
    """The pages that a statement finds, among the targets if there are any given; by path."""
    asked = None if targets is None else pages_asked_about(targets)
    found = shown([pk for (pk,) in read(statement, _AMONG, asked)])
    return dict(sorted(found.items(), key=lambda item: item[1].path))


def _views(pages: Collection[int]) -> set[int]:
    """Those of the pages that show a list of others: an embedded base or canvas, or a query."""
    views = {row[0] for row in select(_SHOWING, pages)}
    views.update(page for page, text in texts(set(pages) - views) if _QUERY.search(text))
    return views
