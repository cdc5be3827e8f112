"""``manage.py reviews``: look through the queue, decide, sweep, and move it with its vault, from a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from django.core.management.base import CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from reviews import services
from reviews.actions import ACTIONS
from reviews.models import ItemType, Origin, ReviewItem
from reviews.producers import runner
from reviews.services import BulkOutcome
from reviews.services.lines import bounded_lines
from reviews.services.reading import MAX_LIST, ORDERS, STATUS_GROUPS
from vault.errors import ErrorCode, SynapseError
from wiki import jobs
from wiki.admin.display import visible
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author

#: Bad lines of an import that a person is shown; ``--json`` has more.
SHOWN: Final = 10


class Command(SynapseCommand):
    help = "Show the review queue, decide about items, close what is no longer true, and move the queue."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="command", required=True)
        lister = actions.add_parser("list", help="items that wait, what most rests on first")
        lister.add_argument("--status", choices=list(STATUS_GROUPS), default="pending")
        lister.add_argument("--type", choices=ItemType.values, help="only items of this type")
        lister.add_argument("--origin", choices=Origin.values, help="only items that a rule, an agent or Synapse filed")
        lister.add_argument("--page", help="only items about this page, or resting on it: its id or vault path")
        lister.add_argument("--order", choices=ORDERS, default="rank", help="default: rank")
        lister.add_argument("--limit", type=int, default=50, help=f"at most {MAX_LIST} (default: 50)")
        lister.add_argument("--cursor", help="where an earlier list ended")
        show = actions.add_parser("show", help="one item: why, what it proposes as a diff, what happened to it")
        show.add_argument("id", help="as `reviews list` shows it")
        resolve = actions.add_parser("resolve", help="decide about items, once and for good")
        resolve.add_argument("ids", nargs="+", metavar="ID", help="1 to 200 ids")
        resolve.add_argument("action", metavar="ACTION", help=", ".join(action.name for action in ACTIONS))
        resolve.add_argument("--note", default="", help="why, for those who look later")
        sweep = actions.add_parser("sweep", help="close pending items that are no longer true")
        sweep.add_argument("--full", action="store_true", help="look through the whole vault, and file what is found")
        export = actions.add_parser("export", help="write the whole queue as lines of JSON")
        export.add_argument("file", nargs="?", default="-", metavar="FILE", help="default: standard output")
        importer = actions.add_parser("import", help="take an export in; scan the vault before")
        importer.add_argument("file", metavar="FILE", help="- for standard input")
        importer.add_argument("--any-vault", action="store_true", help="also an export of another vault")
        for action in (lister, show, resolve, sweep, importer):
            action.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action; what it leaves to be done is done before the command ends."""
        command = options["command"]
        {
            "list": self._list,
            "show": self._show,
            "resolve": self._resolve,
            "sweep": self._sweep,
            "export": self._export,
            "import": self._import,
        }[command](options)

    def _list(self, options: dict[str, Any]) -> None:
        listed = services.list_items(
            status=options["status"],
            item_type=options["type"],
            origin=options["origin"],
            page=options["page"],
            order=options["order"],
            limit=options["limit"],
            cursor=options["cursor"],
        )
        if options["json"]:
            self.print_json(listed)
            return
        for item in listed["result"]:
            status = "" if item["status"] == "pending" else f"  ({item['status']})"
            about = f"  {visible(item['page']['path'])}" if item["page"] else ""
            self.stdout.write(
                f"{item['id']}  {item['item_type']:<13} {item['rank']:>5}  {visible(item['title'])}{status}{about}"
            )
        shown = len(listed["result"])
        if not listed["total"]:
            self.stdout.write("Nothing waits for a decision." if options["status"] == "pending" else "No such items.")
        elif shown < listed["total"]:
            self.stdout.write(f"{shown:,} of {listed['total']:,}.")
        if listed["next_cursor"]:
            self.stdout.write(f"More with --cursor {listed['next_cursor']}")

    def _show(self, options: dict[str, Any]) -> None:
        item = services.item_detail(services.get_item(options["id"]))
        if options["json"]:
            self.print_json(item)
            return
        self.stdout.write(f"{item['item_type']}   {item['status']}   {item['rule']}   {visible(item['title'])}")
        for name, value in _facts(item):
            self.stdout.write(f"{name}: {value}")
        if item["diff"]:
            self._show_diff(item["diff"])
        self.stdout.write("What happened:")
        for event in item["events"]:
            note = f"  {visible(event['note'])}" if event["note"] else ""
            what = f"{event['what']} {event['to_status']}".strip()
            self.stdout.write(f"  {event['at']}  {what}  {visible(event['who'])} ({event['door']}){note}")
        if item["actions"]:
            self.stdout.write(f"It can be decided: {', '.join(item['actions'])}")

    def _show_diff(self, diff: dict[str, Any]) -> None:
        if diff["conflict"]:
            self.stdout.write("Conflict: the page is not what this was made from.")
        if diff["problem"]:
            self.stdout.write(diff["problem"])
        self.stdout.write(f"--- {visible(diff['path'])}\n+++ proposed")
        self.stdout.write("\n".join(visible(line) for line in diff["unified"].split("\n")), ending="")
        if diff["truncated"]:
            self.stdout.write("(not all of the change is shown)")

    def _resolve(self, options: dict[str, Any]) -> None:
        outcome = services.bulk(
            ids=options["ids"], action=options["action"], note=options["note"], author=terminal_author()
        )
        jobs.drain()
        if options["json"]:
            self.print_json(
                {
                    "action": outcome.action.name,
                    "updated": outcome.updated,
                    "already": outcome.already,
                    "not_found": outcome.not_found,
                    "failed": outcome.failed,
                    "warnings": outcome.warnings,
                }
            )
        else:
            self._tell_outcome(outcome)
        if outcome.failed or outcome.not_found:
            raise SystemExit(1)

    def _tell_outcome(self, outcome: BulkOutcome) -> None:
        for item in ReviewItem.objects.filter(pk__in=outcome.updated).only("status", "created_path"):
            wrote = f": {visible(item.created_path)}" if item.created_path else ""
            self.stdout.write(f"{item.pk}  {item.status}{wrote}")
            for warning in outcome.warnings.get(str(item.pk), ()):
                self.stderr.write(f"  {visible(warning)}")
        for item_id in outcome.already:
            self.stdout.write(f"{item_id}  was decided already: {outcome.statuses[item_id]}")
        for failure in outcome.failed:
            self.stderr.write(f"{failure['id']}  not decided: {failure['error']}")
        for item_id in outcome.not_found:
            self.stderr.write(f"{item_id}  is no item's id")

    def _sweep(self, options: dict[str, Any]) -> None:
        if not options["full"]:
            closed = runner.sweep()
            if options["json"]:
                self.print_json({"auto_resolved": closed})
            else:
                self.stdout.write(f"Closed {closed:,} item{'' if closed == 1 else 's'} no longer true.")
            return
        with _bar("rules") as advance:
            outcome = runner.run_everything(lambda _, done, total: advance(done, total))
        if options["json"]:
            self.print_json(outcome)
        elif "waits" not in outcome:
            self._tell_run(outcome)
        if "waits" in outcome:
            reasons = {"read_only": "SYNAPSE_READ_ONLY is set", "scan": "the vault is being scanned"}
            self.fail(f"Nothing was looked at: {reasons.get(outcome['waits'], outcome['waits'])}.")
        if outcome["failed"]:
            raise SystemExit(1)

    def _tell_run(self, outcome: dict[str, Any]) -> None:
        counted = ", ".join(f"{outcome[name]:,} {name}" for name in ("filed", "refreshed", "closed"))
        self.stdout.write(f"Looked through the whole vault: {counted}.")
        for rule, number in outcome["held_back"].items():
            self.stdout.write(f"  {rule}: {number:,} more held back (SYNAPSE_REVIEW_CAP)")
        for rule, reason in outcome["failed"].items():
            self.stderr.write(f"  {rule} failed ({reason}); the log says more, and the next scan tries again")

    def _export(self, options: dict[str, Any]) -> None:
        total = ReviewItem.objects.count()
        with _bar("items") as advance:
            lines = services.export_lines(progress=lambda done: advance(done, total))
            if options["file"] == "-":
                for line in lines:
                    self.stdout.write(line, ending="")
                return
            _write_file(Path(options["file"]), lines)
        self.stderr.write(f"Wrote {total:,} item{'' if total == 1 else 's'} to {options['file']}.")

    def _import(self, options: dict[str, Any]) -> None:
        with _opened(options["file"]) as stream, _bar("lines") as advance:
            done = services.import_lines(
                lines=bounded_lines(stream),
                author=terminal_author(),
                any_vault=options["any_vault"],
                progress=lambda line: advance(line, None),
            )
        if options["json"]:
            self.print_json(done.as_dict())
        else:
            self.stdout.write(f"Took in {done.items:,} items and {done.runs:,} research runs.")
            for number, what in (
                (done.known, "were here already"),
                (done.standing, "ask what waits here under another id, and were left out"),
                (done.settled, "that the scan had asked again were decided in the export, and are gone"),
            ):
                if number:
                    self.stdout.write(f"  {number:,} {what}")
            for problem in done.problems[:SHOWN]:
                self.stderr.write(f"  line {problem['line']}: {problem['error']}")
            if done.refused > SHOWN:
                self.stderr.write(f"  {done.refused - SHOWN:,} more bad lines; --json lists them")
        if done.refused:
            raise SystemExit(1)


def _facts(item: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is worth a line of its own, of what the item has."""
    yield "id", item["id"]
    for name in ("page", "file", "created_page"):
        if item[name]:
            yield name.replace("_", " "), visible(item[name]["path"])
    for name in ("proposed_title", "proposed_page_type", "note", "failure"):
        if item[name]:
            yield name.replace("_", " "), visible(item[name])
    if item["rationale"]:
        yield "why", visible(item["rationale"])
    for page in item["referenced_pages"]:
        yield "names", f"{visible(page['title'])}   {visible(page['path'])}"
    for query in item["search_queries"]:
        yield "lead", visible(query)
    if item["reviewed_at"]:
        yield "decided", f"{item['status']} by {visible(item['reviewed_by'])} ({item['reviewed_via']})"


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar on standard error if that is a terminal, and silence elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total: None
        return
    columns = [TextColumn("{task.description:<6}"), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        stream = Path(name).open("rb")  # noqa: SIM115 - closed below
    except OSError:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "The file can't be read. Name an export.") from None
    with stream:
        yield stream


def _write_file(path: Path, lines: Iterator[str]) -> None:
    """Write a whole export or none: an earlier one stays until the new one is complete."""
    part = path.parent / f"{path.name}.part"
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise SynapseError(ErrorCode.STORAGE_ERROR, "The file can't be written. Name another one.") from None
