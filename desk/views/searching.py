"""GET /read: search where something is asked, else all pages by title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.dateparse import parse_date
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from desk.views.base import DeskView
from vault.markdown.text import plain_text
from wiki.models import Page, PageType
from wiki.search import SearchAnswer, SearchHit, analyse, matches, retrieve, search
from wiki.search.filters import Filters
from wiki.search.query import WordsQuery

#: Results of a search, of one while its words are being typed, and pages of a part of the list.
_RESULTS: Final = 24
_WHILE_TYPING: Final = 8
_A_PART: Final = 100
_LONGEST: Final = 1_000
_FOUND_BY: Final = {"words": ["words"], "meaning": ["meaning"], "both": ["words", "meaning"], "link": ["link"]}
_HEADING: Final = re.compile(r"(?:^|\s)#{1,6}(?=\s)")
_MARKUP: Final = re.compile(r"\s(?:[-*+]|\[[ xX]\]|>)(?=\s)")


@dataclass(frozen=True, slots=True)
class Hit:
    """A result as it is shown: the snippet with the words that matched, and why it is here (``found``: by what)."""

    page: Page
    snippet: SafeString
    found: list[str]
    why: str


class Read(DeskView):
    """Search, or the list of pages."""

    template_name = "desk/list.html"
    section = "read"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The results, or the list; with ``live`` only the results, for a script that puts them into the page."""
        given = {name: request.GET.get(name, "").strip()[:_LONGEST] for name in ("q", "type", "tag", "folder", "since")}
        filters = _filters(given)
        context: dict[str, Any] = {
            "given": given,
            "types": PageType.choices,
            "filtered": any(given[name] for name in ("type", "tag", "folder", "since")),
            "carried": urlencode({name: value for name, value in given.items() if value and name != "q"}),
        }
        if given["q"]:
            live = request.GET.get("live") == "1"
            context |= _found(given["q"], filters, live=live)
            return self.page(context, template="desk/_results.html" if live else "desk/search.html")
        pages = Filters(**filters).pages().order_by("title", "pk").only("pk", "uid", "title", "path", "type", "summary")
        part = Paginator(pages, _A_PART).get_page(request.GET.get("part"))
        return self.page({**context, "part": part})


def _filters(given: dict[str, str]) -> dict[str, Any]:
    """The filters as search takes them; what can't be a type or a day asks for nothing."""
    try:
        day = parse_date(given["since"])
    except ValueError:
        day = None
    return {
        "types": [given["type"]] if given["type"] in PageType.values else (),
        "tag": given["tag"],
        "path_prefix": given["folder"],
        "updated_since": datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None,
    }


def _found(query: str, filters: dict[str, Any], *, live: bool) -> dict[str, Any]:
    answer: SearchAnswer
    most = _WHILE_TYPING if live else _RESULTS
    if live:
        answer = search(query, k=most, prefix=True, **filters)
    else:
        answer = retrieve(query, k=most, with_context=False, **filters)
    asked = analyse(query, prefix=live)
    hits = [_hit(hit, asked) for hit in answer.hits]
    return {
        "hits": hits,
        "full": len(hits) == most,
        "degraded": answer.degraded,
        "unavailable": answer.unavailable,
        "live": live,
    }


def _hit(hit: SearchHit, asked: WordsQuery) -> Hit:
    text = _readable(hit.snippet)
    parts: list[str] = []
    position = 0
    for start, end in matches(asked, text, hit.page.lang):
        parts += (escape(text[position:start]), "<mark>", escape(text[start:end]), "</mark>")
        position = end
    shown = mark_safe("".join([*parts, escape(text[position:])]))  # noqa: S308  (each part is escaped)
    return Hit(hit.page, shown, _FOUND_BY[hit.phase], hit.why)


def _readable(snippet: str) -> str:
    """A line of Markdown without its marks; what has nothing else is left as it is."""
    text = plain_text(_MARKUP.sub(" ·", _HEADING.sub(" ·", snippet)).strip(" ·"))
    return text or snippet
