"""GET /read/<path>: one page, rendered, with what lies around it; or another file of the vault."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from desk.around import around
from desk.mentions import linking, mentions
from desk.properties import properties
from desk.rendering import Rendered, draw
from desk.rendering.anchors import heading_id
from desk.rendering.leads import is_picture, page_address, picture_address
from desk.views.base import DeskView
from reviews.models import ReviewItem, Status
from reviews.services.outdated import pages_behind
from vault.errors import ErrorCode, SynapseError
from vault.pages import ParsedPage, parse_page
from vault.paths import classify
from wiki import services
from wiki.models import File, FileKind, Page
from wiki.services.citations import pages_citing

#: Pages that link here, on the page itself and on a page of their own.
MENTIONS: Final = 50
MENTIONS_A_PAGE: Final = 200
_SECTIONS: Final = 200
_CITING: Final = 200
_OFFSET: Final = re.compile(r"[0-9]{1,12}")


class PageView(DeskView):
    """One file of the vault: a page as it reads, a source as it is."""

    template_name = "desk/page.html"
    section = "read"

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """The page, or where it is."""
        kind = classify(path, settings.SYNAPSE_EXCLUDE)
        if kind != "page":
            return self._other(path, kind)
        try:
            page = services.page_at(path, deleted=True)
        except SynapseError as error:
            return self.missing(path, error)
        if page.deleted_at is not None:
            return self.page({"page": page}, status=404, template="desk/gone.html")
        if page.path != path:
            return HttpResponseRedirect(page_address(page.path))
        return self._shown(page)

    def _shown(self, page: Page) -> HttpResponse:
        read = services.read_page(page)
        parsed = parse_page(page.path, read.data)
        drawn = draw(parsed)
        sources = linking(page)
        return self.page(
            {
                **head_of(page),
                "parsed": parsed,
                "drawn": drawn,
                "sections": _contents(drawn),
                "title_id": heading_id(parsed.title),
                "properties": properties(parsed),
                "around": around(page),
                "mentions": mentions(page, sources[:MENTIONS]),
                "mentions_total": len(sources),
                "sources": _sources(parsed, page),
                "ahead": read.content_hash != page.content_hash,
                "decisions": ReviewItem.objects.filter(page=page, status=Status.PENDING).count(),
            }
        )

    def missing(self, path: str, error: SynapseError) -> HttpResponse:
        """A path with no page: perhaps one without its extension, else a search for its name."""
        if error.code is not ErrorCode.PAGE_NOT_FOUND:
            return self.problem(error)
        name = path.rpartition("/")[2]
        name = name[:-3] if name[-3:].lower() == ".md" else name
        return self.page({"path": path, "name": name}, status=404, template="desk/missing.html")

    def _other(self, path: str, kind: str | None) -> HttpResponse:
        """A file that is no page: a source, an attachment; or a page's path without its extension."""
        forms = {path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path)}
        file = File.objects.filter(path__in=forms, deleted_at__isnull=True).first() if kind else None
        if file is None:
            page = Page.objects.live().filter(path__in={f"{form}.md" for form in forms}).first()
            if page is not None:
                return HttpResponseRedirect(page_address(page.path))
            return self.missing(path, SynapseError(ErrorCode.PAGE_NOT_FOUND, ""))
        return self._file(file)

    def _file(self, file: File) -> HttpResponse:
        citing = list(pages_citing(file)[: _CITING + 1])
        shown: dict[str, Any] = {
            "file": file,
            "name": file.path.rpartition("/")[2],
            "crumbs": crumbs(file.path),
            "citing": citing[:_CITING],
            "more_citing": len(citing) > _CITING,
            "behind": pages_behind([file]).get(file.pk, set()) if file.kind == FileKind.SOURCE else set(),
        }
        if is_picture(file.path):
            shown["picture"] = picture_address(file.path)
        elif file.kind == FileKind.SOURCE:
            shown |= self._source(file)
        return self.page(shown, template="desk/file.html")

    def _source(self, file: File) -> dict[str, Any]:
        """The text of a source; drawn, where it is Markdown that is shown from its beginning."""
        given = self.request.GET.get("from", "0")
        offset = int(given) if _OFFSET.fullmatch(given) else 0
        try:
            text = services.read_source(file.path, offset=offset)
        except SynapseError as error:
            return {"trouble": error.message}
        whole = not text["truncated"] and not offset
        if whole and file.path.lower().endswith(".md") and self.request.GET.get("as") != "text":
            return {"source": text, "drawn": draw(parse_page(file.path, text["content"].encode()))}
        return {"source": text}


class MentionsView(DeskView):
    """GET /read/<path>/links: all pages that link to one."""

    template_name = "desk/mentions.html"
    section = "read"

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """A part of the list."""
        page = services.page_at(path)
        part = Paginator(linking(page), MENTIONS_A_PAGE).get_page(request.GET.get("part"))
        shown = mentions(page, list(part.object_list))
        return self.page({**head_of(page), "mentions": shown, "part": part, "mentions_total": part.paginator.count})


def head_of(page: Page) -> dict[str, Any]:
    """What the head of each page about a page shows."""
    return {"page": page, "address": page_address(page.path), "crumbs": crumbs(page.path)}


def crumbs(path: str) -> list[str]:
    """The folders of a path."""
    return path.split("/")[:-1]


def _contents(drawn: Rendered) -> list[Any]:
    """The table of contents; none for a page that has hardly a heading."""
    return drawn.sections[:_SECTIONS] if len(drawn.sections) > 2 else []


def _sources(parsed: ParsedPage, page: Page) -> list[dict[str, str]]:
    """The sources that a page names: with an address, where they are files of the vault, and what to know of each."""
    files = {file.path: file for file in File.objects.filter(path__in=parsed.sources, deleted_at__isnull=True)}
    known = files.keys() | set(Page.objects.live().filter(path__in=parsed.sources).values_list("path", flat=True))
    behind = pages_behind(files.values())
    found = []
    for source in parsed.sources:
        address = page_address(source) if source in known else ""
        if source.startswith(("https://", "http://")):
            address = source
        hint = "" if address or "/" not in source else "not in the vault"
        if source in files and page.pk in behind.get(files[source].pk, ()):
            hint = "changed since this page was written"
        found.append({"text": source, "address": address, "hint": hint})
    return found
