"""Locks exclude threads and processes, and die with their holder (promise P18)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from vault.errors import ErrorCode, SynapseError
from vault.root import Vault

PAGE = "page-2d1f3916-9dad-4269-9ad1-5025be682586"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "vault").mkdir()
    return Vault(tmp_path / "vault", tmp_path / "data")


def holds(vault: Vault, name: str, code: str = "") -> subprocess.Popen[str]:
    """Another process that holds the lock until its input closes."""
    program = (
        "import sys; from pathlib import Path; from vault.root import Vault\n"
        f"with Vault(Path({str(vault.root)!r}), Path({str(vault.data)!r})).lock({name!r}):\n"
        "    print('held', flush=True)\n"
        f"    {code or 'sys.stdin.read()'}\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=10)


@pytest.mark.parametrize("name", ["scan", PAGE])
def test_another_process_is_kept_out_and_told(vault: Vault, name: str) -> None:
    process = holds(vault, name)
    try:
        for arguments in ({"blocking": False}, {"timeout": 0.05}):
            with pytest.raises(SynapseError) as caught, vault.lock(name, **arguments):  # type: ignore[arg-type]
                pass
            assert caught.value.code is ErrorCode.CONFLICT
        with vault.try_lock(name) as got:
            assert not got
        with vault.try_lock("other") as got:
            assert got
    finally:
        end(process)
    with vault.lock(name, blocking=False):
        pass


@pytest.mark.parametrize("name", ["scan", PAGE])
def test_a_killed_holder_blocks_nobody(vault: Vault, name: str) -> None:
    process = holds(vault, name)
    process.send_signal(signal.SIGKILL)
    begun = time.monotonic()
    with vault.lock(name, timeout=5):
        assert time.monotonic() - begun < 2
    end(process)


def test_the_holding_thread_may_take_it_again(vault: Vault) -> None:
    with vault.lock("scan"), vault.lock("scan", blocking=False), vault.try_lock("scan") as got:
        assert got
        assert try_in_thread(vault) is False
    assert try_in_thread(vault) is True


def try_in_thread(vault: Vault) -> bool:
    found: list[bool] = []

    def attempt() -> None:
        with vault.try_lock("scan") as got:
            found.append(got)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("name", ["ids", PAGE])
def test_threads_exclude_each_other(vault: Vault, name: str) -> None:
    inside, most, total = 0, 0, 0

    def work(number: int) -> None:
        nonlocal inside, most, total
        for turn in range(30):
            with vault.lock(name, timeout=None if (number + turn) % 2 else 30):
                inside += 1
                most = max(most, inside)
                seen = total
                time.sleep(0)
                total = seen + 1
                inside -= 1

    threads = [threading.Thread(target=work, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, total) == (1, 180)


def test_processes_exclude_each_other(vault: Vault) -> None:
    """A counter in a file, read and written without any other protection, by three processes."""
    counter = vault.data
    counter.write_text("0")
    program = (
        "import sys, time; from pathlib import Path; from vault.root import Vault\n"
        f"vault, counter = Vault(Path({str(vault.root)!r}), Path('/nowhere')), Path({str(counter)!r})\n"
        "for _ in range(60):\n"
        f"    with vault.lock({PAGE!r}, timeout=60):\n"
        "        seen = int(counter.read_text()); time.sleep(0.0005); counter.write_text(str(seen + 1))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2]) for _ in range(3)]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    assert counter.read_text() == "180"


def test_locks_of_pages_leave_nothing_behind(vault: Vault) -> None:
    with vault.lock(PAGE), vault.lock("scan"), vault.lock("a" * 64):
        assert len(os.listdir(vault.state / "locks")) == 3
    assert os.listdir(vault.state / "locks") == ["scan"]


def test_an_error_inside_frees_the_lock(vault: Vault) -> None:
    with pytest.raises(KeyError), vault.lock("scan"):
        raise KeyError
    assert try_in_thread(vault)


def test_a_forked_child_does_not_hold_what_its_parent_holds(vault: Vault) -> None:
    with vault.lock("scan"):
        child = os.fork()
        if not child:
            try:
                with vault.try_lock("scan") as got:
                    os._exit(3 if got else 0)
            finally:
                os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not try_in_thread(vault)
    assert try_in_thread(vault)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 101, "a b"])
def test_a_lock_is_not_a_path(vault: Vault, name: str) -> None:
    with pytest.raises(ValueError, match="name"), vault.lock(name):
        pass


def test_a_linked_locks_folder_is_refused(vault: Vault, tmp_path: Path) -> None:
    vault.state.mkdir()
    (tmp_path / "outside").mkdir()
    (vault.state / "locks").symlink_to(tmp_path / "outside")
    with pytest.raises(SynapseError), vault.lock("scan"):
        pass
    assert os.listdir(tmp_path / "outside") == []
