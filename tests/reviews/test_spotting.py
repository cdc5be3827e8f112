"""Words of texts, and the keys that are spotted among them: the same as by looking at each word."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from reviews.producers.spotting import AT_ONCE, Spotter
from reviews.producers.words import spaced_words, text_words
from wiki.search.text import SPACELESS

SIGNS = [*"abcXYZ019 _-\n.,'’“”", *"éÉßẞſKİıΣςσ\u00a0½①", *"山水火セタか한국ไท\u0301\u200b😀ﬁ"]
LETTERS = [*SIGNS, *map(chr, range(0x400, 0x460))]


def words_one_by_one(text: str) -> list[str]:
    """As the module says it: casefolded runs of letters and digits, pairs of characters where no blanks are."""
    found = []
    for run in re.findall(r"[^\W_]+", text.casefold()):
        at = 0
        for part in SPACELESS.finditer(run):
            found += [run[at : part.start()], *(map("".join, pairwise(part[0])) if len(part[0]) > 1 else part[0])]
            at = part.end()
        found.append(run[at:])
    return [word for word in found if word]


@pytest.mark.parametrize("seed", range(4))
def test_words_are_those_found_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(400):
        signs = chance.sample(LETTERS, chance.choice([5, 20, 50, len(LETTERS)]))
        text = "".join(chance.choices(signs, k=chance.randrange(200)))
        assert text_words(text) == words_one_by_one(text)


@pytest.mark.parametrize("seed", range(4))
def test_what_stands_in_a_text_is_spotted_there_and_nowhere_else(seed: int) -> None:
    chance = random.Random(seed)
    words = ["a", "to", "seventh", "eighteen", "ninetieth", "internationalize", "internationalized", "山水", "é", "лев"]
    keys = [word for word in words if chance.random() < 0.5]
    keys += [f"{one} {other}" for one in words for other in words if chance.random() < 0.3]
    spotter = Spotter(keys)
    for _ in range(20):
        rows = [
            spaced_words(chance.choice([" ", ".\n\n", " - "]).join(chance.choices(words, k=chance.randrange(9))))
            for _ in range(chance.choice([1, 7, AT_ONCE]))
        ]
        for row, spotted in zip(rows, spotter.spot(rows), strict=True):
            standing = row.decode().split()
            assert spotted == {*standing, *map(" ".join, pairwise(standing))} & set(keys)


def test_long_words_that_begin_alike_may_be_taken_for_one_another_and_are_never_missed() -> None:
    spotter = Spotter(["internationalisations", "internationalisationz", "other"])
    assert "internationalisationz" in spotter.spot([b"internationalisationz"])[0]


@pytest.mark.parametrize("rows", [[], [b""], [b"", b"a", b""]])
def test_nothing_is_spotted_without_keys_or_words(rows: list[bytes]) -> None:
    assert Spotter([]).spot(rows) == [set() for _ in rows]
    assert Spotter(["b", "a b"]).spot(rows) == [set() for _ in rows]
