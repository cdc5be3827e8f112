"""``manage.py rescan``: bring the index up to date with the vault, once or from now on."""

from __future__ import annotations

import signal
import threading
from typing import Any, Final

from django.core.management.base import CommandParser

from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from wiki import jobs
from wiki.management.base import SynapseCommand
from wiki.management.progress import scan_with_progress
from wiki.startup import ensure_tables, ensure_vault
from wiki.sync import ScanReport, root_problem, watch_vault

#: How many flagged and skipped files a person is shown; ``--json`` has more.
SHOWN: Final = 10


class Command(SynapseCommand):
    help = "Bring the index up to date with the files of the vault. No file of yours is changed."
    needs_tables = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--watch", action="store_true", help="go on and take in each change (Ctrl-C stops)")
        parser.add_argument("--full", action="store_true", help="read every file, also those whose stat is as known")
        parser.add_argument("--dry-run", action="store_true", help="say what differs and write nothing")
        parser.add_argument(
            "--allow-deletions", action="store_true", help="believe it when more than a fifth of the files are gone"
        )
        parser.add_argument("--json", action="store_true", help="print the report as JSON, with --watch one a line")

    def run(self, **options: Any) -> None:
        """Scan; then watch if asked to."""
        problem = root_problem(current_vault())
        if problem:
            raise SynapseError(ErrorCode.STORAGE_ERROR, problem)
        ensure_vault()
        ensure_tables()
        as_json: bool = options["json"]
        chosen = {name: options[name] for name in ("full", "dry_run", "allow_deletions")}
        report = scan_with_progress(self, **chosen)
        self._tell(report, as_json=as_json)
        if not report.dry_run:
            jobs.drain()
        if options["watch"] and not report.dry_run:
            self._watch(as_json=as_json)
        elif report.stopped or report.running:
            raise SystemExit(1)

    def _heard(self, report: ScanReport, *, as_json: bool) -> None:
        self._tell(report, as_json=as_json)
        jobs.drain()

    def _tell(self, report: ScanReport, *, as_json: bool) -> None:
        if as_json:
            self.print_json(report.as_dict())
        elif report.stopped:
            self.stderr.write(report.stopped)
        elif report.running:
            self.stderr.write("Another scan is at work; this one did nothing. Its result is as good as a new one.")
        else:
            self._tell_details(report)
        self.stdout.flush()

    def _tell_details(self, report: ScanReport) -> None:
        counted = {
            "new": report.added,
            "changed": report.changed,
            "moved": report.moved,
            "deleted": report.deleted,
            "other files": report.files_changed,
        }
        done = ", ".join(f"{number:,} {name}" for name, number in counted.items() if number)
        if report.dry_run:
            self.stdout.write(f"Would take in: {done}" if done else "Nothing has changed")
            return
        self.stdout.write(report.summary() + (f" ({done})" if done else ""))
        for title, entries in (("flagged", report.flagged), ("skipped", report.skipped)):
            for entry in entries[:SHOWN]:
                self.stdout.write(f"  {title}: {entry['path']}: {entry['reason']}")
            if len(entries) > SHOWN:
                self.stdout.write(f"  {title}: {len(entries) - SHOWN:,} more; --json lists them")

    def _watch(self, *, as_json: bool) -> None:
        stop = threading.Event()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: stop.set())
        try:
            watch_vault(stop=stop, heard=lambda report: self._heard(report, as_json=as_json))
        except KeyboardInterrupt:
            stop.set()
