"""A made-up vault of any size, the same for the same numbers: what the benchmarks run on.

``python -m benchmarks.vault FOLDER NOTES [--seed N]`` writes one. A note has about 10.5 KB and 9 wikilinks, most of
them in another case than the file's name, some with a path, an alias or a heading, two in a hundred broken; every
fifth has an alias, every twentieth a Chinese title.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

ONSETS = ("b c d f g h k l m n p r s t v " + "br cl dr gr pl st tr sh th").split()
VOWELS = ("a e i o u " + "ai ea io ou").split()
CODAS = ("", "", "", "n", "r", "s", "l", "m", "nd", "st")
HAN = "山水火木金土日月人口心手目耳書文字言語理論学知識系統模型数据网络方法结构索引概念"
FOLDERS = [f"{kind}/{area}" for kind in ("concepts", "entities", "sources", "projects") for area in "abcde"]
TYPES = {"concepts": "concept", "entities": "entity", "sources": "source", "projects": "synthesis"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What the notes are like. Shares are of 1."""

    words: tuple[int, int] = (300, 1_400)
    links: tuple[int, int] = (3, 15)
    broken: float = 0.015
    aliased: float = 0.2
    han_titles: float = 0.05
    same_case: float = 0.15


@dataclass(frozen=True, slots=True)
class Note:
    """A note to be written: its title, which is its file's stem, and its folder."""

    title: str
    folder: str

    @property
    def path(self) -> str:
        """Vault-relative."""
        return f"{self.folder}/{self.title}.md"


class Writer:
    """Makes notes from one source of chance, so that the order of calls decides what they hold."""

    def __init__(self, seed: int, shape: Shape) -> None:
        self.chance = random.Random(seed)
        self.shape = shape
        self.vocabulary = sorted({self._word() for _ in range(9_000)})
        self.chance.shuffle(self.vocabulary)
        # Zipf's law, roughly: few words make up most of a text
        self.weights = list(accumulate(1 / (rank + 4) for rank in range(len(self.vocabulary))))

    def _word(self) -> str:
        syllables = self.chance.choices([1, 2, 3], weights=[2, 5, 3])[0]
        pick = self.chance.choice
        return "".join(pick(ONSETS) + pick(VOWELS) + pick(CODAS) for _ in range(syllables))

    def notes(self, count: int) -> list[Note]:
        """Titles, each once in any case, and folders."""
        made = []
        for number in range(count):
            if self.chance.random() < self.shape.han_titles:
                name = "".join(self.chance.choices(HAN, k=4))
            else:
                name = " ".join(word.capitalize() for word in self.chance.choices(self.vocabulary, k=3))
            made.append(Note(f"{name} {number}", self.chance.choice(FOLDERS)))
        return made

    def text(self, note: Note, notes: list[Note]) -> str:
        """The file's text."""
        targets = [self.chance.choice(notes) for _ in range(self.chance.randint(*self.shape.links))]
        return f"{self._frontmatter(note)}\n# {note.title}\n\n" + "\n\n".join(self._blocks(targets)) + "\n"

    def _frontmatter(self, note: Note) -> str:
        tags = ", ".join(self.chance.sample(self.vocabulary[:80], 3))
        lines = ["---", f"title: {note.title}", f"type: {TYPES[note.folder.split('/')[0]]}", f"tags: [{tags}]"]
        lines.append(f"created: 20{self.chance.randint(20, 25)}-0{self.chance.randint(1, 9)}-11")
        lines.append(f"sources:\n  - raw/sources/{self.chance.randrange(400)}.pdf")
        if self.chance.random() < self.shape.aliased:
            lines.append(f"aliases:\n  - {note.title} also")
        return "\n".join([*lines, "---"])

    def _blocks(self, targets: list[Note]) -> Iterator[str]:
        left = self.chance.randint(*self.shape.words)
        while left > 0 or targets:
            words = self.chance.choices(self.vocabulary, cum_weights=self.weights, k=self.chance.randint(50, 130))
            left -= len(words)
            if targets:
                words.insert(self.chance.randrange(len(words)), self._link(targets.pop()))
            yield from self._block(words)

    def _block(self, words: list[str]) -> Iterator[str]:
        if self.chance.random() < 0.25:
            yield f"## {' '.join(self.chance.choices(self.vocabulary, k=3)).title()}"
        if self.chance.random() < 0.1:
            yield "```python\nskipped = '[[not a link]]'\n```"
        if self.chance.random() < 0.15:
            fact = " ".join(self.chance.choices(self.vocabulary, k=10))
            yield f"- {fact} #{self.vocabulary[self.chance.randrange(80)]}"
        yield " ".join(words) + "."

    def _link(self, target: Note) -> str:
        if self.chance.random() < self.shape.broken:
            return f"[[no such note {self.chance.randrange(10_000)}]]"
        name = target.title if self.chance.random() < self.shape.same_case else target.title.lower()
        form = self.chance.random()
        if form < 0.65:
            return f"[[{name}]]"
        if form < 0.85:
            return f"[[{name}|{self.chance.choice(self.vocabulary)}]]"
        if form < 0.9:
            return f"[[{name}#{self.chance.choice(self.vocabulary)}]]"
        return f"[[{target.folder}/{name}]]"


def make_vault(root: Path, count: int, *, seed: int = 7, shape: Shape | None = None) -> list[Note]:
    """Write ``count`` notes below ``root``; returns them in the order in which they were made."""
    writer = Writer(seed, shape or Shape())
    notes = writer.notes(count)
    for folder in {note.folder for note in notes}:
        (root / folder).mkdir(parents=True, exist_ok=True)
    for note in notes:
        (root / note.path).write_text(writer.text(note, notes), encoding="utf-8")
    return notes


def main() -> None:
    """Write a vault from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("notes", type=int)
    parser.add_argument("--seed", type=int, default=7)
    chosen = parser.parse_args()
    notes = make_vault(chosen.folder, chosen.notes, seed=chosen.seed)
    size = sum((chosen.folder / note.path).stat().st_size for note in notes)
    print(f"{len(notes):,} notes, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
