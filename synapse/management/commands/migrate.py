"""``manage.py migrate`` by hand: Django's own, in a data folder that is there, and with a sentence for what fails."""

from __future__ import annotations

import sys

from django.core.management.commands.migrate import Command as DjangoCommand
from django.db import DatabaseError

from vault.errors import SynapseError
from wiki.startup import database_problem, ensure_index_folder, ensure_vault


class Command(DjangoCommand):
    """Called by other code it is Django's command, unchanged."""

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django's. A vault has its id first, since the built-in index lies in a folder of that name."""
        try:
            ensure_vault()
            ensure_index_folder()
            super().run_from_argv(argv)
        except SynapseError as error:
            sys.exit(error.message)
        except DatabaseError as error:
            sys.exit(database_problem(error).message)
