"""P27: every write is attributable and reversible: a restored version is the old bytes, whatever they were."""

from __future__ import annotations

import random

import pytest

from tests.conftest import VaultFolder
from tests.promises.figures import Measured
from tests.wiki.conftest import ALICE, CLAUDE
from vault import history
from vault.current import current_vault
from wiki.models import Audit, Page
from wiki.services import page_delete, page_history, page_restore, write_page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

PATH = "wiki/concepts/ada.md"
GIVEN = {"type": "concept", "title": "Ada", "sources": ["a"], "lang": "en"}
#: What a person's editor may leave behind: each ends with the number of its save.
ODD = [
    b"---\r\ntitle: Ada\r\nx:   [1,  2] # kept\r\n---\r\nText\r\n",
    b"\xef\xbb\xbf---\ntitle: Ada\n---\nno newline",
    b"---\ntitle: Ada\nbroken: [\n---\n",
    b"---\ntitle: Ada\n---\ncaf\xe9 \xff\x00",
    b"",
    b"---\ntitle: Ada\n---\n" + "e\u0301 \u2028 🙂".encode(),
]


def test_a_hundred_restores_are_the_old_bytes(vault_folder: VaultFolder, measured: Measured) -> None:
    write_page(title="Ada", content="0\n", frontmatter=GIVEN, author=CLAUDE)
    page = Page.objects.get(path=PATH)
    first = vault_folder.read(PATH)
    write_page(title="Ada", content="1\n", frontmatter=GIVEN, author=CLAUDE)
    taken: dict[int, bytes] = {}
    for number, odd in enumerate(ODD * 2, start=3):
        vault_folder.write(PATH, taken.setdefault(number, odd + f"<!-- {number} -->".encode()))
        scan()
        base = Page.objects.get(path=PATH).content_hash
        page_restore(page=page, version=1, base_hash=base, author=ALICE)
        assert vault_folder.read(PATH) == first
    r = random.Random(27)
    for _ in range(100):
        number = r.choice(sorted(taken))
        page_restore(page=page, version=number, displaced=True, author=ALICE)
        assert vault_folder.read(PATH) == taken[number]
    assert Page.objects.get(uid=page.uid).path == PATH
    measured("P27", f"{100 + len(taken)} restores, each the old bytes, of {len(set(taken.values()))} texts")


def test_each_change_says_whose_it_is_and_through_which_door(vault_folder: VaultFolder, measured: Measured) -> None:
    page = write_page(title="Ada", content="0\n", frontmatter=GIVEN, author=CLAUDE).page
    write_page(title="Ada", content="1\n", frontmatter=GIVEN, author=CLAUDE)
    page_restore(page=page, version=1, author=ALICE)
    page_delete(page=page, author=ALICE)
    page_restore(page=page, version=2, author=CLAUDE)
    versions = page_history(Page.objects.get(uid=page.uid))
    by = [(version["action"], version["author"], version["door"]) for version in reversed(versions)]
    actors = [
        ("claude", "mcp-stdio"),
        ("claude", "mcp-stdio"),
        ("alice", "rest"),
        ("alice", "rest"),
        ("claude", "mcp-stdio"),
    ]
    assert [(author, door) for _, author, door in by] == actors
    assert list(Audit.objects.order_by("pk").values_list("actor", "door")) == actors
    assert vault_folder.read(PATH) == history.read_version(current_vault(), page.uid, 2)
    measured("P27", f"{len(by)} changes: who and which door in the history, and in {Audit.objects.count()} audit rows")
