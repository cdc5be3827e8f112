"""Asking for a scan without waiting for it: one waits or runs at a time, and never a full one."""

from __future__ import annotations

from typing import Any, Final

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import deadlines, jobs
from wiki.models import Job
from wiki.sync import scan, scan_lock, scan_problem

#: How long the job waits for a scan that is at work, in seconds.
WAIT_SECONDS: Final = 60.0


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

    It waits for a scan that is at work, which may have passed what has changed since. Where files change all the
    time one scan follows the other, and a job that only looked now and then would never find its turn. Raises
    ``conflict`` when none comes: the job is to be tried again.
    """
    del payload
    with scan_lock(timeout=WAIT_SECONDS) as ours:
        if not ours:
            raise SynapseError(ErrorCode.CONFLICT, "Another scan is at work. This one follows.")
        return scan().as_dict()
