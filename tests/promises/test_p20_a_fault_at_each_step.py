"""P20: a fault at any step gives a typed error and changes nothing, or comes too late and the write stands."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.writing import (
    ALICE,
    NEW,
    OLD,
    OPERATIONS,
    PAGE,
    PATH,
    Steps,
    displaced,
    make_vault,
    operations,
    pages,
    patched,
    pending_records,
    put,
    temp_files,
    use_mechanism,
)
from vault import drafts, history, writer
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault

LONGEST = 40
TYPED = {ErrorCode.STORAGE_ERROR, ErrorCode.CONFLICT}


def attempt(vault: Vault, operation: str, mechanism: str, number: int, *, lasting: bool) -> tuple[Any, bool]:
    """The change's answer with a fault at a step (or from it on, for steps of that kind); whether it came to that."""
    with patched() as monkeypatch:
        use_mechanism(monkeypatch, mechanism, vault)
        steps = Steps().install(monkeypatch)
        kind: list[str] = []

        def fail(at: int, name: str, args: object) -> None:
            if at == number or (lasting and name in kind):
                kind.append(name)
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(vault.root))

        steps.before = fail
        try:
            answer: Any = operations(vault)[operation]()
        except SynapseError as error:
            answer = error
        return answer, bool(kind)


def check(vault: Vault, operation: str, answer: Any) -> None:
    before = {} if operation == "create" else {PATH: OLD}
    after = {"create": {PATH: NEW}, "replace": {PATH: NEW}, "remove": {}, "move": {"wiki/moved/to.md": OLD}}[operation]
    found = {path: data for path, data in pages(vault).items() if "/.synapse-" not in path}
    if isinstance(answer, SynapseError):
        assert answer.code in TYPED
        assert str(vault.root) not in answer.message
        assert found == before
    else:
        assert found == after
    history.recover_orphans(vault)
    assert temp_files(vault) == []
    assert pending_records(vault) == []
    found = {path: data for path, data in pages(vault).items() if "/.synapse-" not in path}
    if not isinstance(answer, SynapseError):
        assert found == after
        assert len(history.versions(vault, PAGE)) == 1
        if operation in ("replace", "remove"):
            assert displaced(vault) == [OLD]
    else:
        assert found == before
        assert history.versions(vault, PAGE) == []


CASES = [(operation, "exchange") for operation in OPERATIONS] + [
    ("replace", "elsewhere"),
    ("replace", "link"),
    ("replace", "copy"),
]


@pytest.mark.parametrize(
    ("operation", "mechanism", "lasting"),
    [(*case, lasting) for case in CASES for lasting in (False, True)] + [("create", "link", False)],
)
def test_a_fault(tmp_path: Path, operation: str, mechanism: str, lasting: bool) -> None:
    for number in range(LONGEST):
        folder = tmp_path / str(number)
        folder.mkdir()
        vault = make_vault(folder)
        if operation != "create":
            put(vault)
        answer, failed = attempt(vault, operation, mechanism, number, lasting=lasting)
        check(vault, operation, answer)
        if not failed:
            assert not answer.history_pending
            assert number > 5
            return
    pytest.fail("the change has no end")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_disk_that_is_full_from_then_on(tmp_path: Path, operation: str) -> None:
    for number in range(LONGEST):
        folder = tmp_path / str(number)
        folder.mkdir()
        vault = make_vault(folder)
        if operation != "create":
            put(vault)
        with patched() as monkeypatch:
            steps = Steps().install(monkeypatch)

            def fail(at: int, name: str, args: object, number: int = number) -> None:
                if at >= number and name in ("create_file", "write_all"):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            steps.before = fail
            try:
                answer: Any = operations(vault)[operation]()
            except SynapseError as error:
                assert "full" in error.message
                answer = error
            taken = len(steps.taken)
        check(vault, operation, answer)
        if taken <= number:
            return
    pytest.fail("the change has no end")


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    write = os.write
    monkeypatch.setattr(
        os, "write", lambda fd, data: write(fd, data[: max(1, len(data) // 2)]) if len(data) > 1000 else write(fd, data)
    )
    written = writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert vault.read(PATH).content_hash == written.content_hash == writer.sha256(NEW)


def test_a_line_cut_short_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, data: write(fd, data[:50] if b'"number"' in data else data))
        written = writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert written.history_pending
    assert vault.read(PATH).data == NEW
    lines = vault.state / "history" / str(PAGE) / "versions.jsonl"
    assert lines.read_bytes() == b""
    (done,) = history.recover_orphans(vault)
    assert done["reason"] == "completed"
    assert [version.content_hash for version in history.versions(vault, PAGE)] == [written.content_hash]
    assert displaced(vault) == [OLD]


def test_a_failing_folder_sync_takes_a_new_page_back_into_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    with monkeypatch.context() as patch:
        steps = Steps().install(patch)

        def fail(at: int, name: str, args: object) -> None:
            if name == "sync_folder" and steps.taken[-2] == "rename_new":
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        steps.before = fail
        with pytest.raises(SynapseError) as refused:
            writer.create(vault, PATH, NEW, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert pages(vault) == {}
    assert drafts.read_draft(vault, refused.value.repair["draft"])[1] == NEW
