"""Ask a model about all labelled prompts, through whatever command reaches it, and compare.

The command gets one question on its standard input and answers on its standard output; the last yes, no or ask that
stands there counts. Ends with 1 if more went wrong than ``--allow``.

    python skill/evals/run.py -- llm --model NAME
    python skill/evals/run.py --only de -- my-client --print
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
SKILL: Final = HERE.parent / "synapse-wiki" / "SKILL.md"

QUESTION: Final = """You are an assistant with one skill installed. All you know of it is its description:

<description>
{description}
</description>

A user, with nothing said before, writes:

<prompt>
{prompt}
</prompt>

Would you start the skill for this? Answer with one word: yes (start it), no (leave it), or ask (ask the user first).
"""


def question(prompt: str, skill: str) -> str:
    """What the model is asked about one prompt; ``skill`` is the text of SKILL.md."""
    front = skill.split("---\n")[1]
    description = re.sub(r"\s+", " ", front.partition("description: >-")[2].partition("\ncompatibility:")[0]).strip()
    return QUESTION.format(description=description, prompt=prompt)


def decision_in(answer: str) -> str:
    """The last yes, no or ask of an answer, or "" if it has none."""
    found: list[str] = re.findall(r"\b(yes|no|ask)\b", answer.lower())
    return found[-1] if found else ""


def labelled(only: str = "") -> list[dict[str, Any]]:
    """The prompts with what is expected of each, those that should be asked about last."""
    rows = [row for name in ("prompts", "unsure") for row in json.loads((HERE / f"{name}.json").read_text("utf-8"))]
    return [row for row in rows if only in ("", row["lang"])]


def wrong(row: dict[str, Any], decided: str) -> bool:
    """Asking is never as bad as starting unasked: where no is expected, ask will do."""
    return decided not in ({"no", "ask"} if row["expect"] == "no" else {row["expect"]})


def run(command: Sequence[str], rows: Iterable[dict[str, Any]], seconds: float) -> Counter[str]:
    """Ask about each row and print what went wrong; returns counts of right and wrong answers by expectation."""
    skill = SKILL.read_text("utf-8")
    counts: Counter[str] = Counter()
    for row in rows:
        asked = question(row["prompt"], skill)
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=seconds, check=False)  # noqa: S603
        decided = decision_in(done.stdout)
        bad = wrong(row, decided)
        counts[f"{row['expect']}: {'wrong' if bad else 'right'}"] += 1
        if bad:
            print(f"{row['id']}: {row['expect']} expected, {decided or 'nothing'} answered: {row['prompt']}")
    return counts


def main() -> int:
    """Parse the command line, ask, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a language: en, it, de or fr")
    parser.add_argument("--allow", type=int, default=0, help="how many wrong answers are no failure")
    parser.add_argument("--seconds", type=float, default=120, help="time for one answer")
    parser.add_argument("command", nargs="+", help="what reaches the model, after --")
    given = parser.parse_args()
    counts = run(given.command, labelled(given.only), given.seconds)
    for what, number in sorted(counts.items()):
        print(f"{number:3}  {what}")
    missed = sum(number for what, number in counts.items() if what.endswith("wrong"))
    return int(missed > given.allow)


if __name__ == "__main__":
    sys.exit(main())
