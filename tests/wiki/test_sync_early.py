"""Links that a first scan answers as it writes them have the answers that they would have got at its end."""

from __future__ import annotations

import random

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, whole_index
from vault.root import Vault
from wiki.models import Link, Page
from wiki.sync import scan
from wiki.sync import steps as sync_steps
from wiki.sync.early import EarlyAnswers
from wiki.sync.reads import PageRead, read_page

pytestmark = pytest.mark.django_db

NAMES = ("a", "A", "b", "c", "d", "é", "e\u0301", "x.png")
FOLDERS = ("", "one/", "two/", "one/two/")
TARGETS = (*NAMES, "one/a", "two/b", "/one/a", "./c", "../d", "nobody", "Some title", "Some alias", "#Part", "a#Part")


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiki.sync.plan.PAGES_AT_ONCE", 2)


def write_at_random(folder: VaultFolder, seed: int) -> None:
    chosen = random.Random(seed)
    for number in range(14):
        name = chosen.choice(NAMES)
        links = [f"[[{chosen.choice(TARGETS)}]] [m](<{chosen.choice(TARGETS)}>)" for _ in range(4)]
        title = chosen.choice(("Some title", f"Other {number}", chosen.choice(NAMES)))
        path = f"{chosen.choice(FOLDERS)}{name}" + ("" if name.endswith(".png") else ".md")
        folder.write(path, f"---\ntitle: {title}\naliases: [Some alias]\n---\n" + "\n".join(links))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("seed", range(12))
def test_an_early_answer_is_the_last_one(vault_folder: VaultFolder, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write_at_random(vault_folder, seed)
    scan()
    early = whole_index()
    monkeypatch.setattr(EarlyAnswers, "answered", lambda self, source, links: list(links))
    assert rebuilt_index() == early


@pytest.mark.usefixtures("small_batches")
def test_a_file_that_goes_during_the_scan_decides_nothing(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("a.md", "one/b.md", "two/b.md"):
        vault_folder.write(path, "[[b]] [[a]]")

    def read(vault: Vault, path: str, **rest: str | None) -> PageRead | None:
        if path == "one/b.md":
            (vault.root / path).unlink()
        return read_page(vault, path, **rest)

    monkeypatch.setattr(sync_steps, "read_page", read)
    scan()
    assert set(Link.objects.filter(text="b").values_list("target_path", flat=True)) == {"two/b.md"}


def test_a_link_to_a_heading_of_its_own_page_leads_there(vault_folder: VaultFolder) -> None:
    vault_folder.write("a.md", "[[#Part]]")
    scan()
    link = Link.objects.get()
    assert (link.state, link.target_path, link.target) == ("self", "a.md", Page.objects.get())
