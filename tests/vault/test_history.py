"""The history of pages, and what is done with the leftovers of interrupted changes."""

from __future__ import annotations

import os
import threading
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.writing import ALICE, NEW, OLD, PAGE, PATH, Steps, kept_bytes, make_vault, pages, put, temp_files
from vault import history, writer
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from vault.root import Vault
from vault.writing import versions


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path)


def lines(vault: Vault) -> Path:
    return vault.state / "history" / str(PAGE) / "versions.jsonl"


def write(vault: Vault, data: bytes, author: Author = ALICE) -> writer.Written:
    """Make the page, or change it whatever it is."""
    if not (vault.root / PATH).exists():
        return writer.create(vault, PATH, data, page_id=PAGE, author=author)
    base = vault.read(PATH).content_hash
    return writer.replace(vault, PATH, data, expected_hash=base, page_id=PAGE, author=author)


# --- versions ---


def test_a_version_says_who_did_what(vault: Vault) -> None:
    write(vault, b"one", Author("Ann \udc80 \n 王", "mcp"))
    write(vault, b"three", ALICE)
    newer, older = history.versions(vault, PAGE)
    assert (older.number, older.author, older.door, older.action) == (1, "Ann \udc80 \n 王", "mcp", "create")
    assert (older.displaced_hash, older.file) == (None, None)
    assert (newer.number, newer.author, newer.door, newer.action) == (2, "Alice", "rest", "write")
    assert (newer.path, newer.size) == (PATH, 5)
    assert newer.displaced_hash == older.content_hash == writer.sha256(b"one")
    assert newer.at.endswith("Z")
    assert history.versions(vault, PAGE, limit=1) == [newer]


def test_a_page_without_history(vault: Vault) -> None:
    assert history.versions(vault, PAGE) == []
    assert history.last_written_hash(vault, PAGE) is None
    assert history.history_size(vault) == 0
    assert history.prune(vault, 30).removed == 0
    assert history.recover_orphans(vault) == []
    with pytest.raises(SynapseError) as refused:
        history.read_version(vault, PAGE, 1)
    assert refused.value.code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("torn", [b'{"number": 3, "at": "20', b"\xff\xfe\n", b"[" * 5000, b'{"number": 9}\n', b"\n\n"])
def test_a_torn_line_is_passed_over_and_the_next_starts_anew(vault: Vault, torn: bytes) -> None:
    write(vault, b"one")
    write(vault, b"two")
    with lines(vault).open("ab") as file:
        file.write(torn)
    assert [version.number for version in history.versions(vault, PAGE)] == [2, 1]
    assert history.last_written_hash(vault, PAGE) == writer.sha256(b"two")
    write(vault, b"three")
    assert [version.number for version in history.versions(vault, PAGE)] == [3, 2, 1]


def test_numbers_are_unique_across_threads(vault: Vault) -> None:
    def add() -> None:
        for _ in range(20):
            with versions.page_folder(vault, PAGE, create=True) as folder:
                versions.append(
                    folder,
                    {
                        "at": "2026-01-01T00:00:00Z",
                        "author": "Alice",
                        "door": "rest",
                        "action": "write",
                        "path": PATH,
                        "content_hash": "0" * 64,
                        "displaced_hash": None,
                        "size": 1,
                        "file": None,
                        "token": "0" * 12,
                    },
                )

    threads = [threading.Thread(target=add) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [version.number for version in history.versions(vault, PAGE)] == list(range(100, 0, -1))


def test_lines_longer_than_a_block_are_read_whole(vault: Vault) -> None:
    write(vault, b"one", Author("A" * 200_000, "rest"))
    write(vault, b"two", Author("B" * 70_000, "rest"))
    assert [len(version.author) for version in history.versions(vault, PAGE)] == [70_000, 200_000]


EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.binary(max_size=20)),
        st.tuples(st.just("edit"), st.binary(max_size=20)),
        st.tuples(st.just("delete"), st.just(b"")),
        st.tuples(st.just("move"), st.just(b"")),
    ),
    max_size=8,
)


@settings(max_examples=20, deadline=None)
@given(edits=EDITS)
def test_history_equals_a_model_of_it(edits: list[tuple[str, bytes]], tmp_path_factory: pytest.TempPathFactory) -> None:
    vault = make_vault(tmp_path_factory.mktemp("model"))
    path, other = PATH, "wiki/concepts/turing.md"
    current: bytes | None = None
    last_written: bytes | None = None
    acknowledged: list[tuple[str, bytes]] = []
    taken_away: list[bytes | None] = []
    for kind, data in edits:
        if kind == "write":
            if current is None:
                writer.create(vault, path, data, page_id=PAGE, author=ALICE)
            else:
                base = writer.sha256(current)
                writer.replace(vault, path, data, expected_hash=base, page_id=PAGE, author=ALICE)
            acknowledged.append((path, data))
            taken_away.append(current)
            current = last_written = data
        elif current is None:
            continue
        elif kind == "edit":
            (vault.root / path).write_bytes(data)
            current = data
        elif kind == "delete":
            writer.remove(vault, path, expected_hash=writer.sha256(current), page_id=PAGE, author=ALICE)
            acknowledged.append((path, current))
            taken_away.append(current)
            current = last_written = None
        else:
            writer.move(vault, path, other, page_id=PAGE, author=ALICE)
            path, other = other, path
            acknowledged.append((path, current))
            taken_away.append(None)
    found = history.versions(vault, PAGE)[::-1]
    assert [(version.path, version.content_hash) for version in found] == [
        (where, writer.sha256(data)) for where, data in acknowledged
    ]
    known = {data for data in taken_away if data is not None} | {current}
    for version, (_, data), gone in zip(found, acknowledged, taken_away, strict=True):
        if gone is not None:
            assert history.read_version(vault, PAGE, version.number, displaced=True) == gone
        if data in known:
            assert history.read_version(vault, PAGE, version.number) == data
        else:
            with pytest.raises(SynapseError):
                history.read_version(vault, PAGE, version.number)
    assert history.last_written_hash(vault, PAGE) == (None if last_written is None else writer.sha256(last_written))


def test_a_move_does_not_make_a_persons_words_ours(vault: Vault) -> None:
    write(vault, b"ours")
    (vault.root / PATH).write_bytes(b"the person's")
    writer.move(vault, PATH, "wiki/moved.md", page_id=PAGE, author=ALICE)
    assert history.last_written_hash(vault, PAGE) == writer.sha256(b"ours")


# --- keeping ---


def test_the_size_is_that_of_all_files(vault: Vault) -> None:
    write(vault, b"one")
    write(vault, b"two")
    files = [file for file in (vault.state / "history").rglob("*") if file.is_file()]
    assert history.history_size(vault) == sum(file.stat().st_size for file in files) > 3


# --- leftovers ---


def stray(vault: Vault, data: bytes, folder: str = "wiki") -> Path:
    file = vault.root / folder / ".synapse-0123456789ab.tmp"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_strays_of_a_vault_inside_the_vault_are_left_to_it(vault: Vault) -> None:
    inner = vault.root / "archive" / "old vault"
    (inner / ".synapse").mkdir(parents=True)
    stray = inner / ".synapse-0123456789ab.tmp"
    stray.write_bytes(b"another's save")
    assert history.recover_orphans(vault) == []
    assert stray.read_bytes() == b"another's save"


def test_a_stray_without_a_record_is_kept(vault: Vault) -> None:
    file = stray(vault, b"a person's save", "wiki/entities")
    (done,) = history.recover_orphans(vault)
    assert not file.exists()
    assert (done["path"], done["page_id"]) == ("wiki/entities", None)
    assert done["content_hash"] == writer.sha256(b"a person's save")
    assert (vault.state / "history" / "orphans" / done["file"]).read_bytes() == b"a person's save"
    stray(vault, b"another of the same name")
    assert len(history.recover_orphans(vault)) == 1
    assert {b"a person's save", b"another of the same name"} <= kept_bytes(vault)


def test_files_of_others_are_left_alone(vault: Vault) -> None:
    for name in (".synapse-0123456789ab.tmp.md", ".synapse-xyz.tmp", ".hidden.tmp", "note.tmp"):
        (vault.root / name).write_bytes(b"theirs")
    hidden = stray(vault, b"theirs", ".obsidian")
    (vault.root / "elsewhere").symlink_to(hidden.parent)
    before = kept_bytes(vault)
    assert history.recover_orphans(vault) == []
    assert kept_bytes(vault) == before
    assert hidden.exists()


def test_a_second_name_of_a_page_is_only_dropped(vault: Vault) -> None:
    put(vault)
    os.link(vault.root / PATH, (vault.root / PATH).with_name(".synapse-0123456789ab.tmp"))
    assert history.recover_orphans(vault) == []
    assert pages(vault) == {PATH: OLD}
    assert (vault.root / PATH).stat().st_nlink == 1


def test_a_change_that_is_being_made_is_not_touched(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = put(vault)
    steps = Steps().install(monkeypatch)
    looked: list[object] = []

    def look(at: int, name: str) -> None:
        # The first time, recovery comes before the new record is locked and takes it: the writer makes another.
        if steps.depth == 0 and not (name == "create_file" and steps.taken.count(name) > 1):
            steps.depth += 1  # what recovery does is no step of the change
            looked.append(history.recover_orphans(vault))
            steps.depth -= 1

    steps.after = look
    written = writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    assert len(looked) > 8
    assert not any(looked)
    assert not written.history_pending
    assert history.read_version(vault, PAGE, 1, displaced=True) == OLD


def test_a_change_of_another_process_is_not_touched(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = put(vault)
    waiting, go_on = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        steps = Steps().install(monkeypatch)

        def pause(at: int, name: str) -> None:
            if name == "swap":
                os.write(waiting[1], b"x")
                os.read(go_on[0], 1)

        steps.after = pause
        try:
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
            os._exit(0)
        finally:
            os._exit(1)
    os.read(waiting[0], 1)
    (held,) = temp_files(vault)
    assert held.read_bytes() == OLD
    assert history.recover_orphans(vault) == []
    assert temp_files(vault) == [held]
    os.write(go_on[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    assert history.read_version(vault, PAGE, 1, displaced=True) == OLD


def test_a_folder_that_was_renamed_meanwhile(vault: Vault) -> None:
    with pytest.MonkeyPatch.context() as patch:
        expected = put(vault)
        steps = Steps().install(patch)

        def stop(at: int, name: str) -> None:
            if name == "swap":
                raise KeyboardInterrupt

        steps.after = stop
        with pytest.raises(KeyboardInterrupt):
            writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE)
    (vault.root / "wiki" / "entities").rename(vault.root / "wiki" / "people")
    (done,) = history.recover_orphans(vault)
    assert done["path"] == "wiki/people"
    assert pages(vault) == {"wiki/people/alan-turing.md": NEW}
    assert OLD in kept_bytes(vault)


def test_an_unreadable_record_is_no_obstacle(vault: Vault) -> None:
    folder = vault.state / "history" / "pending"
    folder.mkdir(parents=True)
    (folder / "0123456789ab.json").write_bytes(b"{torn")
    (folder / "0123456789ac.json").write_bytes(b'{"token": "0123456789ac"}')
    stray(vault, b"kept")
    (done,) = history.recover_orphans(vault)
    assert done["content_hash"] == writer.sha256(b"kept")
    assert list(folder.iterdir()) == []


def test_pages_of_many_ids_do_not_mix(vault: Vault) -> None:
    ids = [uuid.uuid4() for _ in range(5)]
    for number, page_id in enumerate(ids):
        path = f"wiki/{number}.md"
        first = writer.create(vault, path, b"first", page_id=page_id, author=ALICE)
        writer.replace(vault, path, path.encode(), expected_hash=first.content_hash, page_id=page_id, author=ALICE)
    for number, page_id in enumerate(ids):
        assert history.last_written_hash(vault, page_id) == writer.sha256(f"wiki/{number}.md".encode())
        assert history.read_version(vault, page_id, 1) == b"first"
