"""P1: a page file is always one whole version somebody wrote, and no temporary file is ever lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import Call, Kernel
from tests.promises.figures import Measured, figure
from tests.promises.places import died_at_random
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


def steps_of(vault: Vault, operation: str, mechanism: str) -> list[Call]:
    """The system calls of a change that can change anything."""
    with patched() as monkeypatch:
        use_mechanism(monkeypatch, mechanism, vault)
        kernel = Kernel().install(monkeypatch, sync=False)
        with kernel.watching():
            operations(vault)[operation]()
    return [call for call in kernel.calls if call.changes]


def run_and_die(vault: Vault, operation: str, mechanism: str, number: int, *, after: bool) -> bool:
    """Run a change in a child that dies at a system call; False when it came to its end."""

    def work() -> None:
        with patched() as monkeypatch:
            use_mechanism(monkeypatch, mechanism, vault)
            kernel = Kernel().install(monkeypatch, sync=False)
            kernel.die_at(number, after=after)
            with kernel.watching():
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
def test_killed_at_each_system_call(tmp_path: Path, operation: str, mechanism: str, measured: Measured) -> None:
    def fresh(name: str) -> Vault:
        folder = tmp_path / name
        folder.mkdir()
        vault = make_vault(folder)
        if operation != "create":
            put(vault)
        return vault

    calls = steps_of(fresh("counted"), operation, mechanism)
    moments = [(call.number, False) for call in calls] + [(calls[-1].number, True)]
    assert len(moments) > 10
    for number, after in moments:
        vault = fresh(f"{number}{after}")
        assert run_and_die(vault, operation, mechanism, number, after=after)
        check_recovered(vault, operation)
    measured("P1", f"{operation} by {mechanism}: killed at each of {len(moments)} system calls, 0 torn, 0 lost")


def test_killed_at_random_times(own_vault: dict[str, str], measured: Measured) -> None:
    found = died_at_random(own_vault, figure(4, 500))
    assert found["wrong"] == []
    measured(
        "P1", f"{found['kills']} kills of a process that writes: 0 torn, {found['orphans']} leftovers kept, 0 lost"
    )


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
