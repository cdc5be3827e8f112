"""Tokens: made here and shown once, revoked here, never changed and never shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html

from vault.errors import SynapseError
from wiki.admin.display import visible
from wiki.admin.revoking import RevokingAdmin
from wiki.admin.who import person
from wiki.authentication import scopes_of
from wiki.models import Scope, Token
from wiki.tokens import check_new_token, create_token, revoke_tokens

if TYPE_CHECKING:
    _TokenModelForm = forms.ModelForm[Token]
else:
    _TokenModelForm = forms.ModelForm


class TokenForm(_TokenModelForm):
    """What a new token is to be; the checks are those of :func:`wiki.tokens.create_token`."""

    class Meta:
        model = Token
        fields = ["name", "scope", "expires_at"]
        help_texts = {
            "name": "who or what will use it; history shows it",
            "scope": "each includes the one before",
            "expires_at": "leave it empty for a token that lasts until it is revoked",
        }

    def clean(self) -> dict[str, Any]:
        """Refuse what :mod:`wiki.tokens` refuses."""
        given: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                check_new_token(name=given["name"], scope=given["scope"], expires=given["expires_at"])
            except SynapseError as error:
                raise forms.ValidationError(error.message) from None
        return given


@admin.register(Token)
class TokenAdmin(RevokingAdmin):
    when_empty = "A token lets an agent in over HTTP. To make one:"
    command_when_empty = ".venv/bin/python manage.py token create laptop --scope read"
    list_display = ["name", "prefix", "scope", "state", "user", "created_at", "last_used_at", "expires_at"]
    list_filter = ["scope", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["name", "prefix"]
    search_help_text = "name or first characters"
    fields = ["name", "prefix", "scope", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
    revoke_title = "Revoke tokens"
    revoke_question = "Revoke these tokens? Whoever uses them is refused from then on. It can't be undone."

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever may add tokens makes them for themselves, with no more than they may do."""
        return request.user.has_perm("wiki.add_token")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The form of a new token, with the scopes that its maker has; else what there is to see."""
        if obj is not None:
            return super().get_form(request, obj, change, **options)
        form = super().get_form(request, obj, change, **{**options, "form": TokenForm, "fields": TokenForm.Meta.fields})
        own = scopes_of(request.user)
        scope_field: Any = form.base_fields["scope"]
        scope_field.choices = [(scope.value, scope.label) for scope in Scope if scope in own]
        return form

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A new token has a name, a scope and an end; the rest comes by itself."""
        return self.fields if obj is not None else TokenForm.Meta.fields

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        """Make the token, for the person who asked, and show it this once."""
        given = form.cleaned_data
        token, raw = create_token(
            name=given["name"],
            scope=given["scope"],
            expires=given["expires_at"],
            author=person(request),
            user=request.user,  # type: ignore[arg-type]  # staff, since this is the admin
        )
        obj.__dict__.update(token.__dict__)
        shown = format_html("Shown once, keep it: <code>{}</code>", raw)
        self.message_user(request, shown, messages.WARNING)

    @admin.display(description="state")
    def state(self, token: Token) -> str:
        """Whether it can be used."""
        if token.revoked_at:
            return "revoked"
        return "expired" if token.expires_at and token.expires_at <= timezone.now() else "in force"

    def named(self, row: Token) -> str:
        """Its name, its first characters and its scope."""
        return f"{visible(row.name)} ({row.prefix}…, {row.scope})"

    def has_ended(self, row: Token) -> bool:
        """Whether it is revoked."""
        return row.revoked_at is not None

    def revoke(self, request: HttpRequest, rows: QuerySet[Token]) -> int:
        """End these tokens."""
        return revoke_tokens(pks=rows.values_list("pk", flat=True), author=person(request))
