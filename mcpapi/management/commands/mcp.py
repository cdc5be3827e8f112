"""``manage.py mcp``: serve the wiki's tools to one agent over standard input and output."""

from __future__ import annotations

import os
import sys
from typing import Any

from wiki.management.base import SynapseCommand


class Command(SynapseCommand):
    help = "Serve the wiki's tools over standard input and output, for an agent that starts this command itself."

    def run(self, **options: Any) -> None:
        """Serve until the client closes its end or the process is told to stop."""
        if os.isatty(0):
            self.stderr.write(
                "This speaks the Model Context Protocol on standard input and output; an agent starts it, for "
                "example: claude mcp add synapse -- python manage.py mcp"
            )
        # Imported here: `manage.py help` and the other commands need not load the protocol.
        from mcpapi.stdio import serve

        try:
            serve()
        except RuntimeError as error:
            self.fail(str(error))
        sys.stdout.flush()
