"""A file is read as one whole version, bounded, and hashed as it was returned."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.places import Place, answer, open_descriptors, raising
from vault.errors import ErrorCode, SynapseError


@pytest.fixture(autouse=True)
def no_leaked_descriptors() -> Iterator[None]:
    before = open_descriptors()
    yield
    assert open_descriptors() <= before


def test_reads_bytes_hash_and_stat(place: Place) -> None:
    found = place.vault.read("raw/a.md")
    status = (place.root / "raw/a.md").stat()
    assert (found.data, found.path, found.stable) == (b"inside", "raw/a.md", True)
    assert found.content_hash == hashlib.sha256(b"inside").hexdigest()
    assert (found.stat.size, found.stat.inode, found.stat.mtime_ns) == (6, status.st_ino, status.st_mtime_ns)
    assert place.vault.stat("raw/a.md") == found.stat
    assert place.vault.digest("raw/a.md").content_hash == found.content_hash


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
    _change_fstat(monkeypatch, st_blocks=0)
    assert place.vault.read("raw/a.md").data == b"inside"
    assert place.vault.digest("raw/a.md").stat.size == 6


def test_a_file_that_the_system_flags_as_in_the_cloud_is_not_read(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS would fetch it, for as long as that takes."""
    _change_fstat(monkeypatch, st_flags=0x40000000)
    monkeypatch.setattr(os, "pread", raising(AssertionError("it was read")))
    assert answer(place.vault, "raw/a.md")[0] is ErrorCode.NOT_DOWNLOADED
    with pytest.raises(SynapseError):
        place.vault.digest("raw/a.md")


def _change_fstat(monkeypatch: pytest.MonkeyPatch, **changes: int) -> None:
    real = os.fstat

    def changed(descriptor: int) -> SimpleNamespace:
        status = real(descriptor)
        fields = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
        return SimpleNamespace(**(fields | changes))

    monkeypatch.setattr(os, "fstat", changed)


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
    monkeypatch.setattr("vault.root.open_beneath", raising(OSError(5, "input/output error of /secret/place")))
    code, message = answer(place.vault, "raw/a.md")
    assert code is ErrorCode.STORAGE_ERROR
    assert "secret" not in message
    monkeypatch.setattr("vault.root.folder_beneath", raising(PermissionError(13, "denied")))
    with pytest.raises(SynapseError) as caught:
        place.vault.stat("raw/a.md")
    assert caught.value.code is ErrorCode.STORAGE_ERROR


def test_birth_is_kept_or_unknown(place: Place) -> None:
    file = place.write("raw/new.md", b"1")
    born = place.vault.birth_ns("raw/new.md")
    os.utime(file, (1, 1))
    file.write_bytes(b"2")
    assert place.vault.birth_ns("raw/new.md") == born
    assert born is None or abs(born - time.time_ns()) < 3600 * 10**9
    assert place.vault.birth_ns("raw/none.md") is None
