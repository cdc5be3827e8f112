"""Watching, failing and killing the writer at each of its steps, and the three ways it puts a file in place."""

from __future__ import annotations

import errno
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vault import history, writer
from vault.history import Author
from vault.root import Vault
from vault.writing import exchange

ALICE = Author("Alice", "rest")
PAGE = uuid.UUID("7b1c4f0e-0000-4000-8000-000000000001")
PATH = "wiki/entities/alan-turing.md"
OLD = b"---\ntitle: Alan Turing\n---\nold\n" * 200
NEW = b"---\ntitle: Alan Turing\n---\nnew, and longer\n" * 300

MECHANISMS = ["exchange", "elsewhere", "link", "copy"]
STEPS = [
    "create_file",
    "write_all",
    "sync_file",
    "sync_folder",
    "swap",
    "rename_new",
    "rename_over",
    "link",
    "unlink",
    "hash_file",
]


def use_mechanism(monkeypatch: pytest.MonkeyPatch, name: str, vault: Vault) -> None:
    """Let the system be another one.

    "elsewhere" has the history on another file system; "link" knows no exchange;
    "copy" knows no hard links either.
    """
    if name == "elsewhere":
        rename_new = exchange.rename_new

        def within_one_system(source_dir: int, source: str, target_dir: int, target: str) -> None:
            if _is_history(vault, target_dir) and not _is_history(vault, source_dir):
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            rename_new(source_dir, source, target_dir, target)

        monkeypatch.setattr(exchange, "rename_new", within_one_system)
    if name in ("link", "copy"):
        monkeypatch.setattr(exchange, "rename_call", None)
    if name == "copy":

        def no_links(*args: Any, **kwargs: Any) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", no_links)


def _is_history(vault: Vault, folder: int) -> bool:
    return any(os.path.samestat(os.fstat(folder), found.stat()) for found in (vault.state / "history").iterdir())


def make_vault(folder: Path) -> Vault:
    """A vault of its own, with the folders of its state made, so that a run's steps are those of one change."""
    root = folder / "vault"
    root.mkdir()
    vault = Vault(root, folder / "data")
    vault.ensure_id()
    return vault


def put(vault: Vault, data: bytes = OLD, path: str = PATH) -> str:
    """A page as an editor makes it; its hash."""
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return vault.read(path).content_hash


def operations(vault: Vault) -> dict[str, Callable[[], writer.Written]]:
    """The four changes, each of a page that ``put`` made (create: of one that is not there)."""
    expected = writer.sha256(OLD)
    return {
        "create": lambda: writer.create(vault, PATH, NEW, page_id=PAGE, author=ALICE),
        "replace": lambda: writer.replace(vault, PATH, NEW, expected_hash=expected, page_id=PAGE, author=ALICE),
        "remove": lambda: writer.remove(vault, PATH, expected_hash=expected, page_id=PAGE, author=ALICE),
        "move": lambda: writer.move(vault, PATH, "wiki/moved/to.md", page_id=PAGE, author=ALICE),
    }


OPERATIONS = ["create", "replace", "remove", "move"]


class Steps:
    """Every step the writer takes, in order, with a hook before and after each."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.before: Callable[[int, str, tuple[Any, ...]], None] = lambda *_: None
        self.after: Callable[[int, str], None] = lambda *_: None
        self.depth = 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> Steps:
        for name in STEPS:
            monkeypatch.setattr(exchange, name, self._wrap(name, getattr(exchange, name)))
        return self

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            number = len(self.taken)
            self.taken.append(name)
            self.before(number, name, args)
            result = function(*args, **kwargs)
            self.after(number, name)
            return result

        return step


@contextmanager
def patched() -> Iterator[pytest.MonkeyPatch]:
    """Patches for the length of the block."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield monkeypatch


def killed_child(work: Callable[[], None]) -> bool:
    """Run ``work`` in a forked child; whether it died by SIGKILL (else it came to its end)."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001  whatever it is, the child must not go on as a second test run
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGKILL
    assert os.WEXITSTATUS(status) == 0, "the child failed by itself"
    return False


def die() -> None:
    """End this process as the kernel does when memory runs out: no handler, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)


def kept_bytes(vault: Vault) -> set[bytes]:
    """The bytes of every file below the root, those in .synapse included."""
    return {file.read_bytes() for file in vault.root.rglob("*") if file.is_file()}


def temp_files(vault: Vault) -> list[Path]:
    """Temporary files in page folders."""
    return [file for file in vault.root.rglob(".synapse-*") if file.is_file()]


def pending_records(vault: Vault) -> list[str]:
    folder = vault.state / "history" / "pending"
    return sorted(os.listdir(folder)) if folder.exists() else []


def pages(vault: Vault) -> dict[str, bytes]:
    """Path and bytes of every file that is not in .synapse."""
    files = (file for file in vault.root.rglob("*") if file.is_file())
    found = {str(file.relative_to(vault.root)): file.read_bytes() for file in files}
    return {path: data for path, data in found.items() if not path.startswith(".synapse/")}


def displaced(vault: Vault) -> list[bytes]:
    """What the page's versions displaced, newest first."""
    return [
        history.read_version(vault, PAGE, version.number, displaced=True)
        for version in history.versions(vault, PAGE)
        if version.displaced_hash
    ]
