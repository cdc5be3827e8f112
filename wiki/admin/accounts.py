"""Accounts and groups in the admin's theme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    _Themed = ModelAdmin[Any]
    _UserAdmin = DjangoUserAdmin[User]
else:
    from unfold.admin import ModelAdmin as _Themed

    _UserAdmin = DjangoUserAdmin

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(_UserAdmin, _Themed):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, _Themed):
    pass
