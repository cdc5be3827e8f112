"""Accounts and groups in the admin's theme."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from wiki import audit
from wiki.admin.who import person

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    _Themed = ModelAdmin[Any]
    _UserAdmin = DjangoUserAdmin[User]
else:
    from unfold.admin import ModelAdmin as _Themed

    _UserAdmin = DjangoUserAdmin

admin.site.unregister(User)
admin.site.unregister(Group)


class _Noted:
    """Audit rows for what is done to accounts and groups, passwords included, where Django notes it too."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """One was made."""
        _note(request, "added", [obj])
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """One was changed."""
        _note(request, "changed", [obj])
        return super().log_change(request, obj, message)  # type: ignore[misc]

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Some are being deleted."""
        _note(request, "deleted", queryset)
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def _note(request: HttpRequest, what: str, accounts: Iterable[Any]) -> None:
    for account in accounts:
        detail = {"what": what, "kind": account._meta.model_name, "name": str(account)[:150]}
        audit.record(action="account", author=person(request), detail=detail)


@admin.register(User)
class UserAdmin(_Noted, _UserAdmin, _Themed):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(_Noted, DjangoGroupAdmin, _Themed):
    pass
