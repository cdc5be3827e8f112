"""The walk takes each file once, follows nothing, and says what it skips."""

from __future__ import annotations

import os

import pytest

from tests.places import Place
from vault.disk import walking
from vault.disk.confined import Mechanism
from vault.errors import SynapseError
from vault.paths import check_path
from vault.root import Skipped, Vault, WalkEntry


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
