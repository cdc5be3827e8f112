"""``manage.py drafts``: texts that met a newer version, to be applied or dropped."""

from __future__ import annotations

from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from wiki import jobs, services
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author
from wiki.models import Page


class Command(SynapseCommand):
    help = "List, show, apply or drop the texts that could not be written because somebody else had written first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON")
        actions = parser.add_subparsers(dest="action")
        lister = actions.add_parser("list", help="all drafts, newest first (the default)")
        show = actions.add_parser("show", help="print a draft")
        apply = actions.add_parser("apply", help="write a draft over its page, and drop it")
        drop = actions.add_parser("drop", help="remove a draft for good")
        for action in (show, apply, drop):
            action.add_argument("id", help="as `drafts list` shows it")
        for action in (lister, show, apply, drop):
            # Without a default of its own, so that it does not take back what stood before the action.
            action.add_argument("--json", action="store_true", default=SUPPRESS, help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action."""
        actions = {"list": self._list, "show": self._show, "apply": self._apply, "drop": self._drop}
        actions[options["action"] or "list"](options)

    def _list(self, options: dict[str, Any]) -> None:
        drafts = services.draft_list()
        if options["json"]:
            self.print_json(drafts)
            return
        if not drafts:
            self.stdout.write("No drafts.")
        for draft in drafts:
            who = f"{draft['author']} ({draft['door']})"
            until = f"until {draft['expires'][:10]}" if draft["expires"] else ""
            self.stdout.write(
                f"{draft['id']}  {draft['at']}  {draft['size']:>9,} bytes  {until}  {draft['path']}  {who}"
            )

    def _show(self, options: dict[str, Any]) -> None:
        draft = services.draft_text(draft_id=options["id"])
        if options["json"]:
            self.print_json(draft)
        else:
            self.stdout.write(draft["text"], ending="")

    def _apply(self, options: dict[str, Any]) -> None:
        draft = services.draft_text(draft_id=options["id"])
        page = Page.objects.live().filter(path=draft["path"]).first()
        # Whoever applies a draft here has the page's version of this moment before them; it stays in the history.
        base = services.read_page(page).content_hash if page else None
        written = services.draft_apply(draft_id=options["id"], base_hash=base, author=terminal_author())
        jobs.drain()
        if options["json"]:
            self.print_json({"path": written.page.path, "content_hash": written.content_hash})
        else:
            self.stdout.write(f"Wrote {written.page.path}; what stood there is in its history.")

    def _drop(self, options: dict[str, Any]) -> None:
        services.draft_drop(draft_id=options["id"], author=terminal_author())
        if options["json"]:
            self.print_json({"dropped": options["id"]})
        else:
            self.stdout.write("Dropped.")
