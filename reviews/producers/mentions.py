"""Pages that are named in the text of others without a link."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from reviews.models import ItemType
from reviews.producers import roles
from reviews.producers.likeness import keyed, renew
from reviews.producers.names import Name, Running, capitals_tell, mentions, name_of
from reviews.producers.rows import Listed, listed, page_targets, pages_asked_about, read, rewritten, shown
from reviews.producers.titles import title_key
from reviews.producers.words import spaced_words, text_words
from reviews.services.findings import Finding
from vault.links import text_key
from vault.markdown import prose
from wiki.changes import Changed
from wiki.models import Page, PageType
from wiki.rows import chunks, select
from wiki.search import pages_holding, texts
from wiki.search.text import SPACELESS

_NAME: Final = "name"
#: Pages counted for one name: with so many a person sees what is the matter.
PLACES_AT_MOST: Final = 50
_TEXTS_AT_ONCE: Final = 100
#: Names whose words are kept from one look to the next.
_NAMES_KEPT: Final = 32_768
#: Languages that write all nouns with a capital.
_CAPITAL_NOUNS: Final = frozenset({"de", "lb"})
_ALIASES: Final = "SELECT page_id, name FROM {alias} WHERE name <> ''"
_OF_PAGES: Final = " AND page_id IN {items}"
_LEADING: Final = "SELECT source_id, target_id FROM {link} WHERE target_id IS NOT NULL AND source_id IN {items}"
_LINKED_TEXTS: Final = "SELECT name_key, text_key, alias FROM {link} WHERE source_id IN {items}"


class _Named(NamedTuple):
    """One name of one page, its title first. A text that holds it has its ``words``, those of ``key`` in a row."""

    page: int
    number: int
    name: Name
    words: frozenset[str]
    key: str


class UnlinkedMention:
    """A page whose title or alias stands in plain text of pages that don't link to it. Its target is the page's id."""

    rule: Final = "unlinked-mention"
    item_type: Final = ItemType.SUGGESTION.value

    def prepare(self, changed: Changed) -> None:
        """Bring the keys of names up to date."""
        pages = rewritten(changed)
        wanted: dict[int, set[str]] = {page: set() for page in pages or ()}
        for named in _names(pages):
            wanted.setdefault(named.page, set()).add(title_key(named.key))
        renew(_NAME, wanted, everything=changed.everything)

    def targets(self, changed: Changed) -> set[str]:
        """The changed pages, and those that they name now; those that they named rest on them."""
        pages = set(rewritten(changed) or ())
        for text in _texts(_places(pages)):
            held = (named for named in _names_by_key(text.grams) if named.words <= text.words)
            pages.update(named.page for named in held if text.names(named))
        return page_targets(pages)

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding for each page that is named somewhere."""
        found: dict[int, dict[int, str]] = defaultdict(dict)
        looks = _everywhere() if targets is None else _where_it_may_stand(targets, found)
        for text, names in looks:
            for named in names:
                places = found[named.page]
                if len(places) < PLACES_AT_MOST and text.place.pk not in places and text.names(named):
                    places[text.place.pk] = named.name.text
        pages = shown({pk for page, places in found.items() if places for pk in (page, *places)})
        for page in sorted((pages[page] for page, places in found.items() if places), key=lambda page: page.path):
            places = found[page.pk]
            yield self._finding(page, [pages[place] for place in places], list(dict.fromkeys(places.values())))

    def _finding(self, page: Page, places: list[Page], names: list[str]) -> Finding:
        count = len(places)
        where = "1 page that does not" if count == 1 else f"{count} pages that do not"
        least = "at least " if count == PLACES_AT_MOST else ""
        called = "" if page.title in names else f" (as “{names[0]}”)"
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=str(page.uid),
            title=f"“{page.title}” is named{called} in {least}{where} link to it",
            rationale=f"The name of {page.path} stands there in plain text. Where that page is meant, a link leads "
            "readers on and counts in the graph.",
            page=page,
            references=places,
            evidence=[str(place.uid) for place in places],
            rests_on=[page.pk, *(place.pk for place in places)],
            rank=count,
        )


class _Text:
    """The text of a page in which names are looked for; what is costly is done once, when it is needed."""

    def __init__(self, place: Listed, text: str, targets: Collection[int]) -> None:
        self.place = place
        self.text = text
        self.targets = targets

    def names(self, named: _Named) -> bool:
        """Whether a name stands here, and neither its page nor the name itself is linked."""
        if self.leads_to(named.page):
            return False
        if named.name.by_capital and not self.capitals_tell:
            return False
        stands = next(mentions(named.name, self.running), None) is not None
        return stands and text_key(named.name.text) not in self.linked_texts

    def leads_to(self, page: int) -> bool:
        """Whether it is the text of this page, or links to it."""
        return page == self.place.pk or page in self.targets

    @cached_property
    def sequence(self) -> list[str]:
        """Its words, in order."""
        return self.row.decode("utf-8", "surrogatepass").split()

    @cached_property
    def row(self) -> bytes:
        """Its words as they are spotted."""
        return spaced_words(self.text)

    @cached_property
    def words(self) -> set[str]:
        """Its words."""
        return set(self.sequence)

    def holds(self, named: _Named) -> bool:
        """Whether the words of a name are here, those of its key in a row."""
        row = b" %b " % self.row
        if not all(b" %b " % word.encode("utf-8", "surrogatepass") in row for word in named.words):
            return False
        return f" {named.key} " in self.in_a_row

    @cached_property
    def in_a_row(self) -> str:
        """Its words, a blank around each."""
        return f" {' '.join(self.sequence)} "

    @cached_property
    def grams(self) -> set[str]:
        """Each two of its words beside each other, and those that may be a name alone: by capital, digit or script."""
        alone = " ".join(word for word in self.text.split() if not (word.isalpha() and word.islower()))
        return {*map(" ".join, pairwise(self.sequence)), *text_words(alone)}

    @cached_property
    def running(self) -> Running:
        """Its prose."""
        return Running(prose(self.text))

    @cached_property
    def capitals_tell(self) -> bool:
        """Whether a capital says here that a word is a name."""
        return self.place.lang not in _CAPITAL_NOUNS and capitals_tell(self.running)

    @cached_property
    def linked_texts(self) -> set[str]:
        """What is linked here, as it is written and as it is shown, wherever it leads."""
        rows = select(_LINKED_TEXTS, [self.place.pk])
        return {text for name, key, alias in rows for text in (name, key, text_key(alias or ""))}


# --- names -----------------------------------------------------------------------------------------


def _names(pages: Collection[int] | None) -> Iterator[_Named]:
    """The names of those of the pages that can be meant: listed ones that say something; None: of all."""
    meant = {page.pk: page for page in listed(pages) if not roles.serves(page.path, page.title)}
    called = {pk: [page.title] for pk, page in meant.items()}
    for pk, alias in read(_ALIASES, _OF_PAGES, pages):
        if pk in meant:
            called[pk].append(alias)
    for pk, names in called.items():
        for number, text in enumerate(dict.fromkeys(names)):
            told = _told(text, meant[pk].type == PageType.ENTITY)
            if told is not None:
                yield _Named(pk, number, *told)


@lru_cache(maxsize=_NAMES_KEPT)
def _told(text: str, proper: bool) -> tuple[Name, frozenset[str], str] | None:
    """A title or alias as a name, its words and its key; None for one that can't be told from other words."""
    name = name_of(text, proper=proper)
    if name is None:
        return None
    # A single character of a script without blanks may be the end of a longer run in a text.
    words = ["" if len(word) == 1 and SPACELESS.match(word) else word for word in text_words(name.text)]
    pairs = [f"{one} {other}" for one, other in pairwise(words) if one and other]
    key = max(pairs or words, key=len, default="")
    return (name, frozenset(filter(None, words)), key) if key else None


def _names_by_key(grams: Iterable[str]) -> Iterator[_Named]:
    """The names that have one of these words, or pairs of words, as their key."""
    pages = {page for _, page in keyed(_NAME, set(map(title_key, grams)))}
    return _names(pages) if pages else iter(())


# --- where they may stand --------------------------------------------------------------------------


def _everywhere() -> Iterator[tuple[_Text, list[_Named]]]:
    """Each text with the names that it holds and does not link to: one pass over all texts, by path."""
    by_key: dict[str, list[_Named]] = defaultdict(list)
    for named in _names(None):
        by_key[named.key].append(named)
    from reviews.producers.spotting import AT_ONCE, Spotter  # loads numpy, which a process may never need

    spotter = Spotter(by_key)
    for some in chunks(_texts(_places(None)), AT_ONCE):
        for text, keys in zip(some, spotter.spot([text.row for text in some]), strict=True):
            spotted = [named for key in keys for named in by_key[key] if not text.leads_to(named.page)]
            held = [named for named in spotted if text.holds(named)]
            if held:
                yield text, sorted(held, key=lambda named: (named.page, named.number))


def _where_it_may_stand(
    targets: Collection[str], found: Mapping[int, Collection[int]]
) -> Iterator[tuple[_Text, list[_Named]]]:
    """The texts that may hold a name of these pages, by path, until enough is found of each page."""
    held: dict[int, list[_Named]] = defaultdict(list)
    for named in _names(pages_asked_about(targets)):
        for place in pages_holding(named.name.text):
            if place != named.page:
                held[place].append(named)
    for places in chunks(_places(held), _TEXTS_AT_ONCE):
        wanted = [place for place in places if any(len(found[named.page]) < PLACES_AT_MOST for named in held[place.pk])]
        for text in _texts(wanted):
            yield text, held[text.place.pk]


def _places(pages: Collection[int] | None) -> list[Listed]:
    """Where names are looked for among these pages, by path: not in templates. None: everywhere."""
    return sorted((page for page in listed(pages) if not roles.is_template(page.path)), key=lambda page: page.path)


def _texts(places: Sequence[Listed]) -> Iterator[_Text]:
    """The texts of these places, in their order."""
    for some in chunks(places, _TEXTS_AT_ONCE):
        by_pk = {place.pk: place for place in some}
        targets: dict[int, set[int]] = defaultdict(set)
        for source, target in select(_LEADING, by_pk):
            targets[source].add(target)
        for pk, text in texts(by_pk):
            yield _Text(by_pk[pk], text, targets[pk])
