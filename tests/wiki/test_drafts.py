"""Drafts: a text that met a newer version waits for whoever decides."""

from __future__ import annotations

import pytest

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode
from vault.history import Author
from wiki.services import draft_apply, draft_drop, draft_list, draft_text, page_by_title, page_delete, page_move

pytestmark = pytest.mark.django_db

BEN = Author("Ben", "command")


@pytest.fixture
def draft_id(vault_folder: VaultFolder, claude: Writer) -> str:
    old = claude.write("Ada", "One.\n")
    claude.write("Ada", "Two.\n")
    with refused(ErrorCode.CONFLICT) as caught:
        claude.write("Ada", "Refused.\n", base_hash=old.content_hash)
    return str(caught.value.repair["draft"])


def test_it_works(vault_folder: VaultFolder, draft_id: str, alice: Writer) -> None:
    [draft] = draft_list()
    assert (draft["id"], draft["path"], draft["title"], draft["author"]) == (
        draft_id,
        "wiki/concepts/ada.md",
        "Ada",
        "claude",
    )
    assert "text" not in draft
    assert draft_text(draft_id=draft_id)["text"].endswith("Refused.\n")
    written = alice.do(draft_apply, draft_id=draft_id, base_hash=page_by_title("Ada").content_hash)
    assert vault_folder.read("wiki/concepts/ada.md").endswith(b"Refused.\n")
    assert written.page.content_hash == page_by_title("Ada").content_hash
    assert draft_list() == []


def test_the_page_as_it_is_must_have_been_seen(vault_folder: VaultFolder, draft_id: str, alice: Writer) -> None:
    before = vault_folder.read("wiki/concepts/ada.md")
    with refused(ErrorCode.STALE_BASE):
        alice.do(draft_apply, draft_id=draft_id)
    assert vault_folder.read("wiki/concepts/ada.md") == before
    assert len(draft_list()) == 1


def test_a_page_that_is_gone_keeps_its_draft(draft_id: str, claude: Writer, alice: Writer) -> None:
    claude.do(page_delete, page=page_by_title("Ada"))
    with refused(ErrorCode.PAGE_NOT_FOUND):
        alice.do(draft_apply, draft_id=draft_id)
    assert len(draft_list()) == 1


def test_a_draft_follows_its_page(vault_folder: VaultFolder, draft_id: str, alice: Writer) -> None:
    alice.do(page_move, page=page_by_title("Ada"), path="wiki/people/ada.md")
    alice.do(draft_apply, draft_id=draft_id, base_hash=page_by_title("Ada").content_hash)
    assert vault_folder.read("wiki/people/ada.md").endswith(b"Refused.\n")
    assert draft_list() == []


def test_a_draft_can_be_dropped(draft_id: str) -> None:
    draft_drop(draft_id=draft_id, author=BEN)
    assert draft_list() == []
    with refused(ErrorCode.NOT_FOUND):
        draft_drop(draft_id=draft_id, author=BEN)
    with refused(ErrorCode.NOT_FOUND):
        draft_text(draft_id=draft_id)


@pytest.mark.parametrize("draft_id", ["", "..", "../../etc/passwd", "0" * 16, "x\x00"])
def test_ids_that_name_no_draft(vault_folder: VaultFolder, draft_id: str) -> None:
    with refused(ErrorCode.NOT_FOUND):
        draft_text(draft_id=draft_id)
