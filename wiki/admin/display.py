"""How names and short lists from the vault are shown, so that nothing in them can pass for something else."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from operator import attrgetter
from typing import Any, Final, TypeVar

from django.conf import settings
from django.contrib import admin
from django.db.models import Model
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from wiki.models import Page

#: Controls, formats (bidi, zero-width), surrogates, private use, unassigned, and separators of lines.
_UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_NONE: Final = "-"
_Row = TypeVar("_Row", bound=Model)


def visible(text: str) -> str:
    """The text, with each character that is not seen or turns its neighbours round written out: ``\\u202e``."""
    return "".join(
        character.encode("unicode_escape").decode() if unicodedata.category(character) in _UNSEEN else character
        for character in text
    )


def text_column(field: str, label: str = "") -> Callable[[Any, Model], str]:
    """A column that shows a text field of the row (``source__title``: of a related row) as :func:`visible` does."""
    read = attrgetter(field.replace("__", "."))

    @admin.display(description=label or field.rpartition("__")[2].replace("_", " "), ordering=field)
    def column(self: Any, row: Model) -> str:
        return visible(read(row) or "") or _NONE

    return column


def as_stored(row: _Row) -> _Row:
    """The row with its texts as they are: on its own page they are written for the eye."""
    stored: _Row = row.__dict__.get("_stored", row)
    return stored


def once(column: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Work a field out once for a row: the theme asks for it several times while it draws one form."""

    @wraps(column)
    def kept(self: Any, row: Model) -> Any:
        known: dict[str, Any] = row.__dict__.setdefault("_shown", {})
        if column.__name__ not in known:
            known[column.__name__] = column(self, row)
        return known[column.__name__]

    return kept


def page_link(page: Page) -> SafeString:
    """A link to the page's own page in the admin."""
    return format_html('<a href="{}">{}</a>', reverse("admin:wiki_page_change", args=[page.pk]), visible(page.title))


def ways(page: Page) -> SafeString:
    """Links to where the page is read and to its versions; one whose file is gone has its versions alone."""
    return links((page.get_absolute_url(), "Read"), (reverse(settings.PAGE_HISTORY_URL, args=[page.path]), "History"))


def links(*shown: tuple[str, str]) -> SafeString:
    """Links, ``(address, text)``, beside each other; those without an address are left out."""
    return format_html_join(" · ", '<a href="{}">{}</a>', (link for link in shown if link[0]))


def table(headers: Sequence[str], rows: Iterable[Sequence[str | SafeString | int]], *, total: int = 0) -> SafeString:
    """A small table inside a form; ``total`` tells how many rows there are where not all are given."""
    shown = list(rows)
    rest = f"{total - len(shown):,} more" if total > len(shown) else ""
    if rest:
        shown.append((rest, *("" for _ in headers[1:])))
    return render_to_string("unfold/components/table.html", {"table": {"headers": headers, "rows": shown}})
