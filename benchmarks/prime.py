"""Speed of prime over made vaults: `python -m benchmarks.prime [--notes 2000] [--json]`. CPU milliseconds a question.

Each question is asked over atoms at hand, as in a server that has answered before; ``first`` is the first one after a
start, ``after a write`` one for which the index has changed since.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.own_database import own_database
from benchmarks.vault import make_vault

REPEATS = 15
BRIEF = "Write an overview of {title} without {other}, and say how it differs"


def cpu_ms(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """The median CPU milliseconds of a call."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        spent.append((time.process_time() - start) * 1000)
    return round(median(spent), 1)


def measure() -> dict[str, Any]:
    """All questions over the vault in the index."""
    from vault.current import current_vault
    from wiki.prime.asking.intent import intent
    from wiki.prime.asking.query import query
    from wiki.prime.asking.resolve import resolve
    from wiki.prime.atoms.levels import Level
    from wiki.prime.atoms.loading import atoms, forget_atoms
    from wiki.prime.checking.compile import compile_source
    from wiki.prime.checking.validate import validate

    def first() -> None:
        forget_atoms()
        atoms()

    load = cpu_ms(first, 3)
    index = atoms()
    some = [atom for atom in index if atom.degree][:: max(1, len(index) // 40)][:20]
    titles = [atom.title for atom in some]
    briefs = [BRIEF.format(title=one, other=two) for one, two in pairwise(titles)]
    turns = iter(range(10**9))

    def each(values: list[str], ask: Callable[[str], Any]) -> Callable[[], Any]:
        return lambda: ask(values[next(turns) % len(values)])

    intent(brief=briefs[0])  # the table of names is made once
    context = resolve(brief=briefs[0], include_text=True)
    text = "\n\n".join(hit["text"] for hit in context["hits"])
    names = [hit["id"] for hit in context["hits"]]
    page = next(atom for atom in some if atom.cost(Level.FULL) > 500 or atom is some[-1])
    source = current_vault().read(page.path).data.decode()
    return {
        "atoms": len(index),
        "first": load,
        "query focus": cpu_ms(each(titles, lambda title: query(scope=f"focus:{title}"))),
        "query all": cpu_ms(query),
        "intent": cpu_ms(each(briefs, lambda brief: intent(brief=brief))),
        "resolve": cpu_ms(each(briefs, lambda brief: resolve(brief=brief))),
        "validate": cpu_ms(lambda: validate(artifact=text, atom_set=names)),
        "compile": cpu_ms(lambda: compile_source(source=source)),
        "compile changed": cpu_ms(lambda: compile_source(source=source + "\nMore.\n", deep=True)),
    }


def main() -> int:
    """Make a vault, scan it, ask."""
    parser = argparse.ArgumentParser(prog="benchmarks.prime", description=__doc__.partition("\n")[0])
    parser.add_argument("--notes", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with own_database("synapse_prime") as vendor:
        from django.conf import settings

        from wiki.sync import scan

        make_vault(Path(settings.SYNAPSE_VAULT), options.notes)
        scan()
        result = {"database": vendor, **measure()}
    print(json.dumps(result) if options.json else "\n".join(f"{name:<18}{value}" for name, value in result.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
