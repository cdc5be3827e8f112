"""Paths sent to read sources that must not be read: refused alike, whatever lies there, and nothing outside is seen."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import VaultFolder
from tests.wiki.test_write_page import refused
from vault.errors import ErrorCode, SynapseError
from vault.writing import exchange
from wiki.services import read_source

SECRET = "canary: nobody outside may see this"


@pytest.fixture
def folder(vault_folder: VaultFolder) -> VaultFolder:
    """A vault whose surroundings hold files that no read may show."""
    outside = vault_folder.root.parent / "outside"
    (outside / "vault").mkdir(parents=True)
    for name in ("secret.md", "vault/secret.md"):
        (outside / name).write_text(SECRET)
    vault_folder.write("raw/sources/a.md", "A source.\n")
    vault_folder.write("raw/assets/picture.md", SECRET)
    vault_folder.write("wiki/concepts/page.md", SECRET)
    for hidden in (".git/config", ".obsidian/plugins/x/data.json", ".trash/x.md", ".env"):
        vault_folder.write(hidden, SECRET)
        vault_folder.write(f"raw/sources/{hidden}", SECRET)
    return vault_folder


@pytest.mark.parametrize(
    "path",
    [
        # climbing out, also to come back in under a name that begins alike
        "../../../../etc/passwd",
        "../../outside/secret.md",
        "../../outside/vault/secret.md",
        "raw/../raw/sources/a.md",
        "raw/sources/../../.git/config",
        "raw/sources/./a.md",
        "..",
        # absolute, and what other systems take for absolute
        "/etc/passwd",
        "//etc/passwd",
        "/raw/sources/a.md",
        "C:\\Windows\\win.ini",
        "C:/Windows/win.ini",
        "c:a.md",
        "\\\\host\\share\\x",
        "\\\\?\\C:\\x",
        "file:///etc/passwd",
        "/proc/self/root/etc/passwd",
        "../../proc/self/environ",
        # separators of another system
        "..\\..\\..\\evil.md",
        "raw\\sources\\a.md",
        # no path at all
        "",
        " ",
        ".",
        "/",
        # characters that no file system call takes
        "raw/sources/a.md\x00.png",
        "raw/sources/\ud800.md",
        "raw/sources/a\n.md",
        # a second spelling of a path that is fine
        "raw/sources/a.md/",
        "raw//sources/a.md",
        "./raw/sources/a.md",
        # names longer than any file's, in bytes
        "raw/sources/" + "a" * 256 + ".md",
        "é" * 127 + ".md",
        "x/" * 3000 + "a.md",
        # hidden, in any case
        ".git/config",
        ".obsidian/plugins/x/data.json",
        ".OBSIDIAN/plugins/x/data.json",
        ".Git/config",
        ".trash/x.md",
        ".synapse/vault-id",
        ".env",
        "raw/sources/.env",
        "raw/sources/.git/config",
        # inside the vault, but no source
        "raw/assets/picture.md",
        "raw/picture.md",
        "wiki/concepts/page.md",
        "WIKI/concepts/page.md",
    ],
)
def test_a_refused_path(folder: VaultFolder, path: str) -> None:
    with refused(ErrorCode.PATH_NOT_ALLOWED) as caught:
        read_source(path)
    shown = str(caught.value.envelope())
    assert SECRET not in shown and str(folder.root) not in shown


def test_a_refused_path_says_nothing_of_what_is_there(folder: VaultFolder) -> None:
    answers = []
    for path in (
        "../../outside/secret.md",
        "../../outside/none.md",
        ".env",
        ".none",
        "wiki/concepts/page.md",
        "wiki/x",
    ):
        with pytest.raises(SynapseError) as caught:
            read_source(path)
        answers.append(caught.value.envelope())
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "/proc/self/environ", "../../../outside/secret.md", "a.md", "nowhere"]
)
def test_a_symlink_is_not_followed(folder: VaultFolder, target: str) -> None:
    (folder.root / "raw/sources/link.md").symlink_to(target)
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        read_source("link.md")


@pytest.mark.parametrize("target", ["/etc", "../../../outside", "."])
def test_a_folder_that_is_a_symlink_is_not_entered(folder: VaultFolder, target: str) -> None:
    (folder.root / "raw/sources/linked").symlink_to(target)
    for name in ("hostname", "secret.md", "a.md", "none"):
        with refused(ErrorCode.PATH_NOT_ALLOWED):
            read_source(f"linked/{name}")


def test_symlinks_in_a_circle(folder: VaultFolder) -> None:
    for one, other in (("one", "two"), ("two", "one")):
        (folder.root / f"raw/sources/{one}.md").symlink_to(f"{other}.md")
    with refused(ErrorCode.PATH_NOT_ALLOWED):
        read_source("one.md")


def test_a_folder_swapped_for_a_symlink_while_reading(folder: VaultFolder) -> None:
    sources = folder.root / "raw/sources"
    folder.write("raw/sources/swap/secret.md", "inside")
    (sources / "other").symlink_to(folder.root.parent / "outside")
    stop = threading.Event()

    def swap() -> None:
        descriptor = os.open(sources, os.O_RDONLY)
        try:
            while not stop.is_set():
                exchange.swap(descriptor, "swap", "other")
        finally:
            os.close(descriptor)

    thread = threading.Thread(target=swap)
    thread.start()
    seen, codes = set(), set()
    try:
        for _ in range(2000):
            try:
                seen.add(read_source("swap/secret.md")["content"])
            except SynapseError as error:
                codes.add(error.code)
    finally:
        stop.set()
        thread.join()
    assert seen <= {"inside"}
    assert codes <= {ErrorCode.PATH_NOT_ALLOWED}


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "%252e%252e%252fetc",
        "\uff0e\uff0e\uff0fetc",
        "\u2024\u2024",
        "OBSIDI~1/app.json",
        "a.md::$DATA",
        "CON.md",
        "\u202egnp.md",
        "a\u200b.md",
    ],
)
def test_an_odd_name_is_only_a_name(folder: VaultFolder, path: str) -> None:
    with refused(ErrorCode.SOURCE_NOT_FOUND):
        read_source(path)
    folder.write(f"raw/sources/{path}", "There after all.\n")
    assert read_source(path)["content"] == "There after all.\n"


def test_two_forms_of_one_name_are_two_files(folder: VaultFolder) -> None:
    for name in ("cafe\u0301.md", "caf\u00e9.md"):
        folder.write(f"raw/sources/{name}", f"{len(name)} characters")
    assert read_source("cafe\u0301.md")["content"] == "8 characters"
    assert read_source("caf\u00e9.md")["content"] == "7 characters"


def test_a_name_is_found_in_its_other_form(folder: VaultFolder) -> None:
    folder.write("raw/sources/cafe\u0301.md", "x")
    assert read_source("caf\u00e9.md")["content"] == "x"


def test_folders_are_not_listed(folder: VaultFolder) -> None:
    folder.write("raw/sources/deep/b.md", "x")
    for path in ("raw", "raw/sources", "raw/sources/deep", "deep"):
        with refused(ErrorCode.NOT_A_FILE) as caught:
            read_source(path)
        assert "b.md" not in str(caught.value.envelope())


@pytest.fixture
def bound_socket(folder: VaultFolder) -> Iterator[None]:
    # The address of a socket may be 100 bytes long; the vault's folder is too deep for its whole path.
    before = Path.cwd()
    os.chdir(folder.root / "raw/sources")
    with socket.socket(socket.AF_UNIX) as bound:
        try:
            bound.bind("socket.md")
        finally:
            os.chdir(before)
        yield


def test_what_is_no_plain_file(folder: VaultFolder, bound_socket: None) -> None:
    os.mkfifo(folder.root / "raw/sources/pipe.md")
    for name in ("pipe.md", "socket.md"):
        with refused(ErrorCode.NOT_A_FILE):
            read_source(name)


def test_a_file_that_is_only_in_the_cloud(folder: VaultFolder) -> None:
    folder.write("raw/sources/.later.md.icloud", b"bplist00")
    with refused(ErrorCode.NOT_DOWNLOADED):
        read_source("later.md")


def test_nothing_outside_is_touched(folder: VaultFolder) -> None:
    outside = folder.root.parent / "outside"
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in outside.rglob("*")}
    for path in ("../../outside/new.md", "../../outside/secret.md", "/tmp/x"):
        with pytest.raises(SynapseError):
            read_source(path)
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in outside.rglob("*")} == before
