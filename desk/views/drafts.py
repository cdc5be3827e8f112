"""GET /drafts and its parts: texts that met a newer version, to be applied or discarded."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from desk.rendering.leads import page_address
from desk.views.base import DeskView
from desk.views.history import compared
from vault.errors import ErrorCode, SynapseError
from wiki import services


class Drafts(DeskView):
    """All drafts."""

    template_name = "desk/drafts.html"
    section = "drafts"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The list, newest first."""
        return self.page({"drafts": services.draft_list()})


class Draft(DeskView):
    """One draft beside its page: GET shows, POST applies or discards."""

    template_name = "desk/draft.html"
    section = "drafts"

    def get(self, request: HttpRequest, draft_id: str) -> HttpResponse:
        """The draft beside what the page holds now."""
        return self._shown(draft_id)

    def post(self, request: HttpRequest, draft_id: str) -> HttpResponse:
        """Write it over the page, if that is still what the person saw, or forget it."""
        self.check_may_write()
        if request.POST.get("do") == "discard":
            services.draft_drop(draft_id=draft_id, author=self.author)
            messages.success(request, "The draft is discarded.")
            return HttpResponseRedirect(reverse("desk:drafts"))
        try:
            done = services.draft_apply(
                draft_id=draft_id, base_hash=request.POST.get("base") or None, author=self.author
            )
        except SynapseError as error:
            if error.code in (ErrorCode.CONFLICT, ErrorCode.STALE_BASE, ErrorCode.BASE_REQUIRED):
                return self._shown(draft_id, refused=error)
            raise
        messages.success(request, f"The draft is {done.page.title} now. What it replaced is in the history.")
        return HttpResponseRedirect(page_address(done.page.path))

    def _shown(self, draft_id: str, *, refused: SynapseError | None = None) -> HttpResponse:
        draft = services.draft_text(draft_id=draft_id)
        context: dict[str, Any] = {"draft": draft, "refused": refused}
        try:
            page = services.page_of_draft(draft_id=draft_id)
            read = services.read_page(page)
        except SynapseError as error:
            context |= {"absent": error.message, **compared("", draft["text"])}
        else:
            context |= {"page": page, "base": read.content_hash, "moved_on": read.content_hash != draft["base_hash"]}
            context |= compared(read.data.decode("utf-8", errors="replace"), draft["text"])
        return self.page(context, status=refused.status if refused else 200)
