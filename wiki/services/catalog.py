"""wiki/index.md: what there is, section by section. Made by code, for people and agents to read.

Like wiki/log.md it carries a mark in its frontmatter (see wiki.services.generated). A file of that name without it is
the user's and never rewritten. Remove the file, or the mark, to change whose it is. Scans never write it.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from vault import writer
from vault.current import current_vault
from vault.links import render_wikilink, writable_target
from wiki import jobs
from wiki.models import Page, PageType
from wiki.services.generated import AUTHOR, MARK, index_if_ours, is_ours, standing
from wiki.services.identity import uid_at
from wiki.services.logbook import LOG_PATH
from wiki.services.rules import in_write_dirs

INDEX_PATH: Final = "wiki/index.md"
DELAY_SECONDS: Final = 1.5
_SUMMARY: Final = 120
_HEADINGS: Final = {
    PageType.ENTITY: "Entities",
    PageType.CONCEPT: "Concepts",
    PageType.SOURCE: "Sources",
    PageType.SYNTHESIS: "Synthesis",
    PageType.COMPARISON: "Comparisons",
}
_REST: Final = "Other pages"
_HEAD: Final = f"---\ntitle: Index\n{MARK}---\n"


def request() -> None:
    """Have index.md made again within two seconds; call it in the transaction of the change."""
    if not settings.SYNAPSE_READ_ONLY:
        jobs.enqueue("catalog", delay=DELAY_SECONDS)


def request_if_kept() -> None:
    """As :func:`request`, where index.md is there and ours: a change that was cut short may be missing in it."""
    before = standing(INDEX_PATH)
    if before is not None and is_ours(before.data):
        request()


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``catalog`` jobs."""
    del payload
    return {"written": write_index(), "log": index_if_ours(LOG_PATH)}


def render_index() -> str:
    """The text of index.md: a section a type, a line a page, by title. The same pages give the same bytes.

    Pages of no type are listed only where agents may write: a vault of thousands of notes of other kinds would
    drown the wiki's own.
    """
    fields = ("type", "path", "title", "summary")
    rows = Page.objects.listed().values_list(*fields)
    shown = [row for row in rows if row[0] or in_write_dirs(row[1])]
    order = [*PageType.values, None]
    shown.sort(key=lambda row: (order.index(row[0]), row[2].casefold(), row[2], row[1]))
    parts = [_HEAD]
    for kind, pages in groupby(shown, key=lambda row: row[0]):
        parts.append(f"\n## {_HEADINGS[PageType(kind)] if kind else _REST}\n\n")
        parts.extend(_line(path, title, summary) for _, path, title, summary in pages)
    return "".join(parts)


def _line(path: str, title: str, summary: str) -> str:
    sentence = _shortened(summary)
    return f"- {_link(path, title)}{' — ' + sentence if sentence else ''}\n"


def _link(path: str, title: str) -> str:
    target = path[:-3] if path.endswith(".md") else path
    if writable_target(target):
        return render_wikilink(target, alias=title)
    label = " ".join(title.split()).replace("[", "(").replace("]", ")")
    return f"[{label}]({quote(path)})"  # a name with # or | can't stand in a wikilink


def _shortened(summary: str) -> str:
    """At most 120 characters of one line, cut between words, without what would be read as a link."""
    text = " ".join(summary.replace("[[", "[ [").replace("](", "] (").split())
    if len(text) <= _SUMMARY:
        return text
    cut = text[: _SUMMARY - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(" ,;:") + "…"


def write_index() -> bool:
    """Make wiki/index.md again if the pages say something else than it does; True if it was written.

    A file that is the user's stays as it is, and what somebody saves at the same moment is not written over
    (``conflict``).
    """
    if settings.SYNAPSE_READ_ONLY:
        return False
    vault = current_vault()
    with vault.lock("catalog"):
        before = standing(INDEX_PATH)
        if before and not is_ours(before.data):
            return False
        data = render_index().encode("utf-8", "replace")
        if before and before.data == data:
            index_if_ours(INDEX_PATH)
            return False
        uid = uid_at(INDEX_PATH)
        if before:
            writer.replace(
                vault,
                INDEX_PATH,
                data,
                expected_hash=before.content_hash,
                page_id=uid,
                author=AUTHOR,
                record=False,
            )
        else:
            writer.create(vault, INDEX_PATH, data, page_id=uid, author=AUTHOR, record=False)
        index_if_ours(INDEX_PATH)
    return True
