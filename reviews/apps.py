from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = "Review queue"

    def ready(self) -> None:
        """Hear what changes the index, and let jobs bring the queue up to date."""
        from reviews import tasks
        from wiki import jobs, signals

        jobs.register(tasks.KIND, "reviews.tasks.run_findings")
        signals.page_written.connect(tasks.request_findings, dispatch_uid="reviews")
        signals.rescan_finished.connect(tasks.request_findings_of_scan, dispatch_uid="reviews")
        signals.vault_replaced.connect(tasks.forget_queue, dispatch_uid="reviews")
