"""Nothing outside the root is read, listed, probed or made, by whichever mechanism (promise P26)."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.places import CANARY, MECHANISMS, Place, answer, open_descriptors, raising
from vault.disk import confined
from vault.disk.confined import Mechanism, best_mechanism
from vault.errors import ErrorCode, SynapseError
from vault.paths import check_path, is_allowed, source_path
from vault.root import Skipped, Vault, WalkEntry


@pytest.fixture(autouse=True)
def no_leaked_descriptors() -> Iterator[None]:
    before = open_descriptors()
    yield
    assert open_descriptors() <= before


# --- opening ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["canary.md", "is-not-there.md"])
@pytest.mark.parametrize("link", ["file", "folder", "folder-within", "loop", "proc", "dangling"])
def test_symlinks_have_one_answer_whether_or_not_the_target_exists(place: Place, link: str, name: str) -> None:
    outside = place.outside / name
    (place.root / "loop1").symlink_to("loop2")
    (place.root / "loop2").symlink_to("loop1")
    (place.root / "within").symlink_to(place.root / "raw")
    (place.root / "dirlink").symlink_to(place.outside)
    (place.root / "link.md").symlink_to(outside)
    (place.root / "env.md").symlink_to("/proc/self/environ")
    (place.root / "nothing.md").symlink_to("nowhere")
    path = {
        "file": "link.md",
        "folder": f"dirlink/{name}",
        "folder-within": "within/a.md",
        "loop": "loop1",
        "proc": "env.md",
        "dangling": "nothing.md",
    }[link]
    assert answer(place.vault, path) == (ErrorCode.PATH_NOT_ALLOWED, confined.NOT_ALLOWED)
    assert place.vault.stat(path) is None
    assert place.vault.birth_ns(path) is None


def test_another_mount_is_not_entered() -> None:
    for mechanism in MECHANISMS:
        everything_else = [name for name in os.listdir("/") if name != "proc"]
        vault = Vault(Path("/"), Path("/nowhere"), exclude=everything_else, mechanism=mechanism)
        assert answer(vault, "proc/version") == (ErrorCode.PATH_NOT_ALLOWED, confined.NOT_ALLOWED)
        assert [(found.path, found.code) for found in vault.walk() if isinstance(found, Skipped)] == [
            ("proc", "other_mount")
        ]


def test_what_is_not_a_file_is_said_at_once(place: Place) -> None:
    os.mkfifo(place.root / "raw/fifo.md")
    (place.root / "raw/folder.md").mkdir()
    here = os.getcwd()
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(place.root / "raw")  # a socket's address is too short for a temporary folder
        try:
            listener.bind("sock.md")
        finally:
            os.chdir(here)
        for path in ("raw/fifo.md", "raw/sock.md", "raw/folder.md", "raw"):
            begun = time.monotonic()
            code, message = answer(place.vault, path)
            assert (code, time.monotonic() - begun < 5) == (ErrorCode.NOT_A_FILE, True), "an open that waits never ends"
            assert "folder.md" not in message
            assert place.vault.stat(path) is None


def test_missing_files_and_folders_are_not_found(place: Place) -> None:
    for path in (
        "no.md",
        "no/such/file.md",
        "raw/a.md/below.md",
        "%252e%252e%252fetc",
        "．．．etc",
        "OBSIDI~1/app.json",
    ):
        assert answer(place.vault, path)[0] is ErrorCode.NOT_FOUND
        assert place.vault.stat(path) is None


def test_names_that_other_systems_forbid_can_be_read(place: Place) -> None:
    for name in ("CON.md", "aux.txt", "a.md::$DATA", "\u202egnp.md", "a\u200b.md", "~$x.md", "x?.md", "-rf.md"):
        place.write(f"raw/{name}", b"x")
        assert place.vault.read(f"raw/{name}").data == b"x"


def test_an_alias_made_by_the_file_system_is_not_found(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some drives open `OBSIDI~1` for a name that is not in the folder's list."""
    place.write("SECRET~1.md", b"x")
    assert place.vault.read("SECRET~1.md").data == b"x"
    monkeypatch.setattr(os, "listdir", lambda folder: ["secret-long-name.md"])
    assert answer(place.vault, "SECRET~1.md") == answer(place.vault, "MISSIN~1.md")


# --- the root --------------------------------------------------------------------------------------


def test_the_root_may_be_a_symlink_and_be_replaced_while_we_run(place: Place, tmp_path: Path) -> None:
    entrance = tmp_path / "entrance"
    entrance.symlink_to(place.root)
    vault = Vault(entrance, tmp_path / "data")
    assert vault.read("raw/a.md").data == b"inside"
    other = tmp_path / "other"
    (other / "raw").mkdir(parents=True)
    (other / "raw/a.md").write_bytes(b"other")
    entrance.unlink()
    assert answer(vault, "raw/a.md")[0] is ErrorCode.STORAGE_ERROR
    with pytest.raises(SynapseError):
        list(vault.walk())
    with pytest.raises(SynapseError), vault.lock("scan"):
        pass
    assert not entrance.exists()
    entrance.symlink_to(other)
    assert vault.read("raw/a.md").data == b"other"


# --- folders to write in ---------------------------------------------------------------------------


def test_missing_folders_are_made_below_the_root_only(place: Place) -> None:
    with place.vault.parent("new/deep/page.md", create=True) as (folder, name):
        assert (os.listdir(folder), name) == ([], "page.md")
    assert (place.root / "new/deep").is_dir()
    with place.vault.parent("top.md") as (folder, name):
        assert sorted(os.listdir(folder)) == ["new", "raw"]
    (place.root / "dirlink").symlink_to(place.outside)
    before = place.outside_files(), os.listdir(place.outside)
    for path in ("dirlink/new.md", "dirlink/sub/new.md", "raw/../../outside/x/new.md"):
        with pytest.raises(SynapseError) as caught, place.vault.parent(path, create=True):
            pass
        assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED
    assert (place.outside_files(), os.listdir(place.outside)) == before
    with pytest.raises(SynapseError) as caught, place.vault.parent("none/page.md"):
        pass
    assert caught.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(SynapseError), place.vault.parent("raw/a.md/page.md", create=True):
        pass


def test_a_state_folder_that_is_a_link_is_refused(place: Place) -> None:
    (place.root / ".synapse").symlink_to(place.outside)
    for use in (
        place.vault.ensure_id,
        lambda: place.vault.state,
        lambda: place.vault.ids.record("a", uuid.UUID(int=1)),
    ):
        with pytest.raises(SynapseError) as caught:
            use()
        assert caught.value.code is ErrorCode.STORAGE_ERROR
    with pytest.raises(SynapseError), place.vault.lock("scan"):
        pass
    assert os.listdir(place.outside) == ["canary.md"]


# --- races -----------------------------------------------------------------------------------------


def test_a_folder_swapped_for_a_symlink_leaks_nothing(place: Place) -> None:
    """A010: one thread swaps a folder and a symlink to the outside as fast as it can while others read and walk."""
    (place.outside / "d.md").write_bytes(CANARY)
    (place.root / "swap").mkdir()
    place.write("swap/d.md", b"inside")
    (place.root / "evil").symlink_to(place.outside)
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        swap_once = _swap_by_renames
    else:

        def swap_once(root: Path) -> None:
            assert libc.renameat2(-100, bytes(root / "swap"), -100, bytes(root / "evil"), 2) == 0

    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            swap_once(place.root)

    swapper = threading.Thread(target=swap)
    swapper.start()
    answers = {"inside": 0, "refused": 0}
    try:
        deadline = time.monotonic() + 2
        for _ in range(4000):
            try:
                data = place.vault.read("swap/d.md").data
                assert data == b"inside"
                answers["inside"] += 1
            except SynapseError as error:
                assert error.code in (ErrorCode.PATH_NOT_ALLOWED, ErrorCode.NOT_FOUND)
                answers["refused"] += 1
            if time.monotonic() > deadline:
                break
        inodes = {(place.outside / name).stat().st_ino for name in ("canary.md", "d.md")}
        for _ in range(200):
            assert not inodes & {found.inode for found in place.vault.walk() if isinstance(found, WalkEntry)}
    finally:
        stop.set()
        swapper.join()
    assert sum(answers.values()) > 100


def _swap_by_renames(root: Path) -> None:
    os.rename(root / "swap", root / "tmp")
    os.rename(root / "evil", root / "swap")
    os.rename(root / "tmp", root / "evil")


# --- any path at all -------------------------------------------------------------------------------

_PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "raw",
        "sources",
        "outside",
        "canary.md",
        "dirlink",
        "link.md",
        "vault",
        "a.md",
        "~",
        "%2e%2e",
        "．．",
    ]
)
_PATHS = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(_PARTS, st.text(max_size=5)), min_size=1, max_size=8).map("/".join),
    st.lists(_PARTS, min_size=1, max_size=8).map("\\".join),
)


@pytest.fixture(scope="module", params=MECHANISMS, ids=lambda mechanism: mechanism.value)
def trapped(request: pytest.FixtureRequest) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder), request.param)
        (place.root / "dirlink").symlink_to("../outside")
        (place.root / "link.md").symlink_to("../outside/canary.md")
        yield place


@given(path=_PATHS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_leads_outside(trapped: Place, path: str) -> None:
    before = trapped.outside_files()
    for turned in (lambda text: text, source_path):
        try:
            assert trapped.vault.read(turned(path)).data == b"inside"
        except SynapseError as error:
            assert str(trapped.root.parent) not in error.message
    if is_allowed(path):
        assert check_path(path) == path
        try:
            with trapped.vault.parent(f"{path}/new.md", create=True) as (folder, _):
                assert Path(f"/proc/self/fd/{folder}").resolve().is_relative_to(trapped.root.resolve())
        except SynapseError:
            pass
    assert trapped.outside_files() == before
    assert sorted(os.listdir(trapped.root.parent)) == ["outside", "vault"]


def test_the_walk_by_folders_stands_in_where_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    best_mechanism.cache_clear()
    monkeypatch.setattr(confined, "_openat2", raising(PermissionError(1, "seccomp")))
    try:
        assert best_mechanism() is Mechanism.WALK
    finally:
        best_mechanism.cache_clear()


@pytest.mark.parametrize(("number", "said"), [(errno.EROFS, "read-only"), (errno.ENOSPC, "full"), (errno.EACCES, "no")])
def test_a_disk_that_refuses_is_named_with_the_repair(number: int, said: str) -> None:
    refused = confined.refusal(OSError(number, "text of the system", "/root/secret.md"))
    assert refused.code is ErrorCode.STORAGE_ERROR
    assert said in refused.message and "secret" not in refused.message
