"""Celery's application: ``celery -A synapse worker`` and ``celery -A synapse beat``. Imported only with a broker."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import Any, Final

from celery import Celery, signals
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from vault.errors import SynapseError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synapse.settings")
logger = logging.getLogger(__name__)

#: Which task is asked for how often, in seconds. What is told of at once (drain, embed_pages) is asked for too, for
#: the sake of what was told while the broker was away.
SCHEDULE: Final[dict[str, float]] = {
    "wiki.tasks.drain": 10.0,
    "wiki.tasks.embed_pages": 20.0,
    "wiki.tasks.rescan": 300.0,
    "reviews.tasks.sweep_reviews": 900.0,
    "wiki.tasks.upsert_vectors": 3_600.0,
    "wiki.tasks.purge": 3_600.0,
    "wiki.tasks.layout": 86_400.0,
}

if not settings.CELERY_BROKER_URL:
    raise ImproperlyConfigured(
        "CELERY_BROKER_URL is not set: name the broker, such as redis://127.0.0.1:6379/0, for this process and for "
        "all others of this vault. Without one `manage.py serve` does all work by itself."
    )

# With PostgreSQL nothing else may have made the folder in which beat keeps when it last asked for what.
with contextlib.suppress(OSError):
    settings.SYNAPSE_DATA.mkdir(mode=0o700, parents=True, exist_ok=True)

# Celery puts the folder that a process was started in before all others from which modules come, for good. That of an
# agent's process is the agent's project: none of its files is to be taken for one of ours.
_path = list(sys.path)
app = Celery("synapse")
sys.path[:] = [*_path, str(settings.BASE_DIR)]  # its programs have nothing else that leads to our modules
app.set_default()
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    # A thread that nobody waits for sends, and gives up soon. Workers and beat wait for a broker that is away.
    broker_connection_timeout=2.0,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={
        "socket_connect_timeout": 1.0,
        "socket_timeout": 5.0,
        "max_retries": 1,
        "interval_start": 0.0,
        "interval_step": 0.1,
        "interval_max": 0.1,
        "visibility_timeout": 6 * 3_600,  # longer than the longest task: none is handed out while it runs
    },
    task_publish_retry=False,
    task_default_queue="synapse",
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_concurrency=2,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_send_task_events=False,
    worker_enable_remote_control=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    enable_utc=True,
    timezone="UTC",
    beat_schedule={
        task.rpartition(".")[2]: {"task": task, "schedule": seconds, "options": {"expires": max(seconds, 30.0)}}
        for task, seconds in SCHEDULE.items()
    },
    beat_schedule_filename=str(settings.SYNAPSE_DATA / "celery-beat"),
    beat_max_loop_interval=10.0,
)
app.autodiscover_tasks(["wiki", "reviews"])


@signals.setup_logging.connect
def _leave_logging_alone(**_: Any) -> None:
    """Django's settings say how a log line looks; a receiver keeps Celery from saying it again."""


@signals.task_failure.connect
@signals.task_retry.connect
def _say_what_failed(
    sender: Any = None, exception: BaseException | None = None, reason: BaseException | None = None, **_: Any
) -> None:
    """One line without the exception's text, which may quote a page: Celery's own lines would."""
    error = exception or reason
    said = error.code.value if isinstance(error, SynapseError) else type(error).__name__
    logger.warning("task failed: %s", getattr(sender, "name", "unknown"), extra={"reason": said})
