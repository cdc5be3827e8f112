"""What the MCP surface keeps in the database: which tools were called, and how that ended."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Outcome(models.TextChoices):
    """How a call of a tool ended."""

    OK = "ok"
    STRUCTURED_ERROR = "structured_error"
    EXCEPTION = "exception"
    TIMEOUT = "timeout"


class ToolCall(models.Model):
    """One call of a tool. Never a token, a page's text or what was proposed (:mod:`mcpapi.telemetry`)."""

    at = models.DateTimeField(default=timezone.now, db_index=True)
    tool = models.CharField(max_length=64, help_text="as it was asked for: also an old name, or none that there is")
    resolved = models.CharField("resolved tool", max_length=64, blank=True, default="", help_text="the tool that ran")
    profile = models.CharField(max_length=8, help_text="stdio or http")
    client = models.CharField(max_length=120, help_text="the caller, as history names it")
    params = models.JSONField(default=dict, blank=True, help_text="texts as length and sha256, long lists cut")
    latency_ms = models.FloatField("latency", help_text="milliseconds")
    outcome = models.CharField(max_length=20, choices=Outcome.choices)
    error_code = models.CharField(max_length=32, blank=True, default="")
    results = models.PositiveIntegerField(null=True, blank=True, help_text="how many; null where it is no list")
    tokens = models.PositiveIntegerField(help_text="of the answer, approximately: characters / 4")
    is_test = models.BooleanField(default=False, help_text="SYNAPSE_TELEMETRY_IS_TEST was set")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.tool} {self.outcome}"
