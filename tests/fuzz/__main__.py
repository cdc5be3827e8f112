"""Rounds of the long form until the time is over: ``python -m tests.fuzz 10`` (minutes).

A round is not cut off: the last may end later. The first that fails ends it all, and says how to see it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

ROUND = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "tests/fuzz"]


def main(minutes: float) -> int:
    """0 after at least one round without a failure."""
    until = time.monotonic() + 60 * minutes
    rounds = 0
    while not rounds or time.monotonic() < until:
        code = subprocess.call(ROUND, env={**os.environ, "SYNAPSE_TEST_FUZZ": "long"})
        if code:
            print(f"round {rounds + 1} failed; what was found is kept in .hypothesis and tried first the next time")
            return code
        rounds += 1
    print(f"{rounds} rounds, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 10))
