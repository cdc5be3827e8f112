"""What links to a page, with the sentence that each of them says it in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from vault.markdown.text import first_sentence, plain_text, shorten
from wiki.models import Link, LinkKind, Page
from wiki.search import texts

#: Of a body that is read to find the sentence, and of the sentence that is shown.
_READ: Final = 60_000
_SHOWN: Final = 260
_AROUND: Final = 600
# Code points that no text of the index holds: they keep the place of the link while its markup goes.
_OPEN, _CLOSE = "\ufdd2", "\ufdd3"
_BREAK: Final = re.compile(r"\n[ \t>]*\n|\n(?=[ \t>]*(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t])|\n(?=[ \t>]*\|)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A page that links here. ``said`` is the sentence with the link marked; "" where it is in a property."""

    page: Page
    said: SafeString
    property: str = ""


def linking(page: Page) -> list[int]:
    """The listed pages (by number) that link to a page, by title. One query: how many they are follows from it."""
    links = Link.objects.filter(target=page).values("source_id")
    sources = Page.objects.listed().filter(pk__in=links).exclude(pk=page.pk)
    return list(sources.order_by("title", "pk").values_list("pk", flat=True))


def mentions(page: Page, sources: Sequence[int]) -> list[Mention]:
    """How these pages (by number) link to a page, in the order given."""
    rows = Page.objects.only("pk", "uid", "title", "path", "type").in_bulk(sources)
    links = _first_links(page, sources)
    bodies = dict(texts(sources, _READ))
    return [_mention(rows[pk], links.get(pk), bodies) for pk in sources if pk in rows]


def _first_links(page: Page, sources: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    """Of each source its first link to the page."""
    rows = Link.objects.filter(source__in=sources, target=page).order_by("source_id", "-order")
    return {row["source_id"]: row for row in rows.values("source_id", "kind", "text", "alias", "property")}


def _mention(source: Page, link: Mapping[str, Any] | None, bodies: Mapping[int, str]) -> Mention:
    if link is None:
        return Mention(source, SafeString(""))
    if link["kind"] == LinkKind.PROPERTY:
        return Mention(source, SafeString(""), link["property"].partition(".")[0])
    place = _place(bodies.get(source.pk, ""), link)
    return Mention(source, _sentence(*place) if place else SafeString(""))


def _place(body: str, link: Mapping[str, Any]) -> tuple[str, int, int, str] | None:
    """The body, where in it the link is, and what it shows."""
    target, alias = link["text"], link["alias"]
    if link["kind"] == LinkKind.MARKDOWN:
        start = body.find(f"[{alias}](")
        end = body.find(")", start + len(alias or "") + 2) + 1
        return (body, start, end, alias or target) if start >= 0 and end else None
    match = re.search(rf"!?\[\[[ \t]*{re.escape(target)}[ \t]*\\?(?:[#|][^\[\]\n]*)?\]\]", body)
    return (body, match.start(), match.end(), alias or target.rpartition("/")[2]) if match else None


def _sentence(body: str, start: int, end: int, shown: str) -> SafeString:
    """The sentence around a link, as text in which the link is marked."""
    before, after = body[max(0, start - _AROUND) : start], body[end : end + _AROUND]
    breaks = list(_BREAK.finditer(before))
    before = before[breaks[-1].end() :] if breaks else before
    if (following := _BREAK.search(after)) is not None:
        after = after[: following.start()]
    rest = plain_text(before.lstrip("\n") + _OPEN + shown.replace("\n", " ") + _CLOSE + after)
    if _OPEN not in rest or _CLOSE not in rest:
        return SafeString("")  # in a table, of which a sentence can't be told
    sentence = rest
    while rest:
        sentence = first_sentence(rest)
        if _CLOSE in sentence:
            break
        rest = rest[len(sentence) :].lstrip()
    return _marked(sentence)


def _marked(sentence: str) -> SafeString:
    before, _, rest = sentence.partition(_OPEN)
    if len(before) > _SHOWN // 2:
        before = "… " + before[-_SHOWN // 2 :].partition(" ")[2]
    shown, _, after = rest.partition(_CLOSE)
    text = f"{escape(before)}<mark>{escape(shown)}</mark>{escape(shorten(after, _SHOWN) if after else '')}"
    return mark_safe(text)  # noqa: S308  (each part is escaped)
