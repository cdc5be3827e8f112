"""A page at its three lengths, as agents get it, with what each costs them."""

from __future__ import annotations

from typing import Any, Final

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from wiki.admin.display import visible
from wiki.models import AtomRow, Page

#: Characters of a level that are shown; an agent gets all of it.
MAX_CHARACTERS: Final = 20_000


def shown_levels(page: Page) -> str | SafeString:
    """The levels of a page: id, tokens, words. Deleted and reserved pages have none."""
    row = AtomRow.objects.filter(page=page.pk).first()
    if row is None:
        return "None: agents do not get this page by its levels."
    # They bring numpy, which no web process should hold from its start.
    from wiki.prime.atoms.levels import Level
    from wiki.prime.atoms.reading import atoms, level_texts

    atom = atoms().by_pk.get(page.pk)
    full = level_texts([page.pk], Level.FULL).get(page.pk, "")
    texts = [
        (Level.SUMMARY, row.tokens_summary, row.summary),
        (Level.CORE, row.tokens_core, row.core),
        (Level.FULL, row.tokens_full, full),
    ]
    context: dict[str, Any] = {
        "id": visible(atom.id) if atom else "",
        "quality": row.quality,
        "failed": ", ".join(row.failed),
        "levels": [
            {
                "name": str(level),
                "tokens": tokens,
                "text": _lines(text[:MAX_CHARACTERS]),
                "more": max(0, len(text) - MAX_CHARACTERS),
            }
            for level, tokens, text in texts
        ],
    }
    return render_to_string("wiki/admin/levels.html", context)


def _lines(text: str) -> str:
    """The text with its lines and tabs, and all else that is not seen written out."""
    return "\n".join("\t".join(visible(part) for part in line.split("\t")) for line in text.split("\n"))
