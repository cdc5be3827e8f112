"""What all commands share: errors as one sentence, ``--json``, and a check that the index exists."""

from __future__ import annotations

import json
import os
import sys
from abc import ABC, abstractmethod
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from vault.errors import SynapseError
from wiki.binding import check_binding
from wiki.startup import database_problem, require_tables


class SynapseCommand(BaseCommand, ABC):
    """A command whose ``run`` may raise SynapseError; the person sees its sentence, a program its envelope.

    A subclass with ``needs_tables = False`` works without an index, or makes it itself.
    """

    requires_system_checks = ["synapse"]
    needs_tables = True

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the command; every expected failure ends with exit code 1 and one sentence."""
        try:
            if self.needs_tables:
                require_tables()
                check_binding()
            self.run(**options)
            self.stdout.flush()
        except SynapseError as error:
            if options.get("json"):
                self.stdout.write(json.dumps(error.envelope(), ensure_ascii=False))
                raise SystemExit(1) from None
            raise CommandError(error.message) from None
        except DatabaseError as error:
            problem = database_problem(error)
            if options.get("json"):
                self.stdout.write(json.dumps(problem.envelope(), ensure_ascii=False))
                raise SystemExit(1) from None
            raise CommandError(problem.message) from None
        except BrokenPipeError:
            _say_no_more()  # the reader (head, less) has seen enough
            raise SystemExit(0) from None
        except KeyboardInterrupt:
            raise SystemExit(130) from None

    @abstractmethod
    def run(self, *args: Any, **options: Any) -> None:
        """What the command does; its options by name."""

    def fail(self, message: str) -> NoReturn:
        """End with one sentence and exit code 1."""
        raise CommandError(message)

    def print_json(self, data: Any) -> None:
        """One JSON document on standard output."""
        self.stdout.write(json.dumps(data, ensure_ascii=False, default=str))


def _say_no_more() -> None:
    """Lead standard output to nowhere: what is still buffered is written when Python ends, and would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
