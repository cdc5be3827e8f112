"""Reading takes time in proportion to the text, whatever piece it is made of and however often.

Eight times the text may take eight times as long, and for a busy machine's sake four times that; a square takes
sixty-four times as long. The time is that of this thread alone, and the best of several.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.profiles import examples
from tests.fuzz.texts import PIECES
from vault import frontmatter
from vault.links import Targets, resolve
from vault.markdown import parse_body, prose
from vault.pages import parse_page
from vault.slugs import slugify

SHORT, LONG = 4_000, 32_000


def _resolve(text: str) -> object:
    targets = Targets()
    targets.add_file("a/b.md", page=True)
    return resolve(text, source="a/c.md", targets=targets)


READERS: dict[str, Callable[[str], object]] = {
    "body": parse_body,
    "prose": prose,
    "page": lambda text: parse_page("wiki/a.md", text.encode("utf-8", "surrogatepass")),
    "block": frontmatter.load,
    "split": lambda text: frontmatter.split(f"---\n{text}"),
    "slug": slugify,
    "link": _resolve,
}


def _seconds(read: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.thread_time()
        read(text)
        best = min(best, time.thread_time() - started)
    return best


@pytest.mark.parametrize("reader", READERS)
def test_work_grows_no_faster_than_the_text(reader: str) -> None:
    read = READERS[reader]

    @given(pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3), end=st.sampled_from(["", "x", "\n", "]]"]))
    @example(pieces=["[["], end="")
    @example(pieces=["\n"], end="")
    @example(pieces=["*a "], end="x")
    @example(pieces=["- "], end="")
    @example(pieces=["["], end="")
    @examples(8, 300)
    def grows(pieces: list[str], end: str) -> None:
        piece = "".join(pieces)
        short, long = (piece * (size // len(piece)) + end for size in (SHORT, LONG))
        # A second look at what was slow once: a moment in which the machine was busy does not come twice.
        ratios = (_seconds(read, long) / max(_seconds(read, short), 0.0005) for _ in range(3))
        assert any(ratio < 4 * LONG / SHORT for ratio in ratios), piece

    grows()
