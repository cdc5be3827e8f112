"""What the writer refuses, what it keeps of the file it changes, and how it moves pages."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.writing import (
    ALICE,
    MECHANISMS,
    NEW,
    OLD,
    PAGE,
    PATH,
    Steps,
    make_vault,
    operations,
    pages,
    pending_records,
    put,
    temp_files,
    use_mechanism,
)
from vault import history, writer
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault
from vault.writing import exchange, target


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path)


@pytest.fixture(params=MECHANISMS)
def mechanism(request: pytest.FixtureRequest, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> str:
    use_mechanism(monkeypatch, request.param, vault)
    return str(request.param)


def refusal(vault: Vault, operation: str = "replace") -> SynapseError:
    with pytest.raises(SynapseError) as refused:
        operations(vault)[operation]()
    assert temp_files(vault) == []
    assert pending_records(vault) == []
    return refused.value


def test_a_page_from_its_making_to_its_end(vault: Vault, mechanism: str) -> None:
    created = writer.create(vault, PATH, b"one", page_id=PAGE, author=ALICE)
    replaced = writer.replace(vault, PATH, b"two", expected_hash=created.content_hash, page_id=PAGE, author=ALICE)
    assert replaced.displaced_hash == created.content_hash
    moved = writer.move(vault, PATH, "wiki/concepts/x.md", page_id=PAGE, author=ALICE)
    assert pages(vault) == {"wiki/concepts/x.md": b"two"}
    assert vault.stat("wiki/concepts/x.md") == moved.stat
    removed = writer.remove(vault, "wiki/concepts/x.md", expected_hash=moved.content_hash, page_id=PAGE, author=ALICE)
    assert removed.displaced_hash == replaced.content_hash
    assert pages(vault) == {}
    done = [(version.action, version.path) for version in history.versions(vault, PAGE)]
    assert done == [
        ("delete", "wiki/concepts/x.md"),
        ("move", "wiki/concepts/x.md"),
        ("write", PATH),
        ("create", PATH),
    ]
    assert temp_files(vault) == []
    assert pending_records(vault) == []
    again = writer.create(vault, PATH, b"three", page_id=PAGE, author=ALICE)
    assert not again.history_pending


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o755])
def test_the_mode_is_kept(vault: Vault, mechanism: str, mode: int) -> None:
    put(vault)
    (vault.root / PATH).chmod(mode)
    operations(vault)["replace"]()
    assert stat.S_IMODE((vault.root / PATH).stat().st_mode) == mode


def test_a_new_page_has_the_mode_an_editor_would_give_it(vault: Vault, mechanism: str) -> None:
    mask = os.umask(0o027)
    try:
        operations(vault)["create"]()
    finally:
        os.umask(mask)
    assert stat.S_IMODE((vault.root / PATH).stat().st_mode) == 0o640


def as_if_owned_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    find = target.find

    def found(folder: int, name: str) -> target.Found | None:
        there = find(folder, name)
        assert there is not None
        fields = list(there.stat)
        fields[stat.ST_UID] += 1
        return target.Found(there.content_hash, os.stat_result(fields))

    monkeypatch.setattr(writer, "find", found)


def test_another_users_file_is_refused(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_permitted(*args: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    put(vault)
    as_if_owned_by_another(monkeypatch)
    monkeypatch.setattr(os, "fchown", not_permitted)
    error = refusal(vault)
    assert error.code is ErrorCode.PATH_NOT_ALLOWED
    assert "another user" in error.message
    assert pages(vault) == {PATH: OLD}


def test_the_owner_is_kept_where_the_system_lets_us(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    put(vault)
    as_if_owned_by_another(monkeypatch)
    monkeypatch.setattr(os, "fchown", lambda fd, uid, gid: given.append((uid, gid)))
    before = (vault.root / PATH).stat()
    operations(vault)["replace"]()
    assert given == [(before.st_uid + 1, before.st_gid)]


def test_a_write_protected_file_is_refused(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault)
    monkeypatch.setattr(os, "access", lambda *args, **kwargs: False)
    assert "write-protected" in refusal(vault).message
    assert pages(vault) == {PATH: OLD}


@pytest.mark.parametrize("operation", ["replace", "remove", "move"])
def test_a_hard_link_is_refused(vault: Vault, operation: str) -> None:
    put(vault)
    os.link(vault.root / PATH, vault.root / "other.md")
    error = refusal(vault, operation)
    assert error.code is ErrorCode.PATH_NOT_ALLOWED
    assert "hard link" in error.message
    assert pages(vault) == {PATH: OLD, "other.md": OLD}


@pytest.mark.parametrize("operation", ["create", "replace", "remove", "move"])
def test_a_symbolic_link_is_refused(vault: Vault, tmp_path: Path, operation: str) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(OLD)
    (vault.root / PATH).parent.mkdir(parents=True)
    (vault.root / PATH).symlink_to(outside)
    assert refusal(vault, operation).code is ErrorCode.PATH_NOT_ALLOWED
    assert outside.read_bytes() == OLD
    assert (vault.root / PATH).is_symlink()


@pytest.mark.parametrize("operation", ["create", "replace", "remove", "move"])
def test_a_symbolic_link_on_the_way_is_refused(vault: Vault, tmp_path: Path, operation: str) -> None:
    outside = tmp_path / "outside"
    (outside / "entities").mkdir(parents=True)
    (outside / "entities" / "alan-turing.md").write_bytes(OLD)
    (vault.root / "wiki").symlink_to(outside)
    assert refusal(vault, operation).code is ErrorCode.PATH_NOT_ALLOWED
    found = {path.name: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    assert found == {"alan-turing.md": OLD}


@pytest.mark.parametrize("operation", ["create", "replace", "remove", "move"])
@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_what_is_no_file_is_refused(vault: Vault, operation: str, kind: str) -> None:
    place = vault.root / PATH
    place.parent.mkdir(parents=True)
    if kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    assert refusal(vault, operation).code is ErrorCode.NOT_A_FILE


def test_a_mount_point_is_refused(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*args: Any) -> bool:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    put(vault)
    monkeypatch.setattr(exchange, "swap", busy)
    error = refusal(vault)
    assert error.code is ErrorCode.PATH_NOT_ALLOWED
    assert "mount point" in error.message


@pytest.mark.parametrize("path", ["../out.md", "/etc/out.md", "wiki//x.md", ".synapse/x.md", "wiki/../x.md", "a\0b.md"])
def test_a_path_that_leads_elsewhere_is_refused(vault: Vault, path: str) -> None:
    with pytest.raises(SynapseError) as refused:
        writer.create(vault, path, b"text", page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.PATH_NOT_ALLOWED
    assert pages(vault) == {}


def test_the_longest_name_can_be_written(vault: Vault, mechanism: str) -> None:
    path = "a" * 252 + ".md"
    created = writer.create(vault, path, OLD, page_id=PAGE, author=ALICE)
    writer.replace(vault, path, NEW, expected_hash=created.content_hash, page_id=PAGE, author=ALICE)
    assert pages(vault) == {path: NEW}


@pytest.mark.parametrize("operation", ["remove", "move"])
def test_what_is_not_there_is_told(vault: Vault, operation: str) -> None:
    (vault.root / PATH).parent.mkdir(parents=True)
    assert refusal(vault, operation).code is ErrorCode.PAGE_NOT_FOUND


def test_no_history_for_files_made_by_code(vault: Vault, mechanism: str) -> None:
    first = writer.create(vault, "wiki/index.md", b"one", page_id=PAGE, author=ALICE, record=False)
    writer.replace(
        vault,
        "wiki/index.md",
        b"two",
        expected_hash=first.content_hash,
        page_id=PAGE,
        author=ALICE,
        record=False,
    )
    assert history.versions(vault, PAGE) == []
    assert history.history_size(vault) == 0
    assert pages(vault) == {"wiki/index.md": b"two"}


def test_a_state_folder_swapped_for_a_link_leads_nowhere(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    put(vault)
    (vault.state / "history").symlink_to(outside)
    with pytest.raises(SynapseError):
        operations(vault)["replace"]()
    assert list(outside.iterdir()) == []
    assert pages(vault) == {PATH: OLD}


# --- moving ---


def test_the_id_is_recorded_before_the_file_moves(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault)
    steps = Steps().install(monkeypatch)
    known: list[Any] = []

    def look(at: int, name: str, args: tuple[Any, ...]) -> None:
        if name == "rename_new" and args[3] == "to.md":
            known.append(vault.ids.id_at("wiki/moved/to.md"))

    steps.before = look
    operations(vault)["move"]()
    assert known == [PAGE]


def test_a_move_replaces_nothing(vault: Vault, mechanism: str) -> None:
    put(vault)
    there = put(vault, b"another page", "wiki/moved/to.md")
    error = refusal(vault, "move")
    assert error.code is ErrorCode.CONFLICT
    assert error.repair["content_hash"] == there
    assert pages(vault) == {PATH: OLD, "wiki/moved/to.md": b"another page"}


def test_a_page_is_not_moved_onto_itself(vault: Vault) -> None:
    put(vault)
    with pytest.raises(SynapseError) as refused:
        writer.move(vault, PATH, PATH, page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert pages(vault) == {PATH: OLD}


def test_a_rename_that_changes_case_only(vault: Vault, mechanism: str) -> None:
    put(vault)
    upper = PATH.replace("alan", "Alan")
    writer.move(vault, PATH, upper, page_id=PAGE, author=ALICE)
    assert pages(vault) == {upper: OLD}


@pytest.mark.parametrize("kernel_renames", [True, False])
def test_a_rename_that_changes_case_only_where_case_does_not_count(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, kernel_renames: bool
) -> None:
    put(vault)
    upper = PATH.replace("alan", "Alan")
    with monkeypatch.context() as patch:
        ignore_case(patch, kernel_renames=kernel_renames)
        writer.move(vault, PATH, upper, page_id=PAGE, author=ALICE)
    assert pages(vault) == {upper: OLD}


def ignore_case(monkeypatch: pytest.MonkeyPatch, *, kernel_renames: bool) -> None:
    """Let names of a folder that differ in case only be one entry, as on macOS or Windows' file systems."""
    real_stat, rename_new, rename_over = os.stat, exchange.rename_new, exchange.rename_over

    def entry(folder: int, name: str) -> str:
        return next((other for other in os.listdir(folder) if other.casefold() == name.casefold()), name)

    def find(name: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> os.stat_result:
        return real_stat(name if dir_fd is None else entry(dir_fd, name), *args, dir_fd=dir_fd, **kwargs)

    def new(source_dir: int, source: str, target_dir: int, target_name: str) -> None:
        if entry(target_dir, target_name) in os.listdir(target_dir):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        rename_new(source_dir, entry(source_dir, source), target_dir, target_name)

    def over(source_dir: int, source: str, target_dir: int, target_name: str) -> None:
        if kernel_renames:
            rename_over(source_dir, source, target_dir, target_name)

    monkeypatch.setattr(os, "stat", find)
    monkeypatch.setattr(exchange, "rename_new", new)
    monkeypatch.setattr(exchange, "rename_over", over)
