"""What tests/crashing.py tells, run as a process of its own in a vault and a database of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.scan import ROOT


def asked(environment: dict[str, str], *arguments: str) -> Any:
    command = [sys.executable, "-m", "tests.crashing", *arguments]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=850)
    assert (process.returncode, process.stderr) == (0, "")
    return json.loads(process.stdout)


def crashed(environment: dict[str, str], how: str, most: int, change: str) -> dict[str, Any]:
    """One change, killed (``kill``) or met by a fault (``fault``) at ``most`` of its steps."""
    answer: dict[str, Any] = asked(environment, how, str(most), change)[change]
    return answer


def died_at_random(environment: dict[str, str], times: int) -> dict[str, Any]:
    """A process that writes, killed so many times."""
    answer: dict[str, Any] = asked(environment, "random", str(times))
    return answer


def created_at_once(environment: dict[str, str], service: str, processes: int) -> list[str]:
    """What so many processes are told that make one page at the same moment: created, changed, or the error's code."""
    answer: list[str] = asked(environment, "create", str(processes), service)
    return answer
