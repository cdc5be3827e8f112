"""What the review queue does in the background: findings, asked for by whatever changes the index."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings

from wiki import changes, jobs

KIND: Final = "findings"
#: How long a run waits for more changes, in seconds: agents write several pages in a row.
DELAY_SECONDS: Final = 1.0
#: How long a run waits for a scan that is at work, in seconds.
WAIT_SECONDS: Final = 30.0


def request_findings(**_: object) -> None:
    """Have the queue brought up to date soon, if something changed; hears ``page_written``."""
    if not settings.SYNAPSE_READ_ONLY and changes.waiting():
        _request("", {})


def request_findings_of_scan(**_: object) -> None:
    """As :func:`request_findings`, and also if some rule owes a look at everything; hears ``rescan_finished``."""
    from reviews.producers.runner import owes_a_look

    if not settings.SYNAPSE_READ_ONLY and (changes.waiting() or owes_a_look()):
        _request("rescanned", {"rescanned": True})


def _request(key: str, payload: dict[str, Any]) -> None:
    if not jobs.is_waiting(KIND, key):
        jobs.enqueue(KIND, key, payload=payload, delay=DELAY_SECONDS)


def forget_queue(**_: object) -> None:
    """Leave another vault's queue behind; hears ``vault_replaced``."""
    from reviews.services import forget_all

    forget_all()


def run_findings(payload: dict[str, Any]) -> dict[str, Any]:
    """The handler of ``findings`` jobs; what it returns is :func:`reviews.producers.runner.run`'s.

    A scan that came in between is waited for, and the next one waits for this: where files change all the time scans
    follow each other so closely that no run would fit in between. Where a scan has died half-way another one is asked
    for: until it has ended nothing can be said of the index.
    """
    from reviews.producers.runner import run
    from wiki.services import request_rescan
    from wiki.sync import scan_lock

    rescanned = bool(payload.get("rescanned"))
    outcome = run(rescanned=rescanned)
    if outcome.get("waits") == "scan":
        with scan_lock(timeout=WAIT_SECONDS) as ours:
            outcome = run(rescanned=rescanned) if ours else outcome
    if outcome.get("waits") == "scan":
        request_rescan()
    return outcome
