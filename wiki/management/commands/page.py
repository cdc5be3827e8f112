"""``manage.py page``: write, show, move, retitle, delete and restore pages from a terminal."""

from __future__ import annotations

import getpass
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.page_rules import PAGE_TYPES
from vault.history import Author
from wiki import jobs, services
from wiki.management.base import SynapseCommand
from wiki.models import Page
from wiki.services import PageWritten, Renamed


class Command(SynapseCommand):
    help = "Write, show, move, retitle, delete and restore single pages."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        write = actions.add_parser("write", help="make a page, or change the one of this title")
        write.add_argument("title")
        write.add_argument("--type", choices=PAGE_TYPES, help="kept on a change if left out")
        write.add_argument("--lang", default="", help="ISO 639-1, e.g. en; kept on a change if left out")
        write.add_argument("--source", action="append", default=[], help="a source path; may be repeated")
        write.add_argument("--frontmatter", default="{}", help="other properties, as a JSON object; null removes one")
        write.add_argument("--file", default="-", help="the text, without frontmatter (default: standard input)")
        write.add_argument("--base", help="content hash of the version the text was made from")
        show = actions.add_parser("show", help="print a page")
        history = actions.add_parser("history", help="list the versions kept of a page, newest first")
        restore = actions.add_parser("restore", help="put a version in the page's place")
        move = actions.add_parser("move", help="give a page another path; links follow")
        retitle = actions.add_parser("retitle", help="give a page another title; links follow")
        delete = actions.add_parser("delete", help="move a page to its history")
        for action in (show, history, restore, move, retitle, delete):
            action.add_argument("title", help='exact; "" with --path')
        restore.add_argument("version", type=int, help="a number that `page history` shows")
        restore.add_argument("--displaced", action="store_true", help="what that change took away, not what it left")
        move.add_argument("new_path", help="vault-relative, e.g. wiki/concepts/new.md")
        retitle.add_argument("new_title")
        retitle.add_argument("--rename", action="store_true", help="name the file after the new title, too")
        for action in (move, retitle):
            action.add_argument("--preview", action="store_true", help="show what would change, write nothing")
        for action in (write, show, history, restore, move, retitle, delete):
            action.add_argument("--path", help="decides between pages of one title")
            action.add_argument("--json", action="store_true", help="print JSON")

    def run(self, **options: Any) -> None:
        """Do the one action; what it leaves to be done is done before the command ends."""
        action = options["action"]
        {
            "write": self._write,
            "show": self._show,
            "history": self._history,
            "restore": self._restore,
            "move": self._move,
            "retitle": self._retitle,
            "delete": self._delete,
        }[action](options)
        if action not in ("show", "history"):
            jobs.drain()

    def _write(self, options: dict[str, Any]) -> None:
        title = options["title"]
        written = services.write_page(
            title=title,
            content=_text(options["file"]),
            frontmatter=_properties(title, options),
            base_hash=options["base"],
            path=options["path"],
            author=terminal_author(),
        )
        self._say_written(written, "Made" if written.created else "Changed", options)

    def _show(self, options: dict[str, Any]) -> None:
        shown = services.page_content(_page(options))
        if options["json"]:
            self.print_json(shown)
            return
        self.stdout.write(f"{shown['title']}   {shown['type'] or 'page'}   {shown['path']}")
        self.stdout.write(f"hash {shown['content_hash']}   linked from {shown['backlinks_total']}")
        for key, value in shown["frontmatter"].items():
            self.stdout.write(f"  {key}: {json.dumps(value, ensure_ascii=False)}")
        self.stdout.write("")
        self.stdout.write(shown["content"], ending="")

    def _history(self, options: dict[str, Any]) -> None:
        versions = services.page_history(_page(options, deleted=True))
        if options["json"]:
            self.print_json(versions)
            return
        if not versions:
            self.stdout.write("Synapse has not changed this page, so it keeps no versions of it.")
        for version in versions:
            who = f"{version['author']} ({version['door']})"
            size = f"{version['size']:,} bytes"
            self.stdout.write(
                f"{version['number']:>4}  {version['at']}  {version['action']:<8} {size:>14}  "
                f"{version['content_hash'][:12]}  {who}"
            )

    def _restore(self, options: dict[str, Any]) -> None:
        page = _page(options, deleted=True)
        written = services.page_restore(
            page=page,
            version=options["version"],
            displaced=options["displaced"],
            base_hash=_standing(page),
            author=terminal_author(),
        )
        self._say_written(written, f"Restored version {options['version']} of", options)

    def _move(self, options: dict[str, Any]) -> None:
        done = services.page_move(
            page=_page(options), path=options["new_path"], preview=options["preview"], author=terminal_author()
        )
        self._say_renamed(done, options)

    def _retitle(self, options: dict[str, Any]) -> None:
        page = _page(options)
        done = services.page_retitle(
            page=page,
            title=options["new_title"],
            rename=options["rename"],
            preview=options["preview"],
            base_hash=_standing(page),
            author=terminal_author(),
        )
        self._say_renamed(done, options)

    def _delete(self, options: dict[str, Any]) -> None:
        page = _page(options)
        gone = services.page_delete(page=page, base_hash=_standing(page), author=terminal_author())
        if options["json"]:
            self.print_json(gone)
            return
        self.stdout.write(f"Deleted {gone['path']}; it is in the history: manage.py page restore {gone['title']!r} N")
        for link in gone["linked_from"]:
            self.stdout.write(f"  linked from {link['path']}")
        self._say_warnings(gone["warnings"])

    def _say_written(self, written: PageWritten, what: str, options: dict[str, Any]) -> None:
        page = written.page
        if options["json"]:
            row = {**services.page_ref(page), "path": page.path, "content_hash": written.content_hash}
            self.print_json({**row, "created": written.created, "warnings": written.warnings})
            return
        self.stdout.write(f"{what} {page.path}\nhash {written.content_hash}")
        self._say_warnings(written.warnings)

    def _say_renamed(self, done: Renamed, options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(done.as_dict())
            return
        would = "Would be" if done.preview else "Is now"
        self.stdout.write(f"{would} {done.title!r} at {done.path}")
        self.stdout.write(f"Links in {done.files_total} other file{'' if done.files_total == 1 else 's'}:")
        for file in done.files:
            self.stdout.write(f"  {file['path']}")
            for line in file["lines"]:
                self.stdout.write(f"  {line['line']:>5} - {line['before']}\n        + {line['after']}")
        for failure in done.failed:
            self.stdout.write(f"  not changed: {failure['path']}: {failure['error']}")
        self._say_warnings(done.warnings)

    def _say_warnings(self, warnings: list[str]) -> None:
        for warning in warnings:
            self.stdout.write(f"note: {warning}")


def terminal_author() -> Author:
    """Who sits at this terminal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "somebody"  # a user id without an account, as in some containers
    return Author(name, "command")


def _page(options: dict[str, Any], *, deleted: bool = False) -> Page:
    return services.page_by_title(options["title"], path=options["path"], deleted=deleted)


def _standing(page: Page) -> str | None:
    """The version that whoever runs the command has before them; it is kept in the history if it is displaced."""
    return None if page.deleted_at else services.read_page(page).content_hash


def _text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "The text can't be read. Name a file of UTF-8 text with --file."
        ) from None


def _properties(title: str, options: dict[str, Any]) -> dict[str, Any]:
    """What is given on the command line, over what the page has already where the validator wants it."""
    try:
        given = json.loads(options["frontmatter"])
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "--frontmatter takes a JSON object.")
    try:
        page: Page | None = services.page_by_title(title, path=options["path"])
    except SynapseError:
        page = None
    kept = {"type": page.type, "lang": page.lang, "sources": page.sources} if page else {}
    asked = {"type": options["type"], "lang": options["lang"], "sources": options["source"]}
    return {"title": title, **kept, **{key: value for key, value in asked.items() if value}, **given}
