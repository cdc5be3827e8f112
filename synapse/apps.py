from django.apps import AppConfig
from django.conf import settings


class SynapseConfig(AppConfig):
    name = "synapse"

    def ready(self) -> None:
        """Register the checks; know Celery where a broker is named; where none is, it is not even imported."""
        from synapse import checks  # noqa: F401

        if settings.CELERY_BROKER_URL:
            from synapse import celery  # noqa: F401
