"""P1: a page file is always one whole version somebody wrote, and no temporary file is ever lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.writing import (
    ALICE,
    NEW,
    OLD,
    OPERATIONS,
    PAGE,
    PATH,
    Steps,
    die,
    displaced,
    kept_bytes,
    killed_child,
    make_vault,
    operations,
    pages,
    patched,
    pending_records,
    put,
    temp_files,
    use_mechanism,
)
from vault import history, writer
from vault.root import Vault
from vault.writing import exchange

MOMENTS = ["before", "after"]
LONGEST = 40


def run_and_die(vault: Vault, operation: str, mechanism: str, number: int, moment: str) -> bool:
    """Run a change in a child that dies at a step; False when it has fewer steps."""

    def work() -> None:
        with patched() as monkeypatch:
            use_mechanism(monkeypatch, mechanism, vault)
            steps = Steps().install(monkeypatch)
            if moment == "before":
                steps.before = lambda at, name, args: die() if at == number else None
            else:
                steps.after = lambda at, name: die() if at == number else None
            operations(vault)[operation]()

    return killed_child(work)


def check_recovered(vault: Vault, operation: str) -> None:
    """Old or new, whole; nothing lost; nothing left to do; and the page can be changed again."""
    found = pages(vault)
    visible = {path: data for path, data in found.items() if "/.synapse-" not in path}
    assert all(data in (OLD, NEW) for data in visible.values())
    if operation == "replace":
        assert list(visible) == [PATH]
    if operation != "create":
        assert OLD in kept_bytes(vault)

    history.recover_orphans(vault)
    assert temp_files(vault) == []
    assert pending_records(vault) == []
    assert history.recover_orphans(vault) == []
    after = pages(vault)
    if operation == "move":
        assert list(after.values()) == [OLD]
    elif operation != "remove":
        assert after == visible
    if operation == "replace" and after[PATH] == NEW:
        assert displaced(vault) == [OLD]
    if operation == "remove":
        assert after == {PATH: OLD} or (after == {} and displaced(vault) == [OLD])
    changed = after != ({} if operation == "create" else {PATH: OLD})
    assert len(history.versions(vault, PAGE)) == changed
    for path, data in after.items():
        written = writer.replace(vault, path, b"next", expected_hash=writer.sha256(data), page_id=PAGE, author=ALICE)
        assert not written.history_pending
    numbers = [version.number for version in history.versions(vault, PAGE)]
    assert numbers == list(range(len(numbers), 0, -1))


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("operation", "mechanism"),
    [(operation, "exchange") for operation in OPERATIONS]
    + [
        ("replace", "elsewhere"),
        ("remove", "elsewhere"),
        ("create", "link"),
        ("replace", "link"),
        ("move", "link"),
        ("create", "copy"),
        ("replace", "copy"),
    ],
)
def test_killed_at_each_step(tmp_path: Path, operation: str, mechanism: str, moment: str) -> None:
    for number in range(LONGEST):
        folder = tmp_path / str(number)
        folder.mkdir()
        vault = make_vault(folder)
        if operation != "create":
            put(vault)
        died = run_and_die(vault, operation, mechanism, number, moment)
        check_recovered(vault, operation)
        if not died:
            assert number > 5
            return
    pytest.fail("the change has no end")


def test_killed_in_the_middle_of_writing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)

    def work() -> None:
        with patched() as monkeypatch:
            whole = exchange.write_all

            def half(fd: int, data: bytes) -> None:
                if data == NEW:
                    whole(fd, data[: len(data) // 2])
                    die()
                whole(fd, data)

            monkeypatch.setattr(exchange, "write_all", half)
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)

    assert killed_child(work)
    assert (vault.root / PATH).read_bytes() == OLD
    (orphan,) = history.recover_orphans(vault)
    assert orphan["path"] == PATH
    assert (vault.state / "history" / "orphans" / orphan["file"]).read_bytes() == NEW[: len(NEW) // 2]


@pytest.mark.parametrize("by_rename", [True, False])
def test_a_save_displaced_by_a_dying_writer_is_kept(tmp_path: Path, by_rename: bool) -> None:
    vault = make_vault(tmp_path)
    expected = put(vault)
    save = b"what the person wrote at the last moment"

    def work() -> None:
        with patched() as monkeypatch:
            steps = Steps().install(monkeypatch)

            def editor(at: int, name: str, args: object) -> None:
                if name == "swap":
                    file = vault.root / PATH
                    if by_rename:
                        other = file.with_name("saving")
                        other.write_bytes(save)
                        other.rename(file)
                    else:
                        file.write_bytes(save)

            steps.before = editor
            steps.after = lambda at, name: die() if name == "swap" else None
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)

    assert killed_child(work)
    assert (vault.root / PATH).read_bytes() == NEW
    (orphan,) = history.recover_orphans(vault)
    assert orphan["content_hash"] == writer.sha256(save)
    assert (vault.state / "history" / "orphans" / orphan["file"]).read_bytes() == save
