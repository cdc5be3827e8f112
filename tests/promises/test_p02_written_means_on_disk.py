"""P2: "written" means on the disk, file and folder; the returned hash is the file's."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.promises.figures import Measured, figure
from tests.writing import (
    ALICE,
    MECHANISMS,
    NEW,
    OLD,
    PAGE,
    PATH,
    STEPS,
    make_vault,
    operations,
    put,
    use_mechanism,
)
from vault import history, writer
from vault.root import Vault
from vault.writing import exchange

Call = tuple[str, str]


def trace(monkeypatch: pytest.MonkeyPatch, vault: Vault) -> list[Call]:
    """Record each step with what it is about: the text ("new"), the page's folder, the history, or something else."""
    calls: list[Call] = []
    about: dict[int, str] = {}

    def describe(name: str, args: tuple[Any, ...]) -> str:
        if name == "write_all" and args[1] == NEW:
            about[args[0]] = "new"
        if name in ("write_all", "sync_file"):
            return about.get(args[0], "other")
        folder = args[2] if len(args) == 4 else args[0]
        return "history" if _is_below(vault.state, folder) else "folder"

    def wrap(name: str) -> Any:
        function = getattr(exchange, name)

        def call(*args: Any) -> Any:
            what = describe(name, args)
            result = function(*args)
            if result is not False:
                calls.append((name, what))
            return result

        return call

    for name in STEPS:
        if name not in ("hash_file", "create_file"):
            monkeypatch.setattr(exchange, name, wrap(name))
    write = os.write

    def write_line(fd: int, data: bytes) -> int:
        if b'"token"' in data and b'"number"' in data:
            about[fd] = "line"
            calls.append(("write", "line"))
        return write(fd, data)

    monkeypatch.setattr(os, "write", write_line)
    return calls


def _is_below(folder: Path, descriptor: int) -> bool:
    found = os.fstat(descriptor)
    return any(os.path.samestat(found, each.stat()) for each in folder.rglob("*") if each.is_dir())


def in_order(calls: list[Call], wanted: list[Call]) -> bool:
    rest = iter(calls)
    return all(step in rest for step in wanted)


WRITE = [("write_all", "new"), ("sync_file", "new")]
LINE = [("write", "line"), ("sync_file", "line"), ("sync_folder", "history")]
ORDERS = {
    ("create", "exchange"): [*WRITE, ("rename_new", "folder"), ("sync_folder", "folder"), *LINE],
    ("create", "link"): [*WRITE, ("link", "folder"), ("unlink", "folder"), ("sync_folder", "folder"), *LINE],
    ("create", "copy"): [*WRITE, ("rename_over", "folder"), ("sync_folder", "folder"), *LINE],
    ("replace", "exchange"): [
        *WRITE,
        ("swap", "folder"),
        ("sync_folder", "folder"),
        ("rename_new", "history"),
        *LINE,
    ],
    ("replace", "elsewhere"): [
        *WRITE,
        ("swap", "folder"),
        ("sync_folder", "folder"),
        ("sync_file", "other"),
        ("unlink", "folder"),
        *LINE,
    ],
    ("replace", "link"): [
        *WRITE,
        ("link", "history"),
        ("sync_folder", "history"),
        ("rename_over", "folder"),
        ("sync_folder", "folder"),
        *LINE,
    ],
    ("replace", "copy"): [
        *WRITE,
        ("sync_file", "other"),
        ("sync_folder", "history"),
        ("rename_over", "folder"),
        ("sync_folder", "folder"),
        *LINE,
    ],
    ("remove", "exchange"): [("rename_new", "folder"), ("sync_folder", "folder"), ("rename_new", "history"), *LINE],
    ("move", "exchange"): [("rename_new", "folder"), ("sync_folder", "folder"), ("sync_folder", "folder"), *LINE],
}


@pytest.mark.parametrize(("operation", "mechanism"), list(ORDERS))
def test_each_step_is_on_disk_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, mechanism: str, measured: Measured
) -> None:
    vault = make_vault(tmp_path)
    if operation != "create":
        put(vault)
    use_mechanism(monkeypatch, mechanism, vault)
    calls = trace(monkeypatch, vault)
    operations(vault)[operation]()
    assert in_order(calls, ORDERS[operation, mechanism]), calls
    measured(
        "P2", f"{operation} by {mechanism}: {len(ORDERS[operation, mechanism])} steps in their order, then the reply"
    )


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_returned_hash_is_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str) -> None:
    vault = make_vault(tmp_path)
    use_mechanism(monkeypatch, mechanism, vault)
    created = operations(vault)["create"]()
    assert created.content_hash == vault.read(PATH).content_hash
    put(vault)
    written = operations(vault)["replace"]()
    read = vault.read(PATH)
    assert (written.content_hash, written.stat) == (read.content_hash, read.stat)
    assert written.displaced_hash == writer.sha256(OLD)


def killed_at_its_word(work: Callable[[], None]) -> None:
    """Run ``work`` in a child that says when it has its answer, and kill it as soon as it does."""
    hearing, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os.write(told, b".")
            signal.pause()
        finally:
            os._exit(1)
    os.close(told)
    said = os.read(hearing, 1)
    os.kill(pid, signal.SIGKILL)
    os.close(hearing)
    _, status = os.waitpid(pid, 0)
    assert said == b"."
    assert os.WIFSIGNALED(status)


def test_killed_right_after_the_reply(tmp_path: Path, measured: Measured) -> None:
    vault = make_vault(tmp_path)
    kills = figure(20, 200)
    for number in range(kills):
        data = f"version {number}".encode()
        before = put(vault, f"before {number}".encode())

        def work(data: bytes = data, before: str = before) -> None:
            writer.replace(vault, PATH, data, expected_hash=before, page_id=PAGE, author=ALICE)

        killed_at_its_word(work)
        assert (vault.root / PATH).read_bytes() == data
        assert history.last_written_hash(vault, PAGE) == writer.sha256(data)
    measured("P2", f"killed at the reply {kills} times: {kills} present, each with its line in the history")
