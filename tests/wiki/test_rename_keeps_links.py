"""After a move or a new title each link leads to the page it led to, and nothing but links has changed."""

from __future__ import annotations

import random
import re

import pytest

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from wiki import jobs
from wiki.models import Link, Page
from wiki.services import page_move, page_retitle
from wiki.sync import dump_index, scan

pytestmark = pytest.mark.django_db

FOLDERS = ["", "a", "b", "a/deep", "wiki/concepts"]
NAMES = ["x", "y", "X Y", "é", "z.v2"]
TITLES = ["One", "Two", "x", "Ex Why", "deep/x"]


def fill(folder: VaultFolder, chance: random.Random) -> None:
    paths = {"/".join(filter(None, (chance.choice(FOLDERS), f"{chance.choice(NAMES)}.md"))) for _ in range(8)}
    paths = {path for path in sorted(paths) if sum(path.casefold() == other.casefold() for other in paths) == 1}
    targets = [path[:-3] for path in paths] + [path.rpartition("/")[2][:-3] for path in paths]
    targets += [*TITLES, "Nick", "nobody", "./x", "../x", "deep/x", "x.md", "X"]
    for path in sorted(paths):
        block = f"---\ntitle: {chance.choice(TITLES)}\n" if chance.random() < 0.5 else "---\n"
        block += "aliases: [Nick]\n" if chance.random() < 0.2 else ""
        block += f'up: "[[{chance.choice(targets)}]]"\n' if chance.random() < 0.3 else ""
        links = [link(chance, chance.choice(targets)) for _ in range(6)]
        folder.write(path, f"{block}---\n" + " and ".join(links) + "\n")


def link(chance: random.Random, target: str) -> str:
    sub = chance.choice(["", "", "#H", "#^b"])
    if chance.random() < 0.2:
        return f"[shown]({target.replace(' ', '%20')}.md{sub})"
    alias = chance.choice(["", "|shown", "|One"])
    return f"{chance.choice(['', '', '!'])}[[{target}{sub}{alias}]]"


def led() -> dict[tuple[str, str, int], str]:
    """By page, kind and place among the page's links: the page it leads to."""
    found: dict[tuple[str, str, int], str] = {}
    counts: dict[tuple[str, bool], int] = {}
    for row in Link.objects.select_related("source", "target").order_by("source_id", "order"):
        key = (str(row.source.uid), row.kind == "property")
        counts[key] = counts.get(key, 0) + 1
        if row.target is not None:
            found[key[0], str(key[1]), counts[key]] = str(row.target.uid)
    return found


def without_links(folder: VaultFolder) -> list[str]:
    texts = [folder.read(path).decode() for path in folder.files() if path not in ("wiki/log.md", "wiki/index.md")]
    return sorted(re.sub(r"!?\[\[[^\]]*\]\]|\]\([^)]*\)|title: .*\n", "", text) for text in texts)


@pytest.mark.parametrize("seed", range(30))
def test_each_link_leads_where_it_led(vault_folder: VaultFolder, alice: Writer, seed: int) -> None:
    chance = random.Random(seed)
    fill(vault_folder, chance)
    scan()
    before, texts = led(), without_links(vault_folder)
    page = chance.choice(list(Page.objects.live().order_by("path")))
    if seed % 2:
        path = "/".join(filter(None, (chance.choice([*FOLDERS, "new"]), chance.choice([*NAMES, "fresh"]) + ".md")))
        if Page.objects.filter(path__iexact=path).exists():
            path = "new/free.md"
        done = alice.do(page_move, page=page, path=path)
    else:
        done = alice.do(
            page_retitle, page=page, title="A New Title", rename=bool(seed % 4), base_hash=page.content_hash
        )
    assert done.failed == []
    after = led()
    assert {key: after.get(key) for key in before} == before
    assert without_links(vault_folder) == texts
    jobs.drain()
    index = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == index
