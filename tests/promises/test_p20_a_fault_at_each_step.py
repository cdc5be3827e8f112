"""P20: a fault at any system call gives a typed error and changes nothing, or comes too late and the write stands."""

from __future__ import annotations

import errno
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.changes import CHANGES
from tests.faults import SECRET, Fault, Kernel, faults_of
from tests.promises.figures import FULL, Measured, figure
from tests.promises.places import crashed
from tests.writing import (
    ALICE,
    MECHANISMS,
    NEW,
    OLD,
    OPERATIONS,
    PAGE,
    PATH,
    Steps,
    displaced,
    kept_bytes,
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

TYPED = {ErrorCode.STORAGE_ERROR, ErrorCode.CONFLICT, ErrorCode.NOT_FOUND, ErrorCode.PATH_NOT_ALLOWED}
AFTER = {"create": {PATH: NEW}, "replace": {PATH: NEW}, "remove": {}, "move": {"wiki/moved/to.md": OLD}}
#: How many of a change's faults are tried in the short form.
SOME = 25


def fresh(folder: Path, operation: str) -> Vault:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    vault = make_vault(folder)
    if operation != "create":
        put(vault)
    return vault


def possible(folder: Path, operation: str, mechanism: str) -> list[tuple[int, str, Fault, bool]]:
    """Every fault of every call of a change: the call's number and name, the fault, and whether it lasts."""
    vault = fresh(folder, operation)
    with patched() as monkeypatch:
        use_mechanism(monkeypatch, mechanism, vault)
        kernel = Kernel().install(monkeypatch, sync=False)
        with kernel.watching():
            operations(vault)[operation]()
    return [
        (call.number, call.name, fault, lasting)
        for call in kernel.calls
        for fault in faults_of(call)
        for lasting in (False, True)
    ]


def attempt(vault: Vault, operation: str, mechanism: str, number: int, fault: Fault, *, lasting: bool) -> Any:
    """The change's answer, a fault in its way."""
    with patched() as monkeypatch:
        use_mechanism(monkeypatch, mechanism, vault)
        kernel = Kernel().install(monkeypatch, sync=False)
        kernel.fail_at(number, fault, lasting=lasting)
        with kernel.watching():
            try:
                return operations(vault)[operation]()
            except SynapseError as error:
                return error


def visible(vault: Vault) -> dict[str, bytes]:
    return {path: data for path, data in pages(vault).items() if "/.synapse-" not in path}


def check(vault: Vault, operation: str, answer: Any) -> None:
    before: dict[str, bytes] = {} if operation == "create" else {PATH: OLD}
    after = AFTER[operation]
    found = visible(vault)
    in_doubt = isinstance(answer, SynapseError) and "unconfirmed" in answer.repair
    if isinstance(answer, SynapseError):
        assert answer.code in TYPED
        assert str(vault.root) not in answer.message
        assert SECRET not in answer.message
        assert found == (after if in_doubt else before) or (in_doubt and operation == "move")
    else:
        assert found == after
    if operation != "create":
        assert OLD in kept_bytes(vault)
    history.recover_orphans(vault)
    assert temp_files(vault) == []
    assert pending_records(vault) == []
    stands = in_doubt or not isinstance(answer, SynapseError)
    assert visible(vault) == (after if stands else before)
    assert len(history.versions(vault, PAGE)) == stands
    if stands and operation in ("replace", "remove"):
        assert displaced(vault) == [OLD]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_fault_at_each_system_call(tmp_path: Path, operation: str, mechanism: str, measured: Measured) -> None:
    folder = tmp_path / "one"
    faults = possible(folder, operation, mechanism)
    tried = faults if FULL else random.Random(operation + mechanism).sample(faults, SOME)
    stood = refused = 0
    opened = descriptors()
    for number, name, fault, lasting in tried:
        vault = fresh(folder, operation)
        answer = attempt(vault, operation, mechanism, number, fault, lasting=lasting)
        try:
            check(vault, operation, answer)
            assert descriptors() == opened
        except AssertionError as wrong:
            wrong.add_note(f"call {number} ({name}) answered {fault!r}, lasting: {lasting}; the answer was {answer!r}")
            raise
        refused += isinstance(answer, SynapseError)
        stood += not isinstance(answer, SynapseError)
    assert refused
    assert stood
    measured("P20", f"{operation} by {mechanism}: {len(tried)} faults, {refused} typed errors, {stood} writes stand")


@pytest.mark.parametrize("change", figure(("write",), tuple(CHANGES)))
def test_a_fault_under_the_services(own_vault: dict[str, str], change: str, measured: Measured) -> None:
    """With the database: an error before the exchange, after it a write that the index catches up with."""
    found = crashed(own_vault, "fault", figure(4, 120), change)
    assert found["wrong"] == []
    measured("P20", f"{change} through the services: {found['tried']} faults, answers {found['answers']}")


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
