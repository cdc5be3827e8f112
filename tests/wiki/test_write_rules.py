"""What may be written, and where: each refusal leaves the vault as it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode, SynapseError
from wiki.services import page_by_title, write_page
from wiki.sync import scan

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"type": "person"}, "type"),
        ({"type": None}, "type"),
        ({"title": "Another"}, "title"),
        ({"title": None}, "title"),
        ({"sources": []}, "sources"),
        ({"sources": ["  "]}, "sources"),
        ({"sources": [1]}, "sources"),
        ({"lang": "e"}, "lang"),
        ({"lang": "xx"}, "lang"),
        ({"content_hash": "0" * 64}, "content_hash"),
        ({"id": "7"}, "id"),
    ],
)
def test_invalid_frontmatter_names_the_field(
    vault_folder: VaultFolder, claude: Writer, changes: dict[str, Any], field: str
) -> None:
    with refused(ErrorCode.INVALID_FRONTMATTER) as caught:
        claude.write("Ada", frontmatter=changes)
    assert field in caught.value.repair["fields"]
    assert vault_folder.files() == []


@pytest.mark.parametrize("missing", ["type", "title", "sources", "lang"])
def test_each_required_key_is_required(vault_folder: VaultFolder, claude: Writer, missing: str) -> None:
    given = {"type": "concept", "title": "Ada", "sources": ["a"], "lang": "en"}
    del given[missing]
    with refused(ErrorCode.INVALID_FRONTMATTER) as caught:
        claude.do(write_page, title="Ada", content="x", frontmatter=given)
    assert list(caught.value.repair["fields"]) == [missing]


def test_an_origin_does_not_stand_for_sources(vault_folder: VaultFolder, claude: Writer) -> None:
    with refused(ErrorCode.INVALID_FRONTMATTER):
        claude.write("Ada", sources=(), origin_source="raw/sources/a.md")


@pytest.mark.parametrize(
    "title", ["", "   ", "two\nlines", "tab\tbed", "null\x00", "half \ud800", "para\u2029graph", "x" * 501]
)
def test_titles_that_no_page_can_have(vault_folder: VaultFolder, claude: Writer, title: str) -> None:
    with pytest.raises(SynapseError) as caught:
        claude.write(title)
    assert caught.value.code in (ErrorCode.INVALID_FRONTMATTER, ErrorCode.INVALID_CONTENT)
    assert vault_folder.files() == []


def test_blanks_around_a_title_do_not_count(vault_folder: VaultFolder, claude: Writer) -> None:
    first = claude.write(" Ada ")
    assert first.page.title == "Ada"
    assert claude.write("Ada", "Two.\n").page.uid == first.page.uid


@pytest.mark.parametrize("content", ["a\x00b", "half \ud800", ""])
def test_content_that_no_file_can_keep(vault_folder: VaultFolder, claude: Writer, content: str) -> None:
    with refused(ErrorCode.INVALID_CONTENT):
        claude.write("Ada", content)
    assert vault_folder.files() == []


def test_a_page_has_a_size(vault_folder: VaultFolder, claude: Writer, settings: Any) -> None:
    settings.SYNAPSE_MAX_PAGE_BYTES = 1000
    for content in ("x" * 2000, "é" * 600, "x" * 990):
        with refused(ErrorCode.PAYLOAD_TOO_LARGE):
            claude.write("Ada", content)
    assert vault_folder.files() == []
    assert claude.write("Ada", "x" * 800).created


@pytest.mark.parametrize("path", ["schema.md", "purpose.md", "wiki/overview.md", "wiki/index.md"])
@pytest.mark.parametrize("indexed", [True, False])
def test_reserved_titles_belong_to_their_files(
    vault_folder: VaultFolder, claude: Writer, path: str, indexed: bool
) -> None:
    vault_folder.write(path, "The person's own words.\n")
    if indexed:
        scan()
    with refused(ErrorCode.PATH_NOT_ALLOWED) as caught:
        claude.write(path.rpartition("/")[2].removesuffix(".md"))
    assert caught.value.repair["path"] == path
    assert path in caught.value.message
    assert vault_folder.files() == [path]


@pytest.mark.parametrize("title", ["index", "log"])
def test_what_synapse_makes_itself_is_reserved_before_it_is_there(
    vault_folder: VaultFolder, claude: Writer, title: str
) -> None:
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.write(title)
    assert vault_folder.files() == []


def test_a_title_owned_outside_the_write_folders(vault_folder: VaultFolder, claude: Writer) -> None:
    note = vault_folder.write("daily/2026-04-01.md", "Rain.\n").read_bytes()
    scan()
    with refused(ErrorCode.PATH_NOT_ALLOWED) as caught:
        claude.write("2026-04-01")
    assert caught.value.repair["path"] == "daily/2026-04-01.md"
    assert vault_folder.files() == ["daily/2026-04-01.md"]
    assert vault_folder.read("daily/2026-04-01.md") == note


def test_write_folders_are_a_setting(vault_folder: VaultFolder, claude: Writer, settings: Any) -> None:
    note = vault_folder.write("daily/day.md", "Rain.\n").read_bytes()
    scan()
    settings.SYNAPSE_WRITE_DIRS = ["daily"]
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.write("Ada")
    page = page_by_title("day")
    claude.write("day", "Sun.\n", base_hash=page.content_hash)
    assert vault_folder.read("daily/day.md") != note
    assert vault_folder.files() == ["daily/day.md", "wiki/log.md"]


def test_a_folder_whose_name_only_starts_alike_is_outside(vault_folder: VaultFolder, claude: Writer) -> None:
    vault_folder.write("wikis/day.md", "Rain.\n")
    scan()
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        claude.write("day")


def test_keys_of_ours_that_come_back_unchanged_are_no_attempt(vault_folder: VaultFolder, claude: Writer) -> None:
    text = "---\nid: 2024-7\ntitle: Ada\n---\nBody.\n"
    vault_folder.write("wiki/concepts/ada.md", text)
    scan()
    base = page_by_title("Ada").content_hash
    with refused(ErrorCode.INVALID_FRONTMATTER):
        claude.write("Ada", base_hash=base, frontmatter={"id": "2024-8"})
    claude.write("Ada", base_hash=base, frontmatter={"id": "2024-7"})
    assert b"\nid: 2024-7\n" in vault_folder.read("wiki/concepts/ada.md")


def test_no_message_shows_where_the_vault_is(vault_folder: VaultFolder, claude: Writer) -> None:
    (vault_folder.root / "wiki").rmdir()
    (vault_folder.root / "wiki").symlink_to(vault_folder.root.parent)
    with pytest.raises(SynapseError) as caught:
        claude.write("Ada")
    assert str(vault_folder.root) not in str(caught.value.envelope())
    assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED
