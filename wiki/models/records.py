"""What is not made from the vault's files: tokens, who did what, work that waits, requests and their answers."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils import timezone


class Scope(models.TextChoices):
    """What a token may do; each includes the one before."""

    READ = "read"
    PROPOSE = "propose"
    WRITE = "write"


class Token(models.Model):
    """A static bearer token. Shown once; only its digest is kept."""

    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True, help_text="sha256 of the token, hex")
    prefix = models.CharField(max_length=12, help_text="first characters, to tell tokens apart")
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name


class Audit(models.Model):
    """Who changed what, through which door."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.CharField(max_length=120)
    door = models.CharField(max_length=12, help_text="rest, mcp-stdio, mcp-http, admin, command, scan")
    action = models.CharField(max_length=24, help_text="write, delete, move, retitle, restore, …")
    page_uid = models.UUIDField(null=True, blank=True, db_index=True)
    path = models.TextField(blank=True, default="")
    before_hash = models.CharField(max_length=64, blank=True, default="")
    after_hash = models.CharField(max_length=64, blank=True, default="")
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.path}"


class Job(models.Model):
    """Work to be done, as a row: a lost message costs delay, never data."""

    kind = models.CharField(max_length=24, help_text="rescan, catalog, …")
    key = models.CharField(max_length=80, blank=True, default="", help_text="same kind and key: one waiting row")
    payload = models.JSONField(default=dict, blank=True)
    run_after = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    outcome = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key"],
                condition=Q(started_at__isnull=True, finished_at__isnull=True),
                name="one_waiting_job",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}".strip()


class IdempotencyKey(models.Model):
    """One request that a caller may send again: what it was, and what it was answered.

    The row is there before the request has any effect. Its answer is a copy of what the caller was sent, page
    contents included, kept for a day (:mod:`wiki.idempotency`).
    """

    slot = models.CharField(
        max_length=64, unique=True, editable=False, help_text="sha256 hex of caller, method, path and key"
    )
    caller = models.CharField(max_length=40, help_text="token:<row> or user:<row>")
    method = models.CharField(max_length=8)
    path = models.TextField(help_text="without a slash at its end, with its query; at most 500 characters")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, help_text="sha256 hex of what shapes the effect: body and conditions")
    run = models.UUIDField(help_text="who carries it out, or has")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    alive_at = models.DateTimeField(default=timezone.now, help_text="when its run last gave a sign of life")
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="null until it is answered")
    headers = models.JSONField(default=dict, blank=True, help_text="those of the answer that are replayed")
    body = models.BinaryField(null=True, blank=True, help_text="null where it was too large to keep")

    def __str__(self) -> str:
        return f"{self.method} {self.path}"
