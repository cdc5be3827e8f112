"""Tokens: made here and shown once, revoked here, never changed and never shown again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action

from vault.errors import SynapseError
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.who import person
from wiki.authentication import scopes_of
from wiki.models import Scope, Token
from wiki.tokens import check_new_token, create_token, revoke_tokens

if TYPE_CHECKING:
    _TokenModelForm = forms.ModelForm[Token]
else:
    _TokenModelForm = forms.ModelForm

CONFIRMED = "confirmed"


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
class TokenAdmin(ReadOnlyAdmin):
    list_display = ["name", "prefix", "scope", "state", "user", "created_at", "last_used_at", "expires_at"]
    list_filter = ["scope", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["name", "prefix"]
    search_help_text = "name or first characters"
    fields = ["name", "prefix", "scope", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
    actions = ["revoke_selected"]
    actions_row = ["revoke_one"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever may add tokens makes them for themselves, with no more than they may do."""
        return request.user.has_perm("wiki.add_token")

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may change tokens may revoke them."""
        return request.user.has_perm("wiki.change_token")

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

    @admin.action(description="Revoke selected tokens", permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[Token]) -> HttpResponse | None:
        """Ask about the tokens that were ticked; once confirmed, revoke those that were named."""
        if CONFIRMED not in request.POST:
            return self._confirmation(request, queryset)
        count = revoke_tokens(pks=queryset.values_list("pk", flat=True), author=person(request))
        self.message_user(request, f"{count} revoked." if count else "They were revoked already.", messages.SUCCESS)
        return None

    @action(description="Revoke", permissions=["revoke"])  # type: ignore[untyped-decorator]
    def revoke_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask about one token: a link only leads to the question, so that no other site can have it followed."""
        return self._confirmation(request, Token.objects.filter(pk=object_id))

    def _confirmation(self, request: HttpRequest, tokens: Iterable[Token]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": "Revoke tokens",
            "opts": self.opts,
            "tokens": tokens,
            "checkbox": ACTION_CHECKBOX_NAME,
            "confirmed": CONFIRMED,
        }
        return TemplateResponse(request, "wiki/admin/revoke_tokens.html", context)
