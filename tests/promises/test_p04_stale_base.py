"""P4: a stale base never writes; the file stays as it is, and our text is kept as a draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises.figures import Measured, figure
from tests.writing import ALICE, MECHANISMS, PAGE, PATH, make_vault, pages, put, temp_files, use_mechanism
from vault import drafts, history, writer
from vault.errors import ErrorCode, SynapseError

WRITES = figure(50, 1_000)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_stale_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, measured: Measured
) -> None:
    vault = make_vault(tmp_path)
    stale = put(vault, b"as it was read")
    current = put(vault, b"as somebody saved it since")
    before = vault.stat(PATH)
    use_mechanism(monkeypatch, mechanism, vault)
    for number in range(WRITES):
        text = f"text {number}".encode()
        with pytest.raises(SynapseError) as refused:
            writer.replace(vault, PATH, text, expected_hash=stale, page_id=PAGE, author=ALICE)
        assert refused.value.code is ErrorCode.CONFLICT
        assert refused.value.repair["content_hash"] == current
        draft, kept = drafts.read_draft(vault, refused.value.repair["draft"])
        assert kept == text
        assert (draft.path, draft.base_hash, draft.author, draft.door) == (PATH, stale, "Alice", "rest")
    assert vault.stat(PATH) == before
    assert vault.read(PATH).content_hash == current
    assert len(drafts.list_drafts(vault)) == WRITES
    assert history.versions(vault, PAGE) == []
    assert temp_files(vault) == []
    measured("P4", f"by {mechanism}: {WRITES} of {WRITES} refused, the file the same, {WRITES} texts kept as drafts")


def test_a_stale_delete_is_refused(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    stale = put(vault, b"as it was read")
    current = put(vault, b"as somebody saved it since")
    with pytest.raises(SynapseError) as refused:
        writer.remove(vault, PATH, expected_hash=stale, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert refused.value.repair["content_hash"] == current
    assert pages(vault) == {PATH: b"as somebody saved it since"}


def test_a_page_deleted_since_is_a_conflict_that_keeps_the_text(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    stale = put(vault)
    (vault.root / PATH).unlink()
    with pytest.raises(SynapseError) as refused:
        writer.replace(vault, PATH, b"text", expected_hash=stale, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert refused.value.repair["content_hash"] is None
    assert drafts.read_draft(vault, refused.value.repair["draft"])[1] == b"text"
    assert pages(vault) == {}
