"""Nothing outside the root is read, listed, probed or made, by whichever mechanism (promise P26)."""

from __future__ import annotations

import ctypes
import hashlib
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault import confined, reading, walking
from vault.confined import Mechanism, best_mechanism
from vault.errors import ErrorCode, SynapseError
from vault.paths import check_path, is_allowed, source_path
from vault.root import Skipped, Vault, WalkEntry

CANARY = b"the canary must never be seen"
MECHANISMS = [Mechanism.WALK] if best_mechanism() is Mechanism.WALK else list(Mechanism)


class Place:
    """A vault in a folder, with a secret outside of it."""

    def __init__(self, folder: Path, mechanism: Mechanism) -> None:
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "canary.md").write_bytes(CANARY)
        self.root = folder / "vault"
        (self.root / "raw" / "sources").mkdir(parents=True)
        self.write("raw/a.md", b"inside")
        self.vault = Vault(self.root, folder / "data", mechanism=mechanism)

    def write(self, path: str, data: bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    def outside_files(self) -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in self.outside.rglob("*") if file.is_file()}


@pytest.fixture(params=MECHANISMS, ids=lambda mechanism: mechanism.value)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    return Place(tmp_path, request.param)


@pytest.fixture(autouse=True)
def no_leaked_descriptors() -> Iterator[None]:
    if not Path("/proc/self/fd").exists():
        yield
        return
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) <= before


def answer(vault: Vault, path: str) -> tuple[ErrorCode, str]:
    with pytest.raises(SynapseError) as caught:
        vault.read(path)
    return caught.value.code, caught.value.message


# --- reading ---------------------------------------------------------------------------------------


def test_reads_bytes_hash_and_stat(place: Place) -> None:
    found = place.vault.read("raw/a.md")
    status = (place.root / "raw/a.md").stat()
    assert (found.data, found.path, found.stable) == (b"inside", "raw/a.md", True)
    assert found.content_hash == hashlib.sha256(b"inside").hexdigest()
    assert (found.stat.size, found.stat.inode, found.stat.mtime_ns) == (6, status.st_ino, status.st_mtime_ns)
    assert place.vault.stat("raw/a.md") == found.stat
    assert place.vault.digest("raw/a.md").content_hash == found.content_hash


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
            assert (code, time.monotonic() - begun < 0.1) == (ErrorCode.NOT_A_FILE, True)
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


def test_size_limit(place: Place) -> None:
    assert place.vault.read("raw/a.md", max_bytes=6).data == b"inside"
    with pytest.raises(SynapseError) as caught:
        place.vault.read("raw/a.md", max_bytes=5)
    assert caught.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert caught.value.repair == {"size_bytes": 6, "max_bytes": 5}


def test_a_file_that_grows_for_ever_is_read_to_a_bound(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place.write("raw/log.md", b"x" * 1000)
    real, asked = os.pread, []

    def growing(descriptor: int, count: int, offset: int) -> bytes:
        with file.open("ab") as more:
            more.write(b"y" * 1000)
        asked.append(count)
        return real(descriptor, count, offset)

    monkeypatch.setattr(os, "pread", growing)
    found = place.vault.read("raw/log.md")
    assert not found.stable
    assert len(found.data) == found.stat.size == asked[-1] < file.stat().st_size
    assert found.content_hash == hashlib.sha256(found.data).hexdigest()
    assert not place.vault.digest("raw/log.md").stable


def test_a_file_that_changes_once_while_it_is_read_is_read_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    file = place.write("raw/b.md", b"old old old")
    real, changes = os.pread, [b"new"]

    def changing(descriptor: int, count: int, offset: int) -> bytes:
        data = real(descriptor, count, offset)
        if changes:
            file.write_bytes(changes.pop())
        return data

    monkeypatch.setattr(os, "pread", changing)
    found = place.vault.read("raw/b.md")
    assert (found.data, found.stable) == (b"new", True)


def test_a_placeholder_of_a_cloud_drive_is_not_downloaded(place: Place) -> None:
    os.truncate(place.write("raw/stub.md", b""), 5000)
    if (place.root / "raw/stub.md").stat().st_blocks == 0:
        assert answer(place.vault, "raw/stub.md")[0] is ErrorCode.NOT_DOWNLOADED
        with pytest.raises(SynapseError):
            place.vault.digest("raw/stub.md")
    place.write("raw/.Note.md.icloud", b"stub")
    assert answer(place.vault, "raw/Note.md")[0] is ErrorCode.NOT_DOWNLOADED
    with pytest.raises(SynapseError):  # neither there nor deleted
        place.vault.stat("raw/Note.md")
    assert ("raw/Note.md", "not_downloaded") in [found[:2] for found in place.vault.walk()]


def test_a_file_without_blocks_that_holds_text_is_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems count no blocks for small or fresh files."""
    real = os.fstat

    class NoBlocks:
        def __init__(self, status: os.stat_result) -> None:
            self._status = status
            self.st_blocks = 0

        def __getattr__(self, name: str) -> object:
            return getattr(self._status, name)

    monkeypatch.setattr(reading.os, "fstat", lambda descriptor: NoBlocks(real(descriptor)))
    assert place.vault.read("raw/a.md").data == b"inside"
    assert place.vault.digest("raw/a.md").stat.size == 6


def test_a_name_in_another_unicode_form_is_found(place: Place) -> None:
    decomposed, composed = "raw/cafe\u0301.md", "raw/caf\u00e9.md"
    place.write(decomposed, b"decomposed")
    found = place.vault.read(composed)
    assert (found.data, found.path) == (b"decomposed", decomposed)
    assert place.vault.stat(composed) is None
    with pytest.raises(SynapseError):
        place.vault.read(composed, exact=True)
    place.write(composed, b"composed")
    assert place.vault.read(composed).data == b"composed"
    assert place.vault.read(decomposed).data == b"decomposed"
    assert place.vault.locate("raw/no.md") is None
    place.write("u\u0308ber/o\u0308.md", b"below")
    assert place.vault.locate("\u00fcber/\u00f6.md") == "u\u0308ber/o\u0308.md"


def test_a_disk_that_does_not_answer_is_a_storage_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.root.open_beneath", _raising(OSError(5, "input/output error of /secret/place")))
    code, message = answer(place.vault, "raw/a.md")
    assert code is ErrorCode.STORAGE_ERROR
    assert "secret" not in message
    monkeypatch.setattr("vault.root.folder_beneath", _raising(PermissionError(13, "denied")))
    with pytest.raises(SynapseError) as caught:
        place.vault.stat("raw/a.md")
    assert caught.value.code is ErrorCode.STORAGE_ERROR


def _raising(error: Exception):  # type: ignore[no-untyped-def]
    def call(*arguments: object, **named: object) -> None:
        raise error

    return call


def test_birth_is_kept_or_unknown(place: Place) -> None:
    file = place.write("raw/new.md", b"1")
    born = place.vault.birth_ns("raw/new.md")
    os.utime(file, (1, 1))
    file.write_bytes(b"2")
    assert place.vault.birth_ns("raw/new.md") == born
    assert born is None or abs(born - time.time_ns()) < 3600 * 10**9
    assert place.vault.birth_ns("raw/none.md") is None


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
    for use in (place.vault.ensure_id, lambda: place.vault.state, lambda: place.vault.ids.record("a", _ID)):
        with pytest.raises(SynapseError) as caught:
            use()
        assert caught.value.code is ErrorCode.STORAGE_ERROR
    with pytest.raises(SynapseError), place.vault.lock("scan"):
        pass
    assert os.listdir(place.outside) == ["canary.md"]


_ID = __import__("uuid").UUID(int=1)


# --- the walk --------------------------------------------------------------------------------------


def test_walk_takes_files_and_says_what_it_skips(place: Place) -> None:
    place.write("wiki/one.md", b"1")
    place.write("wiki/folder.md/two.md", b"22")
    for hidden in (".obsidian/app.json", "wiki/.trash/x.md", ".hidden.md", "templates/day.md", "a/Archive/old.md"):
        place.write(hidden, b"-")
    (place.root / "wiki/link.md").symlink_to("one.md")
    (place.root / "wiki/dirlink").symlink_to(place.outside)
    (place.root / "wiki/loop").symlink_to("loop")
    os.mkfifo(place.root / "wiki/fifo.md")
    place.write("wiki/back\\slash.md", b"-")
    place.write("wiki/line\nbreak.md", b"-")
    place.write("C: drive.md", b"-")
    with open(os.fsencode(place.root) + b"/wiki/caf\xe9.md", "wb"):
        pass
    os.mkdir(os.fsencode(place.root) + b"/wiki/d\xff")
    vault = Vault(place.root, place.vault.data, exclude=["templates/*", "Archive"], mechanism=place.vault._mechanism)
    found = list(vault.walk())
    assert {entry.path: entry.size for entry in found if isinstance(entry, WalkEntry)} == {
        "raw/a.md": 6,
        "wiki/one.md": 1,
        "wiki/folder.md/two.md": 2,
    }
    assert {entry.path: entry.code for entry in found if isinstance(entry, Skipped)} == {
        "wiki/link.md": "symlink",
        "wiki/dirlink": "symlink",
        "wiki/loop": "symlink",
        "wiki/fifo.md": "special_file",
        "wiki/back\\slash.md": "name_not_allowed",
        "wiki/line\\x0abreak.md": "name_not_allowed",
        "C: drive.md": "name_not_allowed",
        "wiki/caf\\xe9.md": "name_not_utf8",
        "wiki/d\\xff": "name_not_utf8",
    }
    assert [entry.path for entry in vault.walk("wiki/folder.md")] == ["wiki/folder.md/two.md"]
    for below in ("wiki/none", "wiki/one.md", "wiki/dirlink"):
        with pytest.raises(SynapseError):
            list(vault.walk(below))


def test_every_walked_path_can_be_read(place: Place) -> None:
    deep = "/".join(["d" * 200] * 15)
    with place.vault.parent(f"{deep}/x.md", create=True) as (folder, _):
        for name in ("ok.md", " ", "é.md", "a:b.md", "con.md"):
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    for entry in place.vault.walk():
        assert isinstance(entry, WalkEntry)
        assert check_path(entry.path) == entry.path
        assert place.vault.read(entry.path).stat.inode == entry.inode


def test_what_vanishes_or_is_locked_during_the_walk_is_no_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("gone/x.md", b"")
    place.write("locked/x.md", b"")
    place.write("swapped/x.md", b"")
    real = walking.open_beneath

    def opening(root: int, path: str, flags: int, mechanism: Mechanism | None) -> int:
        if path == "gone":
            raise FileNotFoundError(2, "gone")
        if path == "locked":
            raise PermissionError(13, "locked")
        if path == "swapped":
            (place.root / "swapped").rename(place.root / "elsewhere")
            (place.root / "swapped").symlink_to(place.outside)
        return real(root, path, flags, mechanism)

    monkeypatch.setattr(walking, "open_beneath", opening)
    assert {found[:2] for found in place.vault.walk() if isinstance(found, Skipped)} == {
        ("locked", "unreadable"),
        ("swapped", "symlink"),
    }


def test_walk_is_fast(place: Place) -> None:
    """10,000 files in 0.15 s; measured on a fifth of it, as time of the processor, with room for a slow machine."""
    for number in range(20):
        folder = place.root / f"wiki/{number}"
        folder.mkdir(parents=True)
        for page in range(100):
            (folder / f"page {page}.md").touch()

    def once() -> float:
        begun = time.process_time()
        assert sum(1 for _ in place.vault.walk()) == 2001
        return time.process_time() - begun

    assert min(once() for _ in range(5)) < 0.15 / 5 * 3


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
    monkeypatch.setattr(confined, "_openat2", _raising(PermissionError(1, "seccomp")))
    try:
        assert best_mechanism() is Mechanism.WALK
    finally:
        best_mechanism.cache_clear()
