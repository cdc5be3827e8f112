"""A page that others ask for and nobody has written: who asks, in which language, and what a stub of it says."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote
from uuid import UUID

from django.db.models import Count, Q

from reviews.models import Evidence, ReviewItem
from reviews.services.findings import MAX_REFERENCES
from vault.frontmatter.page_rules import LANGUAGES
from vault.links import Targets, link_text, name_key, render_wikilink, resolve, text_key, writable_target
from vault.slugs import slugify
from wiki.candidates import Candidates
from wiki.models import Link, LinkKind, LinkState, Page
from wiki.rows import chunks
from wiki.storable import key

#: Broken links that are looked at for what they call the page.
_MOST_LINKS: Final = 20_000
#: Signs that a slug leaves out and that mean something in a name.
_MEANING: Final = "#&@%*"
_ELSEWHERE: Final = "en"
#: Links that a warning names, and how much of each.
_MOST_NAMED: Final = 3
_SHOWN: Final = 100


def called_by(title: str) -> set[str]:
    """The keys under which a page that answers to this name is found: as a title or an alias, and as a file's name."""
    return {key(text_key(title)), key(name_key(title.strip()))}


def standing_page(title: str) -> Page | None:
    """The listed page that a link by this name leads to already: by its title, the name of its file, or an alias."""
    keys, listed = called_by(title), Page.objects.listed().order_by("path")
    for field in ("title_key", "name_key", "aliases__key"):
        page: Page | None = listed.filter(**{f"{field}__in": keys}).first()
        if page is not None:
            return page
    return None


def askers(item: ReviewItem) -> list[Page]:
    """The live pages that an item names as asking, as they are called now, in the item's order; at most 8.

    Where it names none, those whose broken links are meant, and else the page it is about.
    """
    ids = [UUID(page["id"]) for page in item.referenced_pages if page.get("id")]
    found = {page.uid: page for page in Page.objects.listed().filter(uid__in=ids)}
    named = [found[uid] for uid in ids if uid in found]
    if named:
        return named[:MAX_REFERENCES]
    paths = sorted({source for _, source in _asking_links(item)})[:MAX_REFERENCES]
    return list(Page.objects.listed().filter(path__in=paths)) or ([item.page] if item.page else [])


def stub_language(item: ReviewItem) -> str:
    """The language in which most of the asking pages are written (of two as frequent, the first by its code)."""
    counted: Counter[str] = Counter()
    pages = Evidence.objects.filter(item=item).values_list("page_id", flat=True)
    for chunk in chunks(set(pages) or {page.pk for page in askers(item)}):
        counted.update(Page.objects.live().filter(pk__in=chunk).values_list("lang", flat=True))
    known = {lang: count for lang, count in counted.items() if lang in LANGUAGES}
    return min(known, key=lambda lang: (-known[lang], lang), default=_ELSEWHERE)


def stub_body(item: ReviewItem, asking: Sequence[Page], *, path: str) -> str:
    """A body for the page at ``path`` that links back to those who ask, and does not pretend to say more."""
    lines = ["This page is a stub: nothing has been written here yet.", ""]
    if asking:
        more = max(0, Evidence.objects.filter(item=item).count() - len(asking))
        rest = f" and {more} more" if more else ""
        lines += [f"Asked for by {', '.join(_links(asking, source=path))}{rest}.", ""]
    return "\n".join(lines)


def unresolved_by(item: ReviewItem, *, path: str, title: str, aliases: Iterable[str]) -> list[str]:
    """What the asking links call the page although neither its file, its title nor its aliases answer to that.

    Given to the page as further aliases, they lead to it. A Markdown link is a path, which no alias answers to.
    """
    targets = Targets()
    targets.add_file(path, page=True)
    targets.add_title(title, path)
    for alias in aliases:
        targets.add_alias(alias, path)
    texts = {
        text.strip(): text_key(text)
        for text, source in _asking_links(item)
        if resolve(text, source=source, targets=targets).path is None
    }
    # One spelling answers to all.
    return sorted({spelling: text for text, spelling in sorted(texts.items(), reverse=True)}.values())


def not_in_obsidian(page: Page) -> list[str]:
    """A warning where links lead to the page by its title or an alias: Obsidian goes by the names of files alone."""
    if page._state.adding:  # it is not in the index yet
        return []
    named = Link.objects.filter(
        target=page, state__in=(LinkState.BY_TITLE, LinkState.BY_ALIAS), source__deleted_at__isnull=True
    ).exclude(kind=LinkKind.MARKDOWN)
    counted = named.values_list("text").annotate(pages=Count("source", distinct=True)).order_by("-pages", "text")
    texts = [text for text, _ in counted[: _MOST_NAMED + 1]]
    if not texts:
        return []
    shown = ", ".join(render_wikilink(text[:_SHOWN]) for text in texts[:_MOST_NAMED])
    more = " and others" if len(texts) > _MOST_NAMED else ""
    stem = page.path.rpartition("/")[2].removesuffix(".md")
    return [
        f"obsidian_name: Obsidian does not lead {shown}{more} to {page.path}, as it goes by the names of files. Write "
        f"{render_wikilink(stem, alias=texts[0][:_SHOWN])} in the pages that link to it, or move the page to a file of "
        "that name."
    ]


def _asking_links(item: ReviewItem) -> list[tuple[str, str]]:
    """(target, source's path) of the broken wikilinks that are meant: those of the pages the item rests on, if any."""
    called = {_called(text) for text in (item.target, item.proposed_title) if text}
    broken = Link.objects.filter(
        state=LinkState.BROKEN, source__deleted_at__isnull=True, source__reserved=False
    ).exclude(kind=LinkKind.MARKDOWN)
    pages = Evidence.objects.filter(item=item).values("page_id")
    if pages.exists():
        broken = broken.filter(source__in=pages)
    else:
        texts = (item.target, item.proposed_title, slugify(item.proposed_title or item.target))
        names = {key(text_key(text)) for text in texts if text}
        broken = broken.filter(Q(name_key__in=names) | Q(text_key__in=names))
    links = broken.order_by("source__path", "order").values_list("text", "source__path")[:_MOST_LINKS]
    return [(text, source) for text, source in links if _called(text) in called]


def _called(text: str) -> tuple[str, str]:
    """What a target calls a page, whatever its case, its folder and what parts its words; C and C# are two."""
    name = text.strip().rpartition("/")[2]
    name = name[: -len(".md")] if name.lower().endswith(".md") else name
    return slugify(name), "".join(sign for sign in name if sign in _MEANING or unicodedata.category(sign)[0] == "S")


def _links(pages: Sequence[Page], *, source: str) -> list[str]:
    """Links to these pages as the note at ``source`` has to write them."""
    found = Candidates()
    found.load([name_key(page.path) for page in pages], paths=[page.path for page in pages])
    return [_link(page, source, found) for page in pages]


def _link(page: Page, source: str, found: Candidates) -> str:
    target = link_text(page_path=page.path, title=page.title, source=source, targets=found.targets)
    if found.only_titled(target) not in (None, page.path):
        target = page.path[: -len(".md")]  # the name of this page's file is the title of another page
    if writable_target(target):
        return render_wikilink(target, alias=page.title if page.title != target else None)
    shown = "".join(f"\\{letter}" if letter in "[]\\" else letter for letter in page.title)
    return f"[{shown}](/{quote(page.path)})"
