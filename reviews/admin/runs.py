"""Research runs: what was handed on, who has it, and what came of it."""

from __future__ import annotations

from django.contrib import admin

from reviews.models import ResearchRun
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import text_column


@admin.register(ResearchRun)
class ResearchRunAdmin(ReadOnlyAdmin):
    when_empty = "A run begins when somebody hands an item of the queue on to research."
    list_display = ["shown_topic", "status", "shown_claimed_by", "lease_until", "attempts", "shown_page", "created_at"]
    list_filter = ["status", "backend"]
    search_fields = ["topic", "page_path"]
    search_help_text = "topic or page"
    ordering = ["-created_at", "id"]
    fields = [
        "topic",
        "queries",
        "backend",
        "status",
        "claimed_by",
        "lease_until",
        "attempts",
        "page",
        "page_path",
        "note",
        "created_at",
        "finished_at",
    ]

    shown_topic = text_column("topic")
    shown_claimed_by = text_column("claimed_by")
    shown_page = text_column("page_path", "page")
