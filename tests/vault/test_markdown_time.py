"""Whatever a text holds, reading it takes time in proportion to its length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from vault.markdown import parse_body, prose

_BOMBS: list[tuple[str, Callable[[int], str]]] = [
    ("openings", lambda n: "[[" * (n // 2)),
    ("bars", lambda n: "[[a" + "|" * n + "]]"),
    ("quotes", lambda n: ">" * n + " [[A]]"),
    ("quote and list", lambda n: "> - " * (n // 4) + "\n\n"),
    ("items", lambda n: "- " * (n // 4) + "\n" * (n // 2)),
    ("empty items", lambda n: "-\n\n" * (n // 3)),
    ("brackets", lambda n: "[[" + "[a" * (n // 4) + "]" * (n // 4) + "]]"),
    ("destinations", lambda n: "](" * (n // 2)),
    ("open destinations", lambda n: '[a](b "' * (n // 7)),
    ("nested pictures", lambda n: "![" * (n // 8) + "](x)" * (n // 8)),
    ("backticks", lambda n: "".join("`" * (i % 300 + 1) + " " for i in range(n // 150))),
    ("comments", lambda n: "x <!-- \n" * (n // 8)),
    ("comments in a line", lambda n: "<!-- " * (n // 5)),
    ("dollars", lambda n: "$a " * (n // 3)),
    ("mathematics", lambda n: "$$ x\n" * (n // 5)),
    ("mathematics in a paragraph", lambda n: "a $$\n$$ b\n" * (n // 10)),
    ("tables", lambda n: "a|b\n-|-\nc|d\n\n" * (n // 13)),
    ("delimiters", lambda n: "a|b\n" + "-|-\n" * (n // 4)),
    ("headings", lambda n: "> a\n> ===\n" * (n // 10)),
    ("a heading's blanks", lambda n: "# a" + " " * n + "x"),
    ("a heading's hashes", lambda n: "# " + "# " * (n // 2) + "x"),
    ("blanks", lambda n: " " * n + "x"),
    ("tabs", lambda n: "\t" * n + "x"),
    ("stars", lambda n: "* " * (n // 2) + "x"),
    ("dots", lambda n: "." * n),
    ("underscores", lambda n: "a " + "_" * n),
    ("block ids", lambda n: "a ^" * (n // 3)),
    ("hashes", lambda n: " #a" * (n // 3)),
    ("elements", lambda n: "<a " * (n // 3)),
    ("open elements", lambda n: "<pre>" * (n // 5)),
    ("less thans", lambda n: "<" * n),
    ("percents", lambda n: "%a" * (n // 2)),
    ("at signs", lambda n: "a@" * (n // 2)),
    ("hosts", lambda n: "www." * (n // 4)),
    ("schemes", lambda n: "a:" * (n // 2)),
    ("a long word", lambda n: "a-" * (n // 2) + "@"),
    ("references", lambda n: "[a]" * (n // 3)),
]


@pytest.mark.parametrize("read", [parse_body, prose])
@pytest.mark.parametrize("bomb", [bomb for _, bomb in _BOMBS], ids=[name for name, _ in _BOMBS])
def test_time_is_linear_in_the_text(bomb: Callable[[int], str], read: Callable[[str], object]) -> None:
    def seconds(size: int) -> float:
        text = bomb(size)
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            read(text)
            best = min(best, time.process_time() - started)
        return best

    # Eight times the text: eight times the time, where quadratic is sixty-four times.
    assert seconds(80_000) < 32 * max(seconds(10_000), 0.001)
