"""What all views of the desk have in common: staff only, one frame, and failures told as pages."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.generic import View

from reviews.models import ReviewItem, Status
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.authentication import actor_name
from wiki.models import Scope
from wiki.tokens import includes, scope_of_person

#: The door's name in history and audit.
DOOR = "desk"


class DeskView(View):
    """A page for staff. ``section`` is the entry of the bar that it belongs to."""

    template_name: ClassVar[str] = ""
    section: ClassVar[str] = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The view's answer; strangers are asked to sign in and come back, failures are told in words."""
        if not admin.site.has_permission(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        try:
            response = super().dispatch(request, *args, **kwargs)
        except SynapseError as error:
            response = self.problem(error)
        response.setdefault("Cache-Control", "no-cache, private")
        return response

    def page(self, context: dict[str, Any], *, status: int = 200, template: str = "") -> HttpResponse:
        """The view's template in the frame of the desk."""
        frame = {
            "section": self.section,
            "waiting": ReviewItem.objects.filter(status=Status.PENDING).count(),
            "may_write": self.may_write,
        }
        return render(self.request, template or self.template_name, {**frame, **context}, status=status)

    def problem(self, error: SynapseError) -> HttpResponse:
        """A page that says what went wrong and what to do, as the catalog has it."""
        return self.page({"problem": error}, status=error.status, template="desk/problem.html")

    @property
    def may_write(self) -> bool:
        """Whether this person may change pages; the services are asked again when it comes to it."""
        return includes(scope_of_person(self.request.user), Scope.WRITE)

    def check_may_write(self) -> None:
        """Refuse (``forbidden``) what only those may do who may change pages."""
        if not self.may_write:
            raise SynapseError(ErrorCode.FORBIDDEN, "Your account may read here, and not change pages.")

    @property
    def author(self) -> Author:
        """Who makes a change here, for history and audit."""
        return Author(name=actor_name(self.request.user), door=DOOR)
