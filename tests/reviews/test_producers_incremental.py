"""Looking at what changed comes to the same as looking at everything: after whatever people, agents and tools do."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from typing import Any

import pytest

from reviews.models import Evidence, ReviewEvent, ReviewItem, Status
from reviews.producers import PRODUCERS
from reviews.producers.runner import run, run_everything, sweep
from reviews.services import resolve
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, CLAUDE
from tests.wiki.person import FOLDERS, NAMES, Person
from vault.errors import SynapseError
from wiki.models import Page
from wiki.services import page_delete, page_move, page_retitle, write_page
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db

SOURCES = ["a.txt", "b.md", "sub/c.md"]
ASKED = ["Nobody", "no-body|No Body", "no body", "No-Body", "C++", "c|C++", "old/Ada"]
MARK = ".sync-conflict-20240101-101010-ABCDEFG"
ROUNDS = int(os.environ.get("SYNAPSE_TEST_ROUNDS", "8"))
SEEDS = int(os.environ.get("SYNAPSE_TEST_SEEDS", "3"))


class Household(Person):
    """A person with sources, sync conflicts, typing errors and an agent."""

    def act(self) -> set[str]:
        operations = [super().act, self.source, self.conflict, self.spoil, self.article, self.agent]
        return self.chance.choices(operations, [10, 4, 2, 1, 3, 5])[0]()

    def _text(self) -> str:
        text = super()._text().replace("sources: [", f"sources: [raw/sources/{self.chance.choice(SOURCES)}, ")
        asked = self.chance.choice([*NAMES, *ASKED])
        mentioned = self.chance.choice(NAMES)
        source = self.chance.choice(SOURCES)
        return f"{text}\nSomebody wrote of {mentioned} at length. [[{asked}]] [[{source}]]\n"

    def source(self) -> set[str]:
        path = f"raw/sources/{self.chance.choice(SOURCES)}"
        if self.chance.random() < 0.3 and self._taken(path):
            (self.folder.root / path).unlink()
        else:
            self.folder.write(path, f"version {self.chance.randrange(3)}")
        return {path}

    def conflict(self) -> set[str]:
        path = self._existing()
        if path is None or not path.endswith(".md"):
            return set()
        copy = path.replace(".md", f"{MARK}.md") if MARK not in path else path
        if self._taken(copy) and self.chance.random() < 0.5:
            (self.folder.root / copy).unlink()
        else:
            self.folder.write(copy, self._text())
        return {copy}

    def spoil(self) -> set[str]:
        path = self._existing()
        if path is None:
            return set()
        fault = self.chance.choice(["a: [1", "a: 1\na: 2", "- list"])
        self.folder.write(path, f"---\n{fault}\n---\n{self._link()}")
        return {path}

    def article(self) -> set[str]:
        """One of two long texts without a link, a few words of it changed."""
        path = self._path()
        words = [f"word{number}" for number in random.Random(self.chance.randrange(2)).choices(range(500), k=90)]
        for _ in range(self.chance.randrange(3)):
            words[self.chance.randrange(90)] = f"other{self.chance.randrange(9)}"
        self.folder.write(path, " ".join(words))
        return {path}

    def agent(self) -> set[str]:
        """A change through the services; what they refuse is refused."""
        page = self._page()
        with suppress(SynapseError):
            self.chance.choice([self._write, self._write, self._move, self._retitle, self._delete])(page)
        return set()

    def _page(self) -> Page | None:
        pages = list(Page.objects.listed().order_by("path"))
        return self.chance.choice(pages) if pages else None

    def _write(self, page: Page | None) -> None:
        title = page.title if page and self.chance.random() < 0.5 else self.chance.choice(NAMES)
        sources = [f"raw/sources/{self.chance.choice(SOURCES)}"]
        given = {"type": "concept", "title": title, "sources": sources, "lang": "en"}
        content = f"{self._link()} and {self.chance.choice(NAMES)} [[{self.chance.choice(SOURCES)}]]"
        base = page.content_hash if page else None
        write_page(title=title, content=content, frontmatter=given, base_hash=base, author=CLAUDE)

    def _move(self, page: Page | None) -> None:
        if page:
            path = f"{self.chance.choice(FOLDERS[:3])}/{self.chance.choice(NAMES)}.md"
            page_move(page=page, path=path, author=ALICE)

    def _retitle(self, page: Page | None) -> None:
        if page:
            title = f"{self.chance.choice(NAMES)}{self.chance.choice(['', ' 2'])}"
            page_retitle(page=page, title=title, author=ALICE, base_hash=page.content_hash, rename=True)

    def _delete(self, page: Page | None) -> None:
        if page:
            page_delete(page=page, author=ALICE)


def questions() -> dict[tuple[Any, ...], list[Any]]:
    """What is pending, as it is compared: rule, target and page, with all that lists show, and what it rests on."""
    rests: dict[Any, list[int]] = {}
    for item, page in Evidence.objects.order_by("page_id").values_list("item_id", "page_id"):
        rests.setdefault(item, []).append(page)
    fields = ("pk", "rule", "target", "page_id", "evidence_hash", "title", "rank", "file_id")
    rows = ReviewItem.objects.filter(status=Status.PENDING).values_list(*fields)
    return {(rule, target, page): [*rest, rests.get(pk, [])] for pk, rule, target, page, *rest in rows}


def anew() -> dict[tuple[Any, ...], list[Any]]:
    """What an empty queue would hold after a look at everything."""
    ReviewItem.objects.all().delete()
    run_everything()
    return questions()


def catch_up(person: Household, told: set[str]) -> None:
    """Let the index and then the queue hear of it."""
    report = sync_paths(told, allow_deletions=True) if person.chance.random() < 0.5 else scan(allow_deletions=True)
    assert report.stopped is None
    scan(allow_deletions=True)
    assert run()["failed"] == {}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_changed_comes_to_the_same_as_everything(vault_folder: VaultFolder, seed: int) -> None:
    person = Household(vault_folder, seed)
    for _ in range(25):
        person.act()
    scan(allow_deletions=True)
    run(rescanned=True)
    rules: set[str] = set()
    for _ in range(ROUNDS):
        told = set().union(*(person.act() for _ in range(person.chance.randint(1, 5))))
        catch_up(person, told)
        kept = questions()
        run_everything()
        assert questions() == kept
        rules |= {rule for rule, *_ in kept}
    assert len(rules) > 4
    events = ReviewEvent.objects.count()
    run_everything()
    assert sweep() == 0
    assert ReviewEvent.objects.count() == events, "looking twice writes nothing"
    assert anew() == kept


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_vault_put_right_leaves_nothing_to_decide(vault_folder: VaultFolder, seed: int) -> None:
    person = Household(vault_folder, seed)
    for _ in range(40):
        person.act()
    scan(allow_deletions=True)
    run(rescanned=True)
    assert questions()
    for path in vault_folder.files():
        (vault_folder.root / path).unlink()
    for one, other in (("a", "b"), ("b", "a")):
        vault_folder.write(f"wiki/{one}.md", f"A text of its own, about {one * 9}. [[{other}]]")
    scan(allow_deletions=True)
    run()
    assert questions() == {}
    assert set(ReviewItem.objects.values_list("status", flat=True)) == {"auto_resolved"}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_dismissed_is_never_asked_again(vault_folder: VaultFolder, seed: int) -> None:
    person = Household(vault_folder, seed)
    for _ in range(25):
        person.act()
    scan(allow_deletions=True)
    run(rescanned=True)
    for item in ReviewItem.objects.filter(status=Status.PENDING):
        resolve(item_id=item.pk, action="dismiss", author=ALICE)
    dismissed = set(ReviewItem.objects.values_list("content_key", flat=True))
    for _ in range(3):
        catch_up(person, set().union(*(person.act() for _ in range(5))))
    run_everything()
    new = ReviewItem.objects.exclude(status=Status.DISMISSED)
    assert dismissed.isdisjoint(new.values_list("content_key", flat=True))


def test_each_rule_has_its_say(vault_folder: VaultFolder) -> None:
    """Households are no proof for a rule that finds nothing in any of them."""
    found: set[str] = set()
    person = Household(vault_folder, 0)
    for _ in range(20):
        for _ in range(10):
            person.act()
        scan(allow_deletions=True)
        run(rescanned=True)
        found |= set(ReviewItem.objects.values_list("rule", flat=True))
        if found >= {producer.rule for producer in PRODUCERS}:
            return
    pytest.fail(f"nothing was found by {sorted({producer.rule for producer in PRODUCERS} - found)}")
