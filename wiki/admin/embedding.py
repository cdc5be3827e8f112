"""How far embedding is, and the two buttons that pause it and let it go on."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from wiki.admin.base import ReadOnlyAdmin
from wiki.embedding.progress import in_words, progress
from wiki.embedding.state import pause, resume
from wiki.models import EmbeddingState


@admin.register(EmbeddingState)
class EmbeddingStateAdmin(ReadOnlyAdmin):
    list_display = ["model_id", "dim", "paused", "how_far"]
    fields = ["model_id", "dim", "paused", "how_far", "last_error", "generation"]
    readonly_fields = ["how_far"]
    actions = ["pause_embedding", "resume_embedding"]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Whoever may change the state may pause it."""
        return request.user.has_perm("wiki.change_embeddingstate")

    @admin.display(description="how far")
    def how_far(self, state: EmbeddingState) -> str:
        """In a sentence."""
        return in_words(progress())

    @admin.action(description="Pause embedding", permissions=["operate"])
    def pause_embedding(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Stop after the passages in hand, in every process."""
        said = "Paused. Pages are found by the vectors that there are." if pause() else "It was paused already."
        self.message_user(request, said, messages.SUCCESS)

    @admin.action(description="Let embedding go on", permissions=["operate"])
    def resume_embedding(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Go on."""
        self.message_user(request, "It goes on." if resume() else "It was not paused.", messages.SUCCESS)
