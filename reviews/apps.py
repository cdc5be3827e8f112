from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = "Review queue"

    def ready(self) -> None:
        """Hear what changes the index, and let jobs bring the queue up to date."""
        from reviews import jobs as queue_jobs
        from wiki import jobs, signals

        jobs.register(queue_jobs.KIND, "reviews.jobs.run_findings")
        signals.page_written.connect(queue_jobs.request_findings, dispatch_uid="reviews")
        signals.rescan_finished.connect(queue_jobs.request_findings_of_scan, dispatch_uid="reviews")
        signals.vault_replaced.connect(queue_jobs.forget_queue, dispatch_uid="reviews")
