"""``manage.py init_vault``: the folders and first files of a vault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from vault.root import Vault
from vault.starter_vault import create_starter
from wiki.management.base import SynapseCommand


class Command(SynapseCommand):
    help = "Make the folders and first files of a vault. What is there already stays as it is."
    needs_tables = False
    requires_system_checks: list[str] = []  # they would refuse a root that does not exist yet

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", nargs="?", type=Path, help="the vault's root (default: SYNAPSE_VAULT)")
        parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")

    def run(self, *, folder: Path | None, **options: Any) -> None:
        """Make what is missing and give the vault its id."""
        root = (folder or settings.SYNAPSE_VAULT).expanduser().absolute()
        made = create_starter(root)
        vault_id = Vault(root, data=settings.SYNAPSE_DATA).ensure_id()
        if options["json"]:
            self.print_json({"root": str(root), "vault_id": str(vault_id), "made": made})
            return
        for path in made:
            self.stdout.write(f"  {path}")
        self.stdout.write(f"{len(made)} folders and files made in {root}" if made else f"Nothing was missing in {root}")
        if folder:
            self.stdout.write(f'Serve it with: SYNAPSE_VAULT="{root}" make serve')
