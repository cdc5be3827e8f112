"""Pages that may be one: the same title, or nearly the same text. Nothing is merged; a person says what is what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations
from typing import Final

from reviews.models import ItemType
from reviews.producers import roles
from reviews.producers.likeness import END_CHARS, Comparison, keyed, keys_among, keys_of, renew, text_keys
from reviews.producers.rows import Listed, listed, page_targets, pages_asked_about, rewritten, shown
from reviews.producers.titles import canonical_title, is_generic, title_key
from reviews.services.findings import Finding
from wiki.changes import Changed
from wiki.rows import select
from wiki.search import text_ends

_TITLE: Final = "title"
_BODY: Final = "body"
_LINKED: Final = "SELECT source_id, target_id FROM {link} WHERE target_id IS NOT NULL AND source_id IN {items}"

#: A file name in so many folders is a convention of the vault: each project has its own Architecture.md.
CONVENTION: Final = 4
#: Pages of one title that are compared with each other.
SAME_TITLE_AT_MOST: Final = 50
#: Pages under one key that are candidates: more have a footer in common, or a form that was filled in.
SAME_KEY_AT_MOST: Final = 50
#: Pages that one page is compared with, those with most keys in common.
CANDIDATES_AT_MOST: Final = 20


class DuplicateTitle:
    """Pages with the same canonical title: one finding a title, about the first page by path."""

    rule: Final = "duplicate-title"
    item_type: Final = ItemType.DUPLICATE.value

    def prepare(self, changed: Changed) -> None:
        """Give pages the keys of their titles. Former ones stay until all is prepared: others may share them still."""
        pages = rewritten(changed)
        wanted = {} if pages is None else keys_of(_TITLE, pages)
        for page in listed(pages):
            if canonical := canonical_title(page.title):
                wanted.setdefault(page.pk, set()).add(title_key(canonical))
        renew(_TITLE, wanted, everything=changed.everything)

    def targets(self, changed: Changed) -> set[str]:
        """The canonical titles that the changed pages have, and those that others share with what they had before."""
        met = {page for _, page in keyed(_TITLE, keys_among(_TITLE, rewritten(changed) or ()))}
        return {canonical for page in listed(met) if (canonical := canonical_title(page.title))}

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding for each title that pages share and nothing tells apart."""
        groups = _groups(targets)
        linked = _linked({page.pk for group in groups.values() for page in group})
        texts = Comparison()
        for canonical in sorted(groups):
            group = groups[canonical]
            shared = _not_told_apart(canonical, group, linked, texts)
            if shared:
                yield self._finding(canonical, shared, group)

    def _finding(self, canonical: str, shared: Collection[int], group: list[Listed]) -> Finding:
        pages = sorted(shown(shared).values(), key=lambda page: page.path)
        titles = list(dict.fromkeys(page.title for page in pages))
        named = f"titled “{titles[0]}”" if len(titles) == 1 else f"with one title: “{'”, “'.join(titles[:4])}”"
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=canonical,
            title=f"{len(pages)} pages {named}",
            rationale="But for case, punctuation and legal forms (Inc, GmbH) their titles are the same. If they are "
            "about one thing, merge them; else give them titles that tell them apart.",
            page=pages[0],
            references=pages[1:],
            evidence=[str(page.uid) for page in pages],
            rests_on=[page.pk for page in group],
            rank=len(pages),
        )


def _groups(targets: Collection[str] | None) -> dict[str, list[Listed]]:
    """The pages of each canonical title that several have, by path; those that serve the vault left out."""
    groups: dict[str, list[Listed]] = defaultdict(list)
    wanted = None if targets is None else set(targets)
    pages = None if wanted is None else {page for _, page in keyed(_TITLE, set(map(title_key, wanted)))}
    for page in listed(pages):
        canonical = canonical_title(page.title)
        if canonical and (wanted is None or canonical in wanted):
            groups[canonical].append(page)
    several = {}
    for canonical, group in groups.items():
        if len(group) > 1:
            told = [page for page in group if not roles.serves(page.path, canonical)]
            if len(told) > 1:
                several[canonical] = sorted(told, key=lambda page: page.path)
    return several


def _not_told_apart(
    canonical: str, group: list[Listed], linked: Collection[tuple[int, int]], texts: Comparison
) -> set[int]:
    """The pages of a group of which nothing says that somebody knows them to be two.

    Told apart are translations, pages of which one links to the other, and parts of different things: generic titles,
    or a file name that many folders have. Pages that also say the same are left to the other rule.
    """
    stems = Counter(roles.stem(page.path) for page in group)
    rest = [page for page in group if stems[roles.stem(page.path)] < CONVENTION][:SAME_TITLE_AT_MOST]
    generic = is_generic(canonical)
    shared: set[int] = set()
    for one, other in combinations(rest, 2):
        if one.lang and other.lang and one.lang != other.lang:
            continue
        if generic and roles.folder(one.path) != roles.folder(other.path):
            continue
        if (one.pk, other.pk) in linked or (other.pk, one.pk) in linked or texts.alike(one.pk, other.pk):
            continue
        shared.update((one.pk, other.pk))
    return shared


def _linked(pages: Collection[int]) -> set[tuple[int, int]]:
    """Which of these pages link to which of them."""
    return {(source, target) for source, target in select(_LINKED, pages) if target in pages}


class DuplicateBody:
    """Pages whose texts are nearly the same: one finding for each copy, beside the pages that it copies.

    Of two the copy is the one with the longer path, of equals the later in the alphabet. So what is found of a page
    depends on that page and those like it, whatever becomes of a third.
    """

    rule: Final = "duplicate-body"
    item_type: Final = ItemType.DUPLICATE.value

    def prepare(self, changed: Changed) -> None:
        """Bring the keys of texts up to date."""
        pages = rewritten(changed)
        wanted: dict[int, Collection[str]] = dict.fromkeys(pages or (), ())
        for pk, text in text_ends([page.pk for page in listed(pages)], END_CHARS):
            wanted[pk] = text_keys(text)
        renew(_BODY, wanted, everything=changed.everything)

    def targets(self, changed: Changed) -> set[str]:
        """The changed pages, and those under a key with them."""
        pages = set(rewritten(changed) or ())
        pages.update(page for page, _ in _before_and_after(pages))
        return page_targets(pages)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding for each page that nearly repeats one before it."""
        texts = Comparison()
        for copy, candidates in sorted(_candidates(targets).items()):
            same = [page for page in candidates if texts.alike(copy, page)]
            if same:
                yield self._finding(copy, same)

    def _finding(self, copy: int, same: list[int]) -> Finding:
        rows = shown([copy, *same])
        page = rows.pop(copy)
        others = sorted(rows.values(), key=lambda other: _order(other.path))
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=str(page.uid),
            title=f"“{page.title}” says nearly the same as “{others[0].title}”",
            rationale=f"Nine tenths or more of what {page.path} and {others[0].path} say is the same, word for word. "
            "Keep one of them, or let each say what the other does not.",
            page=page,
            references=others,
            evidence=[str(other.uid) for other in others],
            rests_on=[copy, *same],
            rank=len(others),
        )


def _order(path: str) -> tuple[int, str]:
    """Originals before copies: ``Note.md`` before ``Note (1).md`` and ``Note copy.md``."""
    return len(path), path


def _candidates(targets: Collection[str] | None) -> dict[int, list[int]]:
    """For each page the pages before it that it may repeat."""
    pages = None if targets is None else pages_asked_about(targets)
    common: dict[int, Counter[int]] = defaultdict(Counter)
    for copy, page in _before_and_after(pages):
        if pages is None or copy in pages:
            common[copy][page] += 1
    return {
        copy: sorted(counted, key=lambda page: (-counted[page], page))[:CANDIDATES_AT_MOST]
        for copy, counted in common.items()
    }


def _before_and_after(pages: Collection[int] | None) -> Iterator[tuple[int, int]]:
    """``(page, a page before it)`` for each key that two share, if one of them is among ``pages`` (None: any)."""
    meeting: dict[str, list[int]] = defaultdict(list)
    for key, page in keyed(_BODY, None if pages is None else keys_among(_BODY, pages)):
        meeting[key].append(page)
    groups = [group for group in meeting.values() if len(group) > 1]
    places = _places({page for group in groups for page in group})
    for group in groups:
        ordered = sorted((page for page in group if page in places), key=places.__getitem__)
        for number, copy in enumerate(ordered):
            for page in ordered[: min(number, SAME_KEY_AT_MOST)]:
                yield copy, page


def _places(pages: Collection[int]) -> dict[int, tuple[int, str]]:
    """Where each page stands among originals and copies; pages left out of this rule have no place."""
    return {
        page.pk: _order(page.path)
        for page in listed(pages)
        if not roles.is_template(page.path) and not roles.is_periodic(page.path, page.title)
    }
