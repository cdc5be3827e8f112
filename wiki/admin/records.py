"""What was done and what is to be done: audit, jobs, the state of the vault."""

from __future__ import annotations

from django.contrib import admin

from wiki.admin.base import ReadOnlyAdmin
from wiki.admin.display import text_column
from wiki.models import Audit, Job, VaultState


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    list_display = ["at", "shown_actor", "door", "action", "shown_path"]
    list_filter = ["action", "door"]
    search_fields = ["path", "actor"]
    search_help_text = "path or actor"

    shown_actor = text_column("actor")
    shown_path = text_column("path")


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = ["id", "kind", "key", "state", "attempts", "run_after", "started_at", "finished_at"]
    list_filter = ["kind", ("finished_at", admin.EmptyFieldListFilter)]
    ordering = ["-id"]

    @admin.display(description="state")
    def state(self, job: Job) -> str:
        """Whether it waits, runs, failed or is done."""
        if job.finished_at:
            return "failed" if "failed" in job.outcome else "done"
        return "running" if job.started_at else "waiting"


@admin.register(VaultState)
class VaultStateAdmin(ReadOnlyAdmin):
    list_display = ["vault_id", "data_version", "scanning", "last_scan_at"]
    fields = ["vault_id", "data_version", "scanning", "last_scan_at", "last_scan"]
