"""Duplicates and suggestions, rule by rule: following the changes comes to the same as looking at everything."""

from __future__ import annotations

import os
import random

import pytest

from reviews.models import LikenessKey
from reviews.producers.duplicates import DuplicateBody, DuplicateTitle
from reviews.producers.mentions import UnlinkedMention
from reviews.producers.orphans import DeadEnd, Orphan
from reviews.producers.uncited import UncitedSource
from tests.conftest import VaultFolder
from tests.reviews.found import Followed, looked, said, take
from tests.wiki.test_rebuild import Person
from wiki.changes import Changed
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db

PRODUCERS = (DuplicateTitle(), DuplicateBody(), UncitedSource(), Orphan(), DeadEnd(), UnlinkedMention())
ROUNDS = int(os.environ.get("SYNAPSE_TEST_ROUNDS", "15"))
SEEDS = int(os.environ.get("SYNAPSE_TEST_SEEDS", "4"))

NAMES = [
    "Alan Turing",
    "alan turing",
    "Obsidian",
    "GPT-4",
    "i18n",
    "Out of Control",
    "知识管理",
    "Notes",
    "Acme Inc",
    "ACME",
    "2024-05-17",
]
STEMS = [*NAMES, "README", "Overview of all", "Person"]
FOLDERS = ["wiki/entities", "wiki/concepts", "notes", "notes/deep", "Templates", "tags", "wiki", ""]
SOURCES = ["a.pdf", "b.md", "deep/a.pdf", "photo.png", "Résumé.txt"]
SENTENCE = "It was {0} who said so, and the others wrote of {0} and of {1} at length in their books.\n"
VIEWS = ["![[Books.base]]", "```dataview\nLIST\n```", "![[map.canvas]]"]


class Author(Person):
    """A person who copies pages, names others, files them under views, and cites sources or does not."""

    def act(self) -> set[str]:
        operations = [self.create, self.edit, self.delete, self.rename, self.copy, self.source, self.reserve, self.many]
        return self.chance.choices(operations, [6, 6, 3, 3, 5, 3, 1, 1])[0]()

    def _path(self) -> str:
        folder = self.chance.choice(FOLDERS)
        name = f"{self.chance.choice(STEMS)}{self.chance.choice(['', '', ' copy', ' (1)'])}.md"
        return f"{folder}/{name}" if folder else name

    def _text(self) -> str:
        chance = self.chance
        lines = ["---"]
        lines += [f"title: {chance.choice(NAMES)}"] if chance.random() < 0.4 else []
        lines += [f"aliases: [{chance.choice(NAMES)}, The other name]"] if chance.random() < 0.2 else []
        lines += [f"lang: {chance.choice(['en', 'ru', 'de'])}"] if chance.random() < 0.3 else []
        lines += [f"type: {chance.choice(['concept', 'rule'])}"] if chance.random() < 0.2 else []
        lines += (
            [f"sources: [{chance.choice(['', 'raw/sources/'])}{chance.choice(SOURCES)}]"]
            if chance.random() < 0.4
            else []
        )
        lines += [f'kind: "[[{chance.choice(STEMS)}]]"'] if chance.random() < 0.3 else []
        lines += ["---", *self._body()]
        return "\n".join(lines)

    def _body(self) -> list[str]:
        chance = self.chance
        words = random.Random(chance.randrange(3))  # three texts, again and again, with few changes
        lines = [
            " ".join(words.choices(["walk", "river", "stone", "cloud", "forest", "harbour"], k=8)) for _ in range(14)
        ]
        for _ in range(chance.choice([0, 0, 1, 2, 8])):
            lines[chance.randrange(len(lines))] = f"other words {chance.randrange(9)}"
        if chance.random() < 0.3:
            lines = lines[:2]
        if chance.random() < 0.6:
            lines.append(SENTENCE.format(chance.choice(NAMES), chance.choice(NAMES)))
        for _ in range(chance.randrange(3)):
            form = chance.choice(
                ["[[{0}]]", "[[{0}|{1}]]", "[[nobody {0}]]", "[[raw/sources/{2}]]", "`{0}`", "![[{0}]]"]
            )
            lines.append(form.format(chance.choice(STEMS), chance.choice(NAMES), chance.choice(SOURCES)))
        if chance.random() < 0.2:
            lines.append(chance.choice(VIEWS))
        return lines

    def copy(self) -> set[str]:
        path, target = self._existing(), self._path()
        if path is None or not path.endswith(".md") or self._taken(target):
            return set()
        text = self.folder.read(path).decode()
        self.folder.write(target, text + self.chance.choice(["", "\nOne more line.\n"]))
        return {target}

    def source(self) -> set[str]:
        path = f"raw/sources/{self.chance.choice(SOURCES)}"
        if self._taken(path) and self.chance.random() < 0.5:
            (self.folder.root / path).unlink()
        else:
            self.folder.write(path, self.chance.choice(["", "one", "two"]))
        return {path}

    def reserve(self) -> set[str]:
        """A page becomes the log, or the log a page."""
        if self._taken("wiki/log.md"):
            return self._rename("wiki/log.md", self._path())
        return self._rename(self._existing(), "wiki/log.md")

    def many(self) -> set[str]:
        """One name in several folders."""
        paths = {f"p{number}/Architecture.md" for number in range(self.chance.randint(1, 6))}
        return {path for path in paths if not self._taken(path) and self.folder.write(path, self._text())}


def keys() -> set[tuple[int, str, str]]:
    return set(LikenessKey.objects.values_list("page_id", "kind", "key"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_following_comes_to_the_same_as_looking_at_everything(vault_folder: VaultFolder, seed: int) -> None:
    person = Author(vault_folder, seed)
    followed = [Followed(producer) for producer in PRODUCERS]
    for number in range(ROUNDS):
        told = set().union(*(person.act() for _ in range(20 if number == 0 else person.chance.randint(1, 4))))
        sync_paths(told, allow_deletions=True) if person.chance.random() < 0.5 else scan(allow_deletions=True)
        scan(allow_deletions=True)
        changed = take()
        for one in followed:
            one.follow(changed)
        kept = keys()
        for one in followed:
            assert one.said() == said(looked(one.producer)), (number, one.producer.rule)
        assert keys() <= kept, "former titles are all that may be kept"


@pytest.mark.parametrize("producer", PRODUCERS, ids=[producer.rule for producer in PRODUCERS])
def test_each_rule_opens_and_closes_in_these_vaults(vault_folder: VaultFolder, producer) -> None:  # type: ignore[no-untyped-def]
    """The test above proves nothing for a rule that finds nothing."""
    opened, closed = set(), set()
    followed = Followed(producer)
    for seed in range(6):
        person = Author(vault_folder, seed)
        for _ in range(8):
            for _ in range(5):
                person.act()
            scan(allow_deletions=True)
            before = set(followed.known)
            followed.follow(take())
            opened |= followed.known.keys() - before
            closed |= before - followed.known.keys()
        if opened and closed:
            return
    pytest.fail(f"opened {len(opened)}, closed {len(closed)}")


def test_an_empty_change_changes_nothing(vault_folder: VaultFolder) -> None:
    vault_folder.write("a.md", "Text.")
    scan()
    for producer in PRODUCERS:
        assert producer.targets(Changed()) == set()
        assert list(producer.find([])) == []
