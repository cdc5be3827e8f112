from django.apps import AppConfig


class WikiConfig(AppConfig):
    name = "wiki"

    def ready(self) -> None:
        """Have Celery, where there is a broker, embed what has changed; a thread of `serve` listens by itself."""
        from wiki import broker, checks, signals  # noqa: F401  (checks register themselves)

        for signal in (signals.page_written, signals.rescan_finished):
            signal.connect(broker.tell_to_embed, dispatch_uid="broker")
