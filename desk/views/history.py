"""GET /read/<path>/history and its parts: versions, two of them beside each other, and the way back."""

from __future__ import annotations

import re
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from desk.rendering.leads import page_address
from desk.views.base import DeskView
from desk.views.reading import head_of
from reviews.admin.display import shown_row
from reviews.services.diff import compare
from vault.errors import ErrorCode, SynapseError
from wiki import services
from wiki.models import Page

MOST_VERSIONS: Final = 200
#: A version by its number, with "d" what its change displaced; or the file as it is now.
_NOW: Final = "now"
_NAME: Final = re.compile(r"([0-9]{1,9})(d?)\Z")


class History(DeskView):
    """The versions of a page, and what lies between two of them."""

    template_name = "desk/history.html"
    section = "read"

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """The list; with ``old`` and ``new`` the two beside each other."""
        page = services.page_at(path, deleted=True)
        old, new = request.GET.get("old"), request.GET.get("new") or _NOW
        context: dict[str, Any] = {**head_of(page), "gone": page.deleted_at is not None}
        if old:
            context |= compared(text_of(page, old), text_of(page, new))
            context |= {"old": _named(old), "new": _named(new)}
            return self.page(context, template="desk/compare.html")
        versions = services.page_history(page, limit=MOST_VERSIONS)
        return self.page({**context, "versions": versions, "full": len(versions) == MOST_VERSIONS})


class Restore(DeskView):
    """GET shows what would change; POST puts a version in the page's place."""

    template_name = "desk/restore.html"
    section = "read"

    def get(self, request: HttpRequest, path: str) -> HttpResponse:
        """The question, with the difference."""
        page = services.page_at(path, deleted=True)
        return self._asked(page, request.GET.get("version", ""))

    def post(self, request: HttpRequest, path: str) -> HttpResponse:
        """Restore, if the page is still what the person saw."""
        page = services.page_at(path, deleted=True)
        self.check_may_write()
        version = request.POST.get("version", "")
        number, displaced = _read(version)
        base = request.POST.get("base") or None
        try:
            done = services.page_restore(
                page=page, version=number, displaced=displaced, base_hash=base, author=self.author
            )
        except SynapseError as error:
            if error.code in (ErrorCode.CONFLICT, ErrorCode.STALE_BASE, ErrorCode.BASE_REQUIRED):
                return self._asked(page, version, refused=error)
            raise
        messages.success(
            request, f"{done.page.title} is what {_named(version)} was. What it replaced is in the history."
        )
        return HttpResponseRedirect(page_address(done.page.path))

    def _asked(self, page: Page, version: str, *, refused: SynapseError | None = None) -> HttpResponse:
        gone = page.deleted_at is not None
        base = "" if gone else services.read_page(page).content_hash
        context = compared("" if gone else text_of(page, _NOW), text_of(page, version))
        return self.page(
            {
                **head_of(page),
                **context,
                "version": version,
                "name": _named(version),
                "base": base,
                "gone": gone,
                "refused": refused,
            },
            status=refused.status if refused else 200,
        )


def text_of(page: Page, name: str) -> str:
    """A version's text by the name that addresses have for it."""
    if name == _NOW:
        return services.read_page(page).data.decode("utf-8", errors="replace")
    number, displaced = _read(name)
    return services.page_version(page, number, displaced=displaced)


def compared(old: str, new: str) -> dict[str, Any]:
    """Two texts beside each other, for the template of the diff."""
    beside = compare(old, new)
    return {
        "rows": [shown_row(row) for row in beside.rows],
        "added": beside.added,
        "removed": beside.removed,
        "cut": beside.cut,
        "equal": old == new,
    }


def _read(name: str) -> tuple[int, bool]:
    match = _NAME.match(name)
    if match is None:
        raise SynapseError(ErrorCode.NOT_FOUND, "There is no such version. Choose one of the page's history.")
    return int(match[1]), bool(match[2])


def _named(name: str) -> str:
    if name == _NOW:
        return "the present page"
    number, displaced = _read(name)
    return f"what stood before version {number}" if displaced else f"version {number}"
