"""Clients and their tokens, in the admin: what may act for whom, and an end to it. No secret is ever shown twice.

The toolkit registers these classes, by their names in the settings.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from oauth2_provider.models import (
    AbstractApplication,
    get_application_model,
    revoke_access_token,
)

from mcpapi.oauth.clients import digest_of_secret, fault_in_name
from mcpapi.oauth.noting import note
from mcpapi.oauth.redirects import fault_in_all
from mcpapi.oauth.tokens import end_all_of
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import text_column, visible
from wiki.admin.revoking import RevokingAdmin
from wiki.admin.who import person

Application = get_application_model()

if TYPE_CHECKING:
    _ClientModelForm = forms.ModelForm[Model]
else:
    _ClientModelForm = forms.ModelForm


class ClientForm(_ClientModelForm):
    """A client that a person makes, for a program that can't register by itself."""

    class Meta:
        model = Application
        fields = ["name", "redirect_uris", "client_type"]
        help_texts = {
            "name": "shown to whoever is asked to let it in",
            "redirect_uris": "where answers may go, separated by spaces: https://claude.ai/api/mcp/auth_callback",
            "client_type": "confidential clients have a secret, which is shown once",
        }

    def clean(self) -> dict[str, Any]:
        """Refuse what a client that registers by itself is refused."""
        given: dict[str, Any] = super().clean() or {}
        if fault := fault_in_all(given.get("redirect_uris", "").split()):
            self.add_error("redirect_uris", fault)
        if fault := fault_in_name(given.get("name", "")):
            self.add_error("name", fault)
        return given


class Revoking(RevokingAdmin):
    """Rows that are looked at, and ended by whoever may change them."""

    revoke_question = "Revoke these? The client is refused from then on, until the person lets it in again."
    list_select_related: ClassVar[bool | list[str] | tuple[str, ...]] = ["application", "user"]
    search_fields = ["application__name", "application__client_id", "user__username"]
    search_help_text = "client or user"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes them here; they go with their client or their person, whoever may delete those."""
        here = f"{self.opts.app_label}_{self.opts.model_name}_"
        return obj is not None and not str(getattr(request.resolver_match, "url_name", here)).startswith(here)

    def revoke(self, request: HttpRequest, rows: QuerySet[Any]) -> int:
        """End these; how many there were."""
        found = list(rows)
        for row in found:
            self.end(row)
            note("revoke-client", getattr(row, "application", row), person(request))
        return len(found)

    def end(self, row: Any) -> None:
        """End one."""
        row.delete()

    def named(self, row: Any) -> str:
        """Which client acts for whom, and since when. A code or a token is never its own name."""
        client = visible(row.application.name or row.application.client_id)
        return f"{client} for {row.user}, since {row.created:%Y-%m-%d %H:%M}"


class ClientAdmin(Revoking):
    list_display = ["shown_name", "client_id", "registration_source", "client_type", "created", "updated"]
    list_filter = ["registration_source", "client_type"]
    list_select_related = False
    revoke_question = "Revoke all that these clients hold: codes and tokens? Each may ask to be let in again."
    search_fields = ["name", "client_id"]
    search_help_text = "name or client id"
    fields = ["name", "client_id", "redirect_uris", "client_type", "registration_source", "created", "updated"]

    shown_name = text_column("name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever may add clients makes them for programs that can't register."""
        return request.user.has_perm("oauth2_provider.add_application")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may delete clients ends all that they hold, too."""
        return request.user.has_perm("oauth2_provider.delete_application")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """End the client and all that it holds."""
        note("delete-client", obj, person(request))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """End several."""
        for client in queryset:
            note("delete-client", client, person(request))
        super().delete_queryset(request, queryset)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The form of a new client; else what there is to see."""
        if obj is None:
            options = {**options, "form": ClientForm, "fields": ClientForm.Meta.fields}
        return super().get_form(request, obj, change, **options)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A new client has a name, addresses and a kind; the rest comes by itself."""
        return self.fields if obj is not None else ClientForm.Meta.fields

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Make the client, and show its secret this once."""
        is_public = obj.client_type == AbstractApplication.CLIENT_PUBLIC
        secret = "" if is_public else secrets.token_urlsafe(32)
        obj.authorization_grant_type = AbstractApplication.GRANT_AUTHORIZATION_CODE
        obj.hash_client_secret = False
        obj.client_secret = digest_of_secret(secret) if secret else ""
        super().save_model(request, obj, form, change)
        note("register", obj, person(request))
        shown = format_html("Client id <code>{}</code>", obj.client_id)
        if secret:
            shown = format_html("{}, secret, shown once: <code>{}</code>", shown, secret)
        self.message_user(request, shown, messages.WARNING)

    def named(self, row: Any) -> str:
        """Its name and its id."""
        return f"{visible(row.name) or '-'} ({visible(row.client_id)})"

    def end(self, row: Any) -> None:
        """End all tokens of the client; the client stays."""
        end_all_of(row)


class AccessTokenAdmin(Revoking):
    list_display = ["id", "application", "user", "scope", "created", "expires"]
    fields = ["application", "user", "scope", "resource", "created", "expires"]

    def end(self, row: Any) -> None:
        """End the token, and the refresh token that came with it."""
        revoke_access_token(row)


class RefreshTokenAdmin(Revoking):
    list_display = ["id", "application", "user", "state", "created", "revoked"]
    fields = ["application", "user", "resource", "created", "revoked"]

    def has_ended(self, row: Any) -> bool:
        """Whether it was used or revoked."""
        return row.revoked is not None

    @admin.display(description="state")
    def state(self, token: Any) -> str:
        """Whether it can be used; one that was used is kept, so that its reuse is found out."""
        return "used or revoked" if token.revoked else "in force"

    def end(self, row: Any) -> None:
        """End the token, and the access token that came with it."""
        row.revoke()


class CodeAdmin(Revoking):
    list_display = ["id", "application", "user", "scope", "state", "expires"]
    fields = ["application", "user", "redirect_uri", "scope", "resource", "created", "expires"]

    @admin.display(description="state")
    def state(self, code: Any) -> str:
        """Whether it can be exchanged."""
        return "expired" if code.expires <= timezone.now() else "in force"


class UnusedAdmin(ReadOnlyAdmin):
    """What the toolkit has and this server does not use."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Not listed."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Not shown."""
        return False
