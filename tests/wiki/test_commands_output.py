"""Commands whose reader goes away (``| head``): they end as if all had been read."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings

TALKER = """
import sys
import django; django.setup()
from wiki.management.base import SynapseCommand

class Command(SynapseCommand):
    requires_system_checks = []
    needs_tables = False

    def run(self, **options):
        for _ in range(int(sys.argv[1])):
            self.stdout.write("one line of many")

Command().run_from_argv(["manage.py", "talk"])
"""


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_has_seen_enough_is_no_failure(lines: int) -> None:
    """One line is only written as Python ends, and many before."""
    read, write = os.pipe()
    os.close(read)
    try:
        command: list[Any] = [sys.executable, "-c", TALKER, str(lines)]
        done = subprocess.run(
            command, cwd=settings.BASE_DIR, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
