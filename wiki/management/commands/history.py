"""``manage.py history``: what is kept of what was, and what may go. `manage.py page restore` puts a version back."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from vault.current import current_vault
from vault.history import history_size, read_version
from wiki import services
from wiki.management.base import SynapseCommand
from wiki.management.commands.page import terminal_author
from wiki.models import Page


class Command(SynapseCommand):
    help = "List the pages with a history, or a page's versions; print a version; put one back; remove what is old."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        lister = actions.add_parser("list", help="the pages changed last, or the versions of one")
        lister.add_argument("title", nargs="?", default="", help="of a page, deleted ones too (default: all pages)")
        lister.add_argument("--limit", type=int, default=100, help="how many, 1 to 1000 (default: 100)")
        show = actions.add_parser("show", help="print a version's bytes")
        restore = actions.add_parser("restore", help="put a version in the page's place")
        for action in (show, restore):
            action.add_argument("title", help='exact; "" with --path')
            action.add_argument("version", type=int, help="a number that `history list` shows")
            action.add_argument("--displaced", action="store_true", help="what that change took away")
        prune = actions.add_parser("prune", help="remove what is older than SYNAPSE_HISTORY_DAYS, or over the limit")
        prune.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")
        for action in (lister, show, restore):
            action.add_argument("--path", help="decides between pages of one title")
        for action in (lister, show, restore, prune):
            action.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action."""
        {"list": self._list, "show": self._show, "restore": self._restore, "prune": self._prune}[options["action"]](
            options
        )

    def _list(self, options: dict[str, Any]) -> None:
        limit = max(1, min(options["limit"], 1_000))
        if options["title"] or options["path"]:
            self._versions(_page(options), limit, as_json=options["json"])
            return
        pages = services.history_pages(limit=limit)
        if options["json"]:
            self.print_json(pages)
            return
        for page in pages:
            gone = "  (deleted)" if page["deleted"] else ""
            self.stdout.write(f"{page['at']}  {page['versions']:>5} versions  {page['path']}{gone}")
        if not pages:
            self.stdout.write("Synapse has changed no page, so it keeps no versions.")

    def _versions(self, page: Page, limit: int, *, as_json: bool) -> None:
        versions = services.page_history(page, limit=limit)
        if as_json:
            self.print_json(versions)
            return
        for version in versions:
            kept = "" if version["restorable"] else "  (its bytes are gone)"
            who = f"{version['author']} ({version['door']})"
            size = f"{version['size']:>12,} bytes"
            self.stdout.write(f"{version['number']:>4}  {version['at']}  {version['action']:<8} {size}  {who}{kept}")
        self.stdout.write(f"Put one back: manage.py history restore {page.title!r} N")

    def _show(self, options: dict[str, Any]) -> None:
        page = _page(options)
        data = read_version(current_vault(), page.uid, options["version"], displaced=options["displaced"])
        text = data.decode("utf-8", errors="replace")
        if options["json"]:
            self.print_json({"path": page.path, "version": options["version"], "text": text})
        else:
            self.stdout.write(text, ending="")

    def _restore(self, options: dict[str, Any]) -> None:
        page = _page(options)
        base = None if page.deleted_at else services.read_page(page).content_hash
        written = services.page_restore(
            page=page,
            version=options["version"],
            displaced=options["displaced"],
            base_hash=base,
            author=terminal_author(),
        )
        if options["json"]:
            self.print_json({"path": written.page.path, "content_hash": written.content_hash})
        else:
            self.stdout.write(f"Restored version {options['version']} of {written.page.path}.")

    def _prune(self, options: dict[str, Any]) -> None:
        done = services.prune_history(dry_run=options["dry_run"], author=terminal_author())
        limit = settings.SYNAPSE_HISTORY_MAX_MB
        if options["json"]:
            self.print_json({**done.as_dict(), "size": history_size(current_vault()), "limit_mb": limit})
            return
        would = "Would remove" if done.dry_run else "Removed"
        self.stdout.write(
            f"{would} {done.removed:,} files ({done.removed_bytes / 1e6:.1f} MB); "
            f"{done.kept:,} stay ({done.kept_bytes / 1e6:.1f} MB)."
        )
        if done.over:
            self.stdout.write(
                f"That is {done.over / 1e6:.1f} MB above SYNAPSE_HISTORY_MAX_MB={limit}: what is younger than 30 days, "
                "and the newest of each page, always stays."
            )


def _page(options: dict[str, Any]) -> Page:
    return services.page_by_title(options["title"], path=options["path"], deleted=True)
