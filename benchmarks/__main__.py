"""``make bench``: every measurement, each in a process of its own, as the tables of docs/benchmarks.md."""

from __future__ import annotations

import argparse
import subprocess
import sys

PARTS = (
    "benchmarks.scan",
    "benchmarks.operations",
    "benchmarks.meaning",
    "benchmarks.reviews",
    "benchmarks.desk",
    "benchmarks.producers",
    "benchmarks.mcp",
)


def main() -> int:
    """Run the parts one after the other; exit 1 when one of them misses a bound."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    missed = 0
    for part in PARTS:
        print(f"\n### python -m {part} --notes {options.notes}\n", flush=True)
        missed += (
            subprocess.run([sys.executable, "-m", part, "--notes", str(options.notes)], check=False).returncode != 0
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
