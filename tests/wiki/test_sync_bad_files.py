"""Whatever a file holds, and whether or not it can be read, it stops no scan and is never rewritten."""

from __future__ import annotations

import os

import pytest

from tests.conftest import VaultFolder
from tests.wiki.index import rebuilt_index, scan_counting_writes, whole_index
from vault.disk.reading import FileRead
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault
from wiki.models import File, Link, Page
from wiki.sync import reads, scan

pytestmark = pytest.mark.django_db


POISON = [
    b"---\ntitle: [unclosed\n---\ntext",
    b"---\na: &a [*a, *a]\n---\n",
    b"\xff\xfe\x00bad",
    b"nul \x00 byte [[a\x00b]]",
    b'---\ntitle: "\\ud800 \\0"\naliases: ["\\udfff"]\nrelated: "[[\\0x]]"\n---\n',
    b"---\ndate: 2026-13-45\nwhen: .nan\nbig: 99999999999999999999999\n---\n",
    b"[[" * 20_000,
    b"> " * 5_000 + b"deep",
    b"---\n" + b"a: " + b"[" * 500 + b"]" * 500 + b"\n---\n",
    b"---\ntitle: " + "很".encode() * 3_000 + b"\n---\n[[" + "長".encode() * 3_000 + b"]]",
    b"",
]


def test_no_file_stops_a_scan_or_is_rewritten(vault_folder: VaultFolder) -> None:
    """P8."""
    for number in range(40):
        vault_folder.write(f"wiki/good{number}.md", f"[[good{number + 1}]] is fine")
    for number, data in enumerate(POISON):
        vault_folder.write(f"wiki/bad{number}.md", data)
    before = {path: vault_folder.read(path) for path in vault_folder.files()}
    report = scan()
    assert report.pages == 40 + len(POISON)
    assert Page.objects.filter(title__startswith="good", flags=[]).count() == 40
    flagged = {entry["path"] for entry in report.flagged}
    assert {"wiki/bad0.md", "wiki/bad1.md", "wiki/bad2.md", "wiki/bad3.md"} <= flagged
    assert all(entry["code"] and entry["reason"] for entry in report.flagged)
    assert {path: vault_folder.read(path) for path in vault_folder.files()} == before
    assert scan().differences == 0
    assert rebuilt_index() == whole_index()


def test_a_parser_that_breaks_costs_one_page_its_text(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
) -> None:

    real = reads.parse_page

    def parse_page(path: str, data: bytes) -> object:
        if b"boom" in data:
            raise RecursionError
        return real(path, data)

    monkeypatch.setattr(reads, "parse_page", parse_page)
    vault_folder.write("wiki/a.md", "boom [[b]]")
    vault_folder.write("wiki/b.md", "[[a]]")
    report = scan()
    assert [(entry["path"], entry["code"]) for entry in report.flagged] == [("wiki/a.md", "not_parsed")]
    assert Link.objects.get().target_path == "wiki/a.md"


def test_a_page_that_is_too_large_is_flagged_and_found_by_its_name(vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_MAX_PAGE_BYTES = 100
    vault_folder.write("wiki/big.md", "x" * 101 + "[[a]]")
    vault_folder.write("wiki/a.md", "[[big]]")
    report = scan()
    assert [(entry["path"], entry["code"]) for entry in report.flagged] == [("wiki/big.md", "too_large")]
    assert [link.target_path for link in Link.objects.all()] == ["wiki/big.md"]
    page = Page.objects.get(title="big")
    assert (page.words, len(page.content_hash), page.size) == (0, 64, 106)
    assert scan().differences == 0


class TestUnreadable:
    """Access can't be taken from the user who runs the tests, so the disk's answer is made up."""

    @pytest.fixture
    def forbid(self, monkeypatch: pytest.MonkeyPatch) -> set[str]:
        forbidden: set[str] = set()
        real = Vault.read

        def read(self: Vault, path: str, **rest: object) -> FileRead:
            if path in forbidden:
                raise SynapseError(ErrorCode.STORAGE_ERROR, "Synapse may not read this.")
            return real(self, path, **rest)  # type: ignore[arg-type]

        monkeypatch.setattr(Vault, "read", read)
        return forbidden

    def test_a_known_page_keeps_its_text_meanwhile(self, vault_folder: VaultFolder, forbid: set[str]) -> None:
        vault_folder.write("wiki/a.md", "[[b]]")
        scan()
        before = whole_index()
        forbid.add("wiki/a.md")
        vault_folder.write("wiki/a.md", "[[c]] now")
        report = scan()
        assert [entry["code"] for entry in report.flagged] == ["unreadable"]
        page = Page.objects.get()
        assert [flag["code"] for flag in page.flags] == ["unreadable"]
        assert [row | {"flags": []} for row in whole_index()] == before
        _, writes = scan_counting_writes()
        assert writes == []
        forbid.clear()
        assert scan().changed == 1
        assert Link.objects.get().text == "c"
        assert Page.objects.get().flags == []

    @pytest.mark.parametrize("moment", [10**18, 0, -(10**18)], ids=["2001", "1970", "1938"])
    def test_a_flag_goes_even_if_the_text_is_the_same(
        self, vault_folder: VaultFolder, forbid: set[str], moment: int
    ) -> None:
        file = vault_folder.write("wiki/a.md", "[[b]]")
        scan()
        forbid.add("wiki/a.md")
        os.utime(file, ns=(0, moment))
        scan()
        assert Page.objects.get().flags
        forbid.clear()
        scan()
        assert Page.objects.get().flags == []

    def test_a_new_page_is_a_page_without_text(self, vault_folder: VaultFolder, forbid: set[str]) -> None:
        forbid.add("wiki/a.md")
        vault_folder.write("wiki/a.md", "[[b]]")
        vault_folder.write("wiki/b.md", "[[a]]")
        scan()
        assert Link.objects.get().target_path == "wiki/a.md"
        forbid.clear()
        scan()
        assert Link.objects.count() == 2
        assert Page.objects.get(title="a").flags == []


def test_a_file_that_keeps_changing_waits(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """P12: no half of a save is indexed."""
    vault_folder.write("wiki/a.md", "half")
    real = Vault.read

    def read(self: Vault, path: str, **rest: object) -> FileRead:
        found = real(self, path, **rest)  # type: ignore[arg-type]
        return FileRead(found.data, found.stat, found.content_hash, found.path, stable=False)

    with monkeypatch.context() as unstable:
        unstable.setattr(Vault, "read", read)
        report = scan()
    assert report.pages == 0
    assert [(entry["path"], entry["code"]) for entry in report.skipped] == [("wiki/a.md", "being_written")]
    assert scan().pages == 1


@pytest.mark.parametrize("path", ["wiki/a.md", "raw/sources/a.txt", "picture.png"])
def test_a_time_that_no_database_can_hold_stops_nothing(vault_folder: VaultFolder, path: str) -> None:
    """ext4 keeps times until 2446, integers of databases end in 2262; such a file is read again at each scan."""
    file = vault_folder.write(path, "then")
    os.utime(file, ns=(0, 10**19))
    scan()
    found = [*Page.objects.values_list("path", flat=True), *File.objects.values_list("path", flat=True)]
    assert found == [path]
    file.write_text("than")
    os.utime(file, ns=(0, 10**19))
    assert scan().differences == (not path.endswith(".png"))
    assert scan_counting_writes()[1] == []
