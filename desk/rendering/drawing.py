"""One page drawn: its body as HTML, with the pages that it embeds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from desk.rendering.anchors import Ids, block_id, heading_key, part_of
from desk.rendering.cleaning import clean
from desk.rendering.leads import Lead, Leads, page_address, picture_address, search_address
from desk.rendering.limits import MOST_CHARACTERS, Clock, TakesTooLong, environment
from desk.rendering.marking import Marked
from desk.rendering.parser import parser
from desk.rendering.weaving import WEAVE
from vault.current import current_vault
from vault.errors import SynapseError
from vault.links import AMBIGUOUS, BROKEN
from vault.markdown import ParsedLink, parse_body
from vault.pages import ParsedPage, parse_page

#: Pages within pages: how deep, how many, and how much of them.
_DEPTH: Final = 3
_EMBEDS: Final = 30
_TOO_LONG: Final = f"This page has more than {MOST_CHARACTERS:,} characters and is shown as it is written."
_TOO_SLOW: Final = "This page takes too long to draw and is shown as it is written."
_SIZE: Final = re.compile(r"(?:(.*)\|)?(\d{1,4})(?:x(\d{1,4}))?\Z", re.DOTALL)
_OUTER: Final = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_SCHEME: Final = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)")
_HOST: Final = re.compile(r"(?:https?:)?//(?:[^/?#@]*@)?([^/?#]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading as the table of contents has it."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's body as HTML that is safe to show. ``shown`` are the numbers of its links that stand in it.

    ``problem``: why it is shown as written, which is then what ``html`` holds; "" otherwise.
    """

    html: SafeString
    sections: list[Section]
    shown: frozenset[int]
    problem: str = ""


def draw(page: ParsedPage) -> Rendered:
    """Draw a page. Reads the files of embedded pages, and of the index what its links can lead to."""
    if len(page.body) > MOST_CHARACTERS:
        return _as_written(page.body, _TOO_LONG)
    pictures = reverse("desk:raw-file", args=["-"]).removesuffix("-")
    drawing = _Drawing(page.path, page.title, page.body, page, _Sheet())
    try:
        html = drawing.html()
    except TakesTooLong:
        return _as_written(page.body, _TOO_SLOW)
    safe = clean(html, pictures=pictures)
    return Rendered(mark_safe(safe), drawing.sections, frozenset(drawing.shown))  # noqa: S308  (it was just cleaned)


def _as_written(text: str, problem: str) -> Rendered:
    return Rendered(format_html('<div class="plain-text">{}</div>', text), [], frozenset(), problem)


@dataclass(slots=True)
class _Sheet:
    """What a page and all that it embeds have in common. ``trail``: the pages that the present one is embedded in."""

    clock: Clock = field(default_factory=Clock)
    embeds: int = 0
    characters: int = 0
    trail: list[str] = field(default_factory=list)


class _Drawing:
    """One text on its way to HTML: the page's own, or that of one that it embeds."""

    def __init__(self, path: str, title: str, text: str, page: ParsedPage | None, sheet: _Sheet) -> None:
        read = page.read if page is not None else parse_body(text)
        self.path = path
        self.sections: list[Section] = []
        self.shown: set[int] = set()
        self.marked = Marked(text, read.links)
        self._title = heading_key(title)
        self._links = read.links
        self._leads = Leads(path, read.links)
        self._known_tags = {tag.casefold() for tag in read.tags}
        self._known_blocks = set(read.blocks)
        self._levels = [level for level, _ in read.headings]
        self._own = page is not None
        self._page = page
        self._ids = Ids()
        self._headings = 0
        self._sheet = sheet
        self._lower = self._demotion([text for _, text in read.headings])

    def html(self) -> str:
        """The text as HTML, not yet cleaned."""
        env = {WEAVE: self, **environment(self._sheet.clock)}
        if not self._own:
            env["docId"] = f"e{self._sheet.embeds}-"
        self._sheet.trail.append(self.path)
        try:
            html: str = parser().render(self.marked.text, env)
        finally:
            self._sheet.trail.pop()
        return html

    def _demotion(self, headings: list[str]) -> int:
        """By how much headings are lowered: the frame has the page's title as its only heading of the first level."""
        levels = self._levels
        if self._own and levels and levels[0] == 1 and heading_key(headings[0]) == self._title:
            levels = levels[1:]
        return 1 if 1 in levels or not self._own else 0

    # --- what the parser asks (desk.rendering.weaving.Weave) ---

    def heading(self, level: int, text: str, shown: str) -> tuple[int, str]:
        """Its level and id; level 0 for a first heading that only repeats the title."""
        self._headings += 1
        if self._own and self._headings == 1 and level == 1 and heading_key(text) == self._title:
            self._ids.of(text)
            return 0, ""
        if not self._own:
            return min(level + self._lower, 6), ""
        anchor = self._ids.of(text)
        level = min(level + self._lower, 6)
        self.sections.append(Section(level, shown or text, anchor))
        return level, anchor

    def tag(self, name: str) -> str | None:
        """A tag as a link to what has it too."""
        if name.casefold() not in self._known_tags:
            return None
        return format_html('<a class="tag" href="{}">#{}</a>', search_address(tag=name), name)

    def block(self, name: str) -> str | None:
        """The id of a block of this page."""
        if name not in self._known_blocks:
            return None
        return block_id(name) if self._own else ""

    def link(self, number: int) -> str:
        """A wikilink: a picture, or a link with what is to be known of it."""
        link = self._links[number]
        self.shown.add(number)
        lead = self._leads.of(link)
        if link.embed and lead.is_picture:
            return self._own_picture(lead, link.alias or "")
        attributes, behind = _link(lead)
        text = link.alias or (link.target + link.subpath.replace("#", " › ").replace("› ^", "› ")).strip(" ›")
        opening = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
        return f"<a{opening}>{escape(text)}</a>{behind}"

    def opened(self, number: int | None, href: str) -> tuple[dict[str, str | int | float], str]:
        """A Markdown link: within the vault, or to elsewhere."""
        if number is not None:
            self.shown.add(number)
            return _link(self._leads.of(self._links[number]))
        if _OUTER.match(href):
            return {"class": "outer", "href": href}, ""
        if _SCHEME.match(href):
            return {"class": "link-broken", "title": "Addresses of this kind are not opened from here."}, ""
        return _link(self._leads.of_address(href))

    def picture(self, number: int | None, address: str, shown: str) -> str:
        """A picture of the vault; of one from elsewhere where it is: nothing is loaded from there."""
        if number is None and _SCHEME.match(address):
            host = _HOST.match(address)
            whole = f"https:{address}" if address.startswith("//") else address
            where = format_html('<a class="outer" href="{}">{}</a>', whole, host[1]) if host else "elsewhere"
            name, _ = _sized(shown)
            return format_html('<span class="elsewhere">Picture at {}{}</span>', where, f": {name}" if name else "")
        lead = self._leads.of_address(address) if number is None else self._leads.of(self._links[number])
        if number is not None:
            self.shown.add(number)
        if lead.is_picture:
            return self._own_picture(lead, shown)
        attributes, behind = _link(lead)
        opening = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
        return f"<a{opening}>{escape(_sized(shown)[0] or lead.path or address)}</a>{behind}"

    def embedded(self, number: int) -> str | None:
        """The page, section or block that an embed shows, in a frame that says where it is from."""
        link = self._links[number]
        if not link.embed:
            return None
        lead = self._leads.of(link)
        if not lead.is_page or lead.path is None:
            return None
        self.shown.add(number)
        return self._embed(link, lead, lead.path)

    # --- inside ---

    def _own_picture(self, lead: Lead, shown: str) -> str:
        name, size = _sized(shown)
        text = name or (lead.path or "").rpartition("/")[2]
        return format_html(
            '<img src="{}" alt="{}" loading="lazy"{}>',
            picture_address(lead.path or ""),
            text,
            mark_safe(size),  # noqa: S308
        )

    def _embed(self, link: ParsedLink, lead: Lead, path: str) -> str:
        sheet = self._sheet
        where = format_html('<a class="link" href="{}">{}</a>', lead.address, link.alias or link.target or "this page")
        within = path == self.path
        if within and not link.subpath:
            return _frame(where, "A page can't be shown within itself.")
        again = sheet.trail.count(path) > within
        if again or len(sheet.trail) > _DEPTH or sheet.embeds >= _EMBEDS:
            return _frame(where, "Not shown here: pages within pages end at this point.")
        sheet.embeds += 1
        page = self._page if within else None
        try:
            page = page or parse_page(path, _bytes(path))
        except SynapseError as error:
            return _frame(where, error.message)
        part = part_of(page, link.subpath)
        if part is None:
            return _frame(where, f"The page has no place {link.subpath}.")
        sheet.characters += len(part)
        if sheet.characters > MOST_CHARACTERS:
            return _frame(where, "Not shown here: it is too long.")
        inner = _Drawing(path, page.title, part, None, sheet).html()
        return f'<div class="embed"><p class="from">{where}</p>{inner}</div>\n'


def _bytes(path: str) -> bytes:
    return current_vault().read(path, max_bytes=settings.SYNAPSE_MAX_PAGE_BYTES).data


def _frame(where: str, reason: str) -> str:
    return format_html('<div class="embed"><p class="from">{}</p><p>{}</p></div>\n', where, reason)


def _link(lead: Lead) -> tuple[dict[str, str | int | float], str]:
    """The attributes of a link, and what follows it: a word for who can't see how it is marked."""
    attributes: dict[str, str | int | float] = {"class": "link", "href": lead.address}
    if lead.hint:
        attributes["title"] = lead.hint
    if lead.state == BROKEN:
        attributes["class"] = "link-broken"
        return attributes, '<span class="unseen"> (no such page)</span>'
    if lead.state == AMBIGUOUS:
        attributes["class"] = "link-ambiguous"
        return attributes, format_html('<span class="link-hint" title="{}"> (ambiguous)</span>', lead.hint)
    return attributes, ""


def _sized(shown: str) -> tuple[str, str]:
    """A picture's name, and the size that is written behind it or in its place, as attributes."""
    match = _SIZE.match(shown.strip())
    if match is None:
        return shown.strip(), ""
    height = f' height="{match[3]}"' if match[3] else ""
    return (match[1] or "").strip(), f' width="{match[2]}"{height}'


__all__ = ["Rendered", "Section", "draw", "page_address"]
