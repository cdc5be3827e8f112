"""What Celery's workers do for the review queue; see :mod:`wiki.tasks`."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from wiki.tasks import SAFELY


@shared_task(**SAFELY)
def sweep_reviews() -> None:
    """Close what is not true any more, whoever did not tell of it."""
    from reviews.producers.runner import sweep

    if not settings.SYNAPSE_READ_ONLY:
        sweep()
