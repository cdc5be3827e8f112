"""Asking for a scan without waiting for it: one waits or runs at a time, and never a full one."""

from __future__ import annotations

from typing import Any

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import deadlines, jobs
from wiki.models import Job
from wiki.sync import scan, scan_problem


def request_rescan() -> dict[str, Any]:
    """Have the vault scanned for changes soon.

    Returns ``started`` (a job was made now), ``job`` (its number, or that of the one that waits or runs already;
    null while a scan runs that no job started) and ``running`` (a scan is at work this moment). Raises
    ``storage_error`` for a root that is missing or empty, or is not the vault that was indexed.
    """
    if problem := scan_problem(current_vault()):
        raise SynapseError(ErrorCode.STORAGE_ERROR, problem)
    running = scan_is_running()
    if running:
        begun = Job.objects.filter(kind="rescan", started_at__isnull=False, finished_at__isnull=True).last()
        return {"started": False, "job": begun.pk if begun else None, "running": True}
    waiting = Job.objects.filter(kind="rescan", started_at__isnull=True, finished_at__isnull=True)
    before = waiting.first()
    if before:
        return {"started": False, "job": before.pk, "running": False}
    deadlines.lift()
    jobs.enqueue("rescan")
    made = waiting.first()
    return {"started": True, "job": made.pk if made else None, "running": False}


def scan_is_running() -> bool:
    """Whether some process of this machine holds the scan's lock."""
    with current_vault().try_lock("scan") as free:
        return not free


def run_job(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``rescan`` jobs: an incremental scan; its report becomes the job's outcome.

    Raises ``conflict`` while another scan is at work: that one may have passed what has changed since, so this job
    is to be tried again.
    """
    del payload
    report = scan()
    if report.running:
        raise SynapseError(ErrorCode.CONFLICT, "Another scan is at work. This one follows.")
    return report.as_dict()
