"""P8: a file that can't be parsed is never rewritten and never stops a scan; through no service either."""

from __future__ import annotations

import random

import pytest

from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from wiki.models import Page
from wiki.services import page_move, page_retitle, put_page, write_page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

POISON = 60
GOOD = figure(100, 940)
CLAUDE = Author("claude", "mcp-stdio")
ALICE = Author("alice", "rest")
BLOCKS = [
    "title: [unclosed",
    "title: {a: 1",
    'title: "open',
    "title: a: b",
    "title: x\n\ttabbed: y",
    "a: 1\na: 2",
    "a: &x [*x]",
    "a: *nowhere",
    "? [a, b]\n: c",
    "- a\n- list",
    "just words",
    "a: !!python/object:os.system x",
    "a: " + "[" * 200 + "]" * 200,
    "a: |\nnot indented",
    "%YAML 3.0\n--- x",
]
ENCODED = [b"\xff\xfe---\n", b"caf\xe9 \xe8", b"\xc3\x28", b"\xed\xa0\x80"]


def poison(number: int) -> bytes:
    r = random.Random(number)
    if number % 4 == 3:
        return r.choice(ENCODED) + bytes(r.randrange(128, 256) for _ in range(40))
    newline = r.choice(["\n", "\r\n"])
    return f"---\n{BLOCKS[number % len(BLOCKS)]}\n---\n[[good1]] {number}\n".replace("\n", newline).encode()


@pytest.fixture
def poisoned(vault_folder: VaultFolder) -> dict[str, bytes]:
    files = {f"wiki/concepts/poison{number}.md": poison(number) for number in range(POISON)}
    for path, data in files.items():
        vault_folder.write(path, data)
    for number in range(GOOD):
        vault_folder.write(f"wiki/concepts/good{number}.md", f"---\ntitle: Good {number}\n---\n[[good{number + 1}]]\n")
    return files


def test_each_is_flagged_with_a_reason_and_the_others_are_indexed(
    vault_folder: VaultFolder, poisoned: dict[str, bytes], measured: Measured
) -> None:
    report = scan()
    assert (report.stopped, report.pages) == (None, POISON + GOOD)
    indexed = Page.objects.live().filter(title__startswith="Good ", flags=[]).count()
    assert indexed == GOOD
    flagged = {page.path: page.flags for page in Page.objects.exclude(flags=[])}
    assert flagged.keys() == poisoned.keys()
    assert all(flag["code"] and flag["reason"] for flags in flagged.values() for flag in flags)
    assert {path: vault_folder.read(path) for path in poisoned} == poisoned
    assert scan().differences == 0
    measured(
        "P8", f"{POISON} poison files among {report.pages:,}: {indexed} indexed, {len(flagged)} flagged, bytes equal"
    )


def test_no_service_rewrites_one(vault_folder: VaultFolder, poisoned: dict[str, bytes], measured: Measured) -> None:
    scan()
    for page in Page.objects.exclude(flags=[]).order_by("path"):
        given = {"type": "concept", "title": page.title, "sources": ["a"], "lang": "en"}
        with pytest.raises(SynapseError) as caught:
            write_page(
                title=page.title, content="New.\n", frontmatter=given, base_hash=page.content_hash, author=CLAUDE
            )
        assert caught.value.code in (ErrorCode.INVALID_FRONTMATTER, ErrorCode.NOT_A_TEXT_FILE)
        with pytest.raises(SynapseError):
            put_page(page=page, frontmatter={"a": 1}, base_hash=page.content_hash, author=ALICE)
        with pytest.raises(SynapseError):
            page_retitle(page=page, title=f"Other {page.pk}", base_hash=page.content_hash, author=ALICE)
    assert {path: vault_folder.read(path) for path in poisoned} == poisoned
    measured("P8", f"{len(poisoned)} poison files written, put and retitled: each refused, bytes equal")


def test_a_move_tells_of_the_links_in_them_and_leaves_them(
    vault_folder: VaultFolder, poisoned: dict[str, bytes]
) -> None:
    scan()
    done = page_move(page=Page.objects.get(path="wiki/concepts/good1.md"), path="wiki/moved.md", author=ALICE)
    assert [file["path"] for file in done.files] == ["wiki/concepts/good0.md"]
    linking = {path for path, data in poisoned.items() if b"[[good1]]" in data}
    assert {failure["path"] for failure in done.failed} == linking
    assert {failure["error_code"] for failure in done.failed} == {"invalid_frontmatter"}
    assert {path: vault_folder.read(path) for path in poisoned} == poisoned
