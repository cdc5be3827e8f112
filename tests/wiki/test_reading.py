"""Reading pages and sources: whole or in bounded parts, from the file itself."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode
from wiki.models import Page
from wiki.services import (
    list_pages,
    list_sources,
    page_by_title,
    page_content,
    page_delete,
    page_history,
    read_source,
    sources,
)
from wiki.sync import scan

pytestmark = pytest.mark.django_db


def test_a_page_is_shown_whole(vault_folder: VaultFolder) -> None:
    text = "---\ntitle: Ada\ntype: entity\nborn: 1815-12-10\n---\n\n# Ada\r\nText.\n"
    vault_folder.write("wiki/entities/ada.md", text)
    vault_folder.write("b.md", "[[ada]] [[ada]]\n")
    vault_folder.write("a.md", "[[Ada]] [[nobody]]\n")
    vault_folder.write("wiki/index.md", "[[ada]]\n")
    scan()
    page = page_by_title("Ada")
    shown = page_content(page)
    assert shown == {
        "id": str(page.uid),
        "title": "Ada",
        "type": "entity",
        "content": "\n# Ada\r\nText.\n",
        "frontmatter": {"title": "Ada", "type": "entity", "born": "1815-12-10"},
        "path": "wiki/entities/ada.md",
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        "size_bytes": len(text),
        "backlinks": [
            {"id": str(Page.objects.get(path=path).uid), "title": path[0], "path": path} for path in ("a.md", "b.md")
        ],
        "backlinks_total": 2,
    }


def test_the_file_is_the_truth(vault_folder: VaultFolder) -> None:
    vault_folder.write("a.md", "Old.\n")
    scan()
    vault_folder.write("a.md", "---\ntype: concept\nmood: new\n---\nNew.\n")
    shown = page_content(page_by_title("a"))
    assert (shown["content"], shown["type"], shown["frontmatter"]["mood"]) == ("New.\n", "concept", "new")


def test_a_page_that_is_gone(vault_folder: VaultFolder, claude: Writer) -> None:
    page = claude.write("Ada").page
    (vault_folder.root / page.path).unlink()
    with refused(ErrorCode.PAGE_NOT_FOUND):
        page_content(page)
    scan(allow_deletions=True)
    with refused(ErrorCode.PAGE_NOT_FOUND):
        page_by_title("Ada")


def test_titles_are_exact(vault_folder: VaultFolder) -> None:
    vault_folder.write("Café.md", "x\n")
    scan()
    assert page_by_title("Cafe\u0301").title == "Café"
    for title in ("café", "Caf", "", "Café ", "x\x00", "\ud800"):
        with refused(ErrorCode.PAGE_NOT_FOUND):
            page_by_title(title)


def test_a_path_decides(vault_folder: VaultFolder) -> None:
    for folder in ("a", "b"):
        vault_folder.write(f"{folder}/same.md", "x\n")
    vault_folder.write("cafe\u0301.md", "x\n")
    scan()
    with refused(ErrorCode.AMBIGUOUS_TITLE) as caught:
        page_by_title("same")
    assert caught.value.repair["paths"] == ["a/same.md", "b/same.md"]
    assert page_by_title("same", path="b/same.md").path == "b/same.md"
    assert page_by_title("", path="b/same.md").path == "b/same.md"
    assert page_by_title("", path="caf\u00e9.md").path == "cafe\u0301.md"
    with refused(ErrorCode.PAGE_NOT_FOUND) as caught:
        page_by_title("other", path="b/same.md")
    assert caught.value.repair["title"] == "same"
    for path in ("b/none.md", "B/same.md"):
        with refused(ErrorCode.PAGE_NOT_FOUND):
            page_by_title("", path=path)
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        page_by_title("", path="../a/same.md")


def test_reserved_pages_can_be_read(vault_folder: VaultFolder) -> None:
    vault_folder.write("schema.md", "How to write.\n")
    scan()
    assert page_content(page_by_title("schema"))["content"] == "How to write.\n"


def test_a_page_above_the_limit_is_never_shown_in_part(vault_folder: VaultFolder, settings: Any) -> None:
    vault_folder.write("a.md", "x" * 2000)
    scan()
    settings.SYNAPSE_MAX_PAGE_BYTES = 1000
    with refused(ErrorCode.PAYLOAD_TOO_LARGE) as caught:
        page_content(page_by_title("a"))
    assert caught.value.repair["levels"] == ["summary", "core"]


def test_backlinks_are_bounded(vault_folder: VaultFolder) -> None:
    vault_folder.write("hub.md", "x\n")
    for number in range(130):
        vault_folder.write(f"n{number:03}.md", "[[hub]]\n")
    scan()
    shown = page_content(page_by_title("hub"))
    assert (len(shown["backlinks"]), shown["backlinks_total"]) == (100, 130)
    assert shown["backlinks"][0]["title"] == "n000"


def everything(**filters: Any) -> list[str]:
    titles: list[str] = []
    cursor = None
    while True:
        page = list_pages(cursor=cursor, **filters)
        titles += [ref["title"] for ref in page["result"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return titles


def test_pages_are_listed_by_title(vault_folder: VaultFolder, claude: Writer) -> None:
    for title in ("b", "a", "d", "c"):
        claude.write(title, type="entity" if title == "a" else "concept")
    vault_folder.write("schema.md", "x\n")
    scan()
    claude.do(page_delete, page=page_by_title("d"))
    first = list_pages(limit=2)
    assert [ref["title"] for ref in first["result"]] == ["a", "b"]
    assert first["total"] == 3
    assert first["result"][0]["relevance_score"] == 0.0
    assert everything(limit=1) == ["a", "b", "c"]
    assert everything(type="entity") == ["a"]
    assert list_pages(type="source") == {"result": [], "next_cursor": None, "total": 0}


def test_pages_of_one_title_are_all_listed(vault_folder: VaultFolder) -> None:
    for number in range(5):
        vault_folder.write(f"{number}/same.md", "x\n")
    scan()
    assert everything(limit=2) == ["same"] * 5


def test_what_is_made_meanwhile_neither_repeats_nor_hides(vault_folder: VaultFolder, claude: Writer) -> None:
    for title in ("b", "d", "f"):
        claude.write(title)
    first = list_pages(limit=2)
    for title in ("a", "c", "e"):
        claude.write(title)
    rest = list_pages(limit=10, cursor=first["next_cursor"])
    assert [ref["title"] for ref in rest["result"]] == ["e", "f"]


@pytest.mark.parametrize(
    "change", [lambda c: c[:-1], lambda c: "x" + c, lambda c: "x", lambda c: "\x00", lambda c: "é"]
)
def test_a_cursor_is_opaque(vault_folder: VaultFolder, claude: Writer, change: Any) -> None:
    for title in ("a", "b"):
        claude.write(title)
    cursor = list_pages(limit=1)["next_cursor"]
    with refused(ErrorCode.INVALID_CURSOR):
        list_pages(cursor=change(cursor))
    with refused(ErrorCode.INVALID_CURSOR):
        list_pages(cursor=cursor, type="concept")
    with refused(ErrorCode.INVALID_CURSOR):
        list_sources(cursor=cursor)


@pytest.mark.parametrize(("limit", "shown"), [(0, 1), (-5, 1), (3, 3), (10_000, 3)])
def test_a_limit_is_clamped(vault_folder: VaultFolder, claude: Writer, limit: int, shown: int) -> None:
    for title in ("a", "b", "c"):
        claude.write(title)
    assert len(list_pages(limit=limit)["result"]) == shown


def test_a_type_is_one_of_the_five(vault_folder: VaultFolder) -> None:
    with refused(ErrorCode.INVALID_PARAM_VALUE):
        list_pages(type="person")


def test_the_history_of_a_page(vault_folder: VaultFolder, claude: Writer, alice: Writer) -> None:
    page = claude.write("Ada", "One.\n").page
    written = claude.write("Ada", "Two.\n")
    newest, oldest = page_history(page)
    assert (newest["action"], oldest["action"]) == ("write", "create")
    assert newest["content_hash"] == written.content_hash
    assert newest["displaced_hash"] == oldest["content_hash"]
    assert (newest["author"], newest["door"]) == ("claude", "mcp-stdio")
    assert page_history(page, limit=1) == [newest]


def test_a_source_is_read(vault_folder: VaultFolder) -> None:
    text = "Über alles.\r\n"
    vault_folder.write("raw/sources/ü/a.txt", text)
    expected = {
        "path": "raw/sources/ü/a.txt",
        "content": text,
        "size_bytes": len(text.encode()),
        "truncated": False,
        "next_offset": None,
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
    }
    assert read_source("raw/sources/ü/a.txt") == read_source("ü/a.txt") == expected


def test_a_long_source_comes_in_parts(vault_folder: VaultFolder) -> None:
    text = "".join(chr(0x4E00 + number % 1000) for number in range(250_001))
    vault_folder.write("raw/sources/long.md", text)
    parts, offset = [], 0
    while offset is not None:
        part = read_source("long.md", offset=offset)
        assert len(part["content"]) <= 100_000
        assert part["truncated"] == (part["next_offset"] is not None)
        parts.append(part["content"])
        offset = part["next_offset"]
    assert "".join(parts) == text
    assert len(parts) == 3
    beyond = read_source("long.md", offset=10**12)
    assert (beyond["content"], beyond["truncated"]) == ("", False)


@pytest.mark.parametrize(("size", "truncated"), [(99_999, False), (100_000, False), (100_001, True)])
def test_the_bound_is_exact(vault_folder: VaultFolder, size: int, truncated: bool) -> None:
    vault_folder.write("raw/sources/a.md", "é" * size)
    assert read_source("a.md")["truncated"] is truncated


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=60),
    offset=st.integers(0, 70),
)
def test_any_text_is_cut_at_characters(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch, text: str, offset: int
) -> None:
    monkeypatch.setattr(sources, "MAX_CHARACTERS", 7)
    monkeypatch.setattr(sources, "_STEP", 3)
    vault_folder.write("raw/sources/a.md", text.encode())
    part = read_source("a.md", offset=offset)
    assert part["content"] == text[offset : offset + 7]
    assert part["truncated"] == (len(text) > offset + 7)


def test_an_empty_source(vault_folder: VaultFolder) -> None:
    vault_folder.write("raw/sources/a.md", "")
    assert read_source("a.md")["content"] == ""


def test_a_negative_offset(vault_folder: VaultFolder) -> None:
    with refused(ErrorCode.INVALID_PARAM_VALUE):
        read_source("a.md", offset=-1)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00a", "latin é".encode("latin-1"), b"%PDF-1.7\x00\x01", b"ok" * 50 + b"\xc3", b"\xed\xa0\x80"]
)
def test_what_is_not_text(vault_folder: VaultFolder, data: bytes) -> None:
    vault_folder.write("raw/sources/a.md", data)
    with refused(ErrorCode.NOT_A_TEXT_FILE):
        read_source("a.md")


def test_a_source_above_the_limit(vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_SOURCE_BYTES", 100)
    vault_folder.write("raw/sources/a.md", "x" * 101)
    with refused(ErrorCode.PAYLOAD_TOO_LARGE):
        read_source("a.md")


def test_sources_are_listed(vault_folder: VaultFolder) -> None:
    for name in ("b.md", "a.pdf", "deep/c.txt"):
        vault_folder.write(f"raw/sources/{name}", name)
    vault_folder.write("raw/assets/x.png", "x")
    scan()
    first = list_sources(limit=2)
    assert [row["path"] for row in first["result"]] == ["raw/sources/a.pdf", "raw/sources/b.md"]
    assert first["result"][0]["content_hash"] == hashlib.sha256(b"a.pdf").hexdigest()
    assert first["total"] == 3
    assert [row["path"] for row in list_sources(cursor=first["next_cursor"])["result"]] == ["raw/sources/deep/c.txt"]
    assert list_sources(prefix="raw/sources/deep/")["total"] == 1


def test_a_pipe_does_not_block(vault_folder: VaultFolder) -> None:
    os.mkfifo(vault_folder.root / "raw/sources/pipe.md")
    started = time.monotonic()
    with refused(ErrorCode.NOT_A_FILE):
        read_source("pipe.md")
    assert time.monotonic() - started < 2


def test_a_source_that_grows_while_it_is_read(vault_folder: VaultFolder) -> None:
    file = vault_folder.write("raw/sources/a.md", "start\n")
    stop = threading.Event()

    def grow() -> None:
        with file.open("ab", buffering=0) as out:
            while not stop.is_set():
                out.write(b"more\n")
                time.sleep(0.001)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        for _ in range(20):
            part = read_source("a.md")
            if not part["truncated"]:
                assert hashlib.sha256(part["content"].encode()).hexdigest() == part["content_hash"]
    finally:
        stop.set()
        writer.join()
