"""Calls of tools, to look at: which, by whom, how long, and how they ended."""

from __future__ import annotations

import json

from django.contrib import admin

from mcpapi.models import ToolCall
from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import text_column, visible


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnlyAdmin):
    when_empty = "Each call of a tool by an agent is noted here."
    list_display = ["at", "shown_tool", "shown_client", "outcome", "error_code", "latency", "results", "tokens"]
    list_filter = ["outcome", "resolved", "error_code", "profile", "is_test"]
    search_fields = ["tool", "client"]
    search_help_text = "tool or client"
    date_hierarchy = "at"
    fields = [
        "at",
        "tool",
        "resolved",
        "profile",
        "client",
        "shown_params",
        "latency",
        "outcome",
        "error_code",
        "results",
        "tokens",
        "is_test",
    ]
    readonly_fields = ["shown_params", "latency"]

    shown_tool = text_column("tool")
    shown_client = text_column("client")

    @admin.display(description="latency (ms)", ordering="latency_ms")
    def latency(self, call: ToolCall) -> str:
        """Milliseconds from the call's arrival to its answer."""
        return f"{call.latency_ms:,.1f}"

    @admin.display(description="arguments")
    def shown_params(self, call: ToolCall) -> str:
        """What is kept of the arguments, as JSON."""
        return visible(json.dumps(call.params, ensure_ascii=False))
