"""``manage.py mcp_contract``: write the published contract of the tools, or say how the code differs from it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from wiki.management.base import SynapseCommand

_SHOWN_LINES = 40


class Command(SynapseCommand):
    help = (
        "Write the contract of the MCP tools (contract/) from the code, or with --check say how the code differs. "
        "Needs no database, no model and no setting."
    )
    requires_system_checks = []
    needs_tables = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if anything differs")
        parser.add_argument("--docs", action="store_true", help="write docs/mcp.md instead")
        parser.add_argument("--json", action="store_true", help="print the contract, or what --check finds, as JSON")

    def run(self, **options: Any) -> None:
        """Check, print or write. A change that breaks callers is not written over the contract that it breaks."""
        if options["check"]:
            self._check(as_json=options["json"])
        elif options["docs"]:
            from mcpapi.document import document, document_path

            document_path().write_text(document(), encoding="utf-8")
            self.stdout.write("Wrote docs/mcp.md")
        elif options["json"]:
            from mcpapi.contract import build_contract

            self.print_json(build_contract())
        else:
            self._write()

    def _check(self, *, as_json: bool) -> None:
        from mcpapi.drift import drift

        found = drift()
        if as_json:
            self.print_json(
                {
                    "ok": found.ok,
                    "changes": [{"kind": str(one.kind), "where": one.where, "what": one.what} for one in found.changes],
                    "problems": found.problems,
                }
            )
            if not found.ok:
                raise SystemExit(1)
            return
        if found.ok:
            self.stdout.write("The tools are those of the contract, and docs/mcp.md tells of them.")
            return
        for line in [*map(str, found.changes), *found.problems, *found.difference[:_SHOWN_LINES]]:
            self.stdout.write(line)
        self.fail(found.advice)

    def _write(self) -> None:
        from mcpapi.contract import as_text, build_contract
        from mcpapi.contract_files import contract_path
        from mcpapi.drift import drift

        found = drift()
        for change in found.changes:
            self.stdout.write(str(change))
        if found.breaking:
            self.fail(found.advice)
        path = contract_path()
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_text(build_contract()), encoding="utf-8")
        self.stdout.write(f"Wrote contract/{path.name}")
