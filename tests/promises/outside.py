"""A folder beside the vault that nothing may touch, a witness of what does, and paths that lead there."""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

SECRET = "canary: nobody inside may see this"
_ALL_EVENTS = 0xFFF  # of inotify: opened, read, written, attributes, moved, made, deleted; for folders also listed
_NONBLOCK = 0o4000


def make_outside(folder: Path) -> Path:
    """The tree: plain pages, a look-alike of the vault, and what people keep secret."""
    outside = folder / "outside"
    for name in (
        "secret.md",
        "new.md.orig",
        "vault/secret.md",
        "vault/raw/sources/secret.md",
        "vault-old/wiki/concepts/secret.md",
        ".ssh/id_ed25519",
        ".env",
        "deep/er/secret.txt",
    ):
        file = outside / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\ntitle: {SECRET}\n---\n{SECRET}\n", encoding="utf-8")
    (outside / "empty").mkdir()
    for path in [outside, *outside.rglob("*")]:
        os.utime(path, (1_500_000_000, 1_600_000_000))  # a read would make the first of them younger
    return outside


def canary_state(outside: Path) -> dict[str, tuple[object, ...]]:
    """All there is to know of the tree without opening anything of it: names, kinds, sizes, inodes and times."""
    found = {}
    for path in [outside, *outside.rglob("*")]:
        stat = path.lstat()
        found[str(path.relative_to(outside))] = (
            stat.st_mode,
            stat.st_size,
            stat.st_ino,
            stat.st_nlink,
            stat.st_mtime_ns,
            stat.st_ctime_ns,
        )
    return found


def digests(outside: Path) -> dict[str, str]:
    """The sha256 of each file. Reads them: only before the watch begins and after it has ended."""
    files = (path for path in sorted(outside.rglob("*")) if path.is_file())
    return {str(path.relative_to(outside)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


class Witness:
    """The kernel's own account of what was opened, listed, read or changed below a folder, by whatever process."""

    def __init__(self, outside: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(_NONBLOCK) if hasattr(self._libc, "inotify_init1") else -1
        for path in [outside, *outside.rglob("*")]:
            if self.watching:
                self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), _ALL_EVENTS)

    @property
    def watching(self) -> bool:
        """False where the system has no inotify: then sizes, times and digests have to do."""
        return bool(self._descriptor >= 0)

    def seen(self) -> list[str]:
        """What has happened since the last question, one text for each event."""
        found: list[str] = []
        while self.watching:
            try:
                data = os.read(self._descriptor, 65_536)
            except BlockingIOError:
                break
            while data:
                number, mask, _, length = struct.unpack_from("iIII", data)
                found.append(f"{number}:{mask:x}:{data[16 : 16 + length].rstrip(bytes(1)).decode()}")
                data = data[16 + length :]
        return found

    def close(self) -> None:
        if self.watching:
            os.close(self._descriptor)


@contextmanager
def untouched(outside: Path) -> Iterator[Witness]:
    """What is done inside neither opens, lists, reads nor changes anything of the tree; AssertionError if it does."""
    contents = digests(outside)
    before = canary_state(outside)
    witness = Witness(outside)
    witness.seen()
    try:
        yield witness
        events = witness.seen()
        assert not events, events[:5]
    finally:
        witness.close()
    assert canary_state(outside) == before
    assert digests(outside) == contents


def set_traps(root: Path, outside: Path) -> None:
    """Put into a vault what leads out of it: linked files and folders, in a circle, into /proc, to nothing."""
    for folder in ("raw/sources", "wiki/concepts", "."):
        base = root / folder
        base.mkdir(parents=True, exist_ok=True)
        for name, target in {
            "lead1.md": outside / "secret.md",
            "lead2.md": outside / "secrat.md",
            "outdir": outside,
            "updir": Path("../../.."),
            "env.md": Path("/proc/self/environ"),
            "fd0.md": Path("/proc/self/fd/0"),
            "rootdir": Path("/proc/self/root"),
            "one.md": Path("two.md"),
            "two.md": Path("one.md"),
            "self": Path("self"),
        }.items():
            (base / name).symlink_to(target)
    (root / "raw/sources/sub").mkdir(exist_ok=True)
    (root / "raw/sources/sub/.git").write_text(f"gitdir: {outside}\n")


def ways_out(root: Path, outside: Path) -> dict[str, tuple[str, str]]:
    """By name, paths that lead outside, or would for a careless reader: to a file that is there, and to none.

    The two are of one length, so that an answer which counts what it was given says the same.
    """
    up = "../" * 3

    def pair(beginning: str, *, end: str = "") -> tuple[str, str]:
        return f"{beginning}secret.md{end}", f"{beginning}secrat.md{end}"

    relative = f"{up}{outside.name}/"
    found = {
        "climb": pair(relative),
        "climb far": pair("../" * 40 + str(outside).lstrip("/") + "/"),
        "climb from sources": pair(f"raw/sources/{up}{outside.name}/"),
        "climb from a page": pair(f"wiki/concepts/{up}{outside.name}/"),
        "climb through a missing folder": pair(f"nowhere/{up}../{outside.name}/"),
        "climb and come back": pair(f"{relative}vault/"),
        "a folder whose name begins alike": pair(f"../{root.name}-old/"),
        "absolute": pair(f"{outside}/"),
        "absolute twice": pair(f"/{outside}/"),
        "absolute through the vault": pair(f"{root}/../{outside.name}/"),
        "dots alone": (f"../{outside.name}", f"../{outside.name[:-1]}x"),
        "home": ("~/.ssh/id_ed25519", "~/.ssh/id_ed25518"),
        "variable": ("$HOME/.ssh/id_ed25519", "$HOME/.ssh/id_ed25518"),
        "system": ("/etc/passwd", "/etc/passwx"),
        "climb to the system": ("../" * 30 + "etc/passwd", "../" * 30 + "etc/passwx"),
        "proc root": (f"/proc/self/root{outside}/secret.md", f"/proc/self/root{outside}/secrat.md"),
        "proc cwd": ("/proc/self/cwd/manage.py", "/proc/self/cwd/manage.px"),
        "proc environ": ("../../proc/self/environ", "../../proc/self/enviroz"),
        "dev fd": ("/dev/fd/0", "/dev/fd/9"),
        "file address": (f"file://{outside}/secret.md", f"file://{outside}/secrat.md"),
        "backslashes": (f"..\\..\\{outside.name}\\secret.md", f"..\\..\\{outside.name}\\secrat.md"),
        "mixed slashes": (f"..\\../{outside.name}/secret.md", f"..\\../{outside.name}/secrat.md"),
        "drive": ("C:\\secret.md", "C:\\secrat.md"),
        "share": (f"\\\\localhost{outside}\\secret.md", f"\\\\localhost{outside}\\secrat.md"),
        "encoded": tuple(quote(path, safe="").replace(".", "%2e") for path in pair(relative)),
        "encoded twice": tuple(quote(quote(path, safe=""), safe="").replace(".", "%252e") for path in pair(relative)),
        "overlong": tuple(path.replace("/", "%c0%af") for path in pair(relative)),
        "fullwidth": tuple(path.replace("..", "\uff0e\uff0e").replace("/", "\uff0f") for path in pair(relative)),
        "one dot leaders": tuple(path.replace("..", "\u2024\u2024") for path in pair(relative)),
        "four dots": tuple(path.replace("../", "..../") for path in pair(relative)),
        "stripped once": tuple(path.replace("../", "....//") for path in pair(relative)),
        "semicolons": tuple(path.replace("../", "..;/") for path in pair(relative)),
        "blanks": tuple(path.replace("../", ".. /") for path in pair(relative)),
        "line ends": tuple(path.replace("../", "..\n/") for path in pair(relative)),
        "NUL": (f"a.md\0{relative}secret.md", f"a.md\0{relative}secrat.md"),
        "NUL at the end": pair(relative, end="\0.md"),
        "surrogate": pair(f"{relative}\ud800"),
        "slash at the end": pair(relative, end="/"),
    }
    for base in ("", "raw/sources/", "wiki/concepts/"):
        found[f"linked file {base}"] = (f"{base}lead1.md", f"{base}lead2.md")
        found[f"linked folder {base}"] = pair(f"{base}outdir/")
        found[f"linked parent {base}"] = pair(f"{base}updir/{outside.name}/")
        found[f"linked proc {base}"] = (f"{base}env.md", f"{base}fd0.md")
        found[f"linked root {base}"] = pair(f"{base}rootdir{outside}/")
        found[f"linked circle {base}"] = (f"{base}one.md", f"{base}two.md")
    return found  # type: ignore[return-value]


def writes_out(path: str) -> Iterator[str]:
    """Where somebody would write who takes such a path: over the file, beside it, below a folder that is not there."""
    folder, slash, _ = path.rpartition("/")
    yield path
    yield f"{folder}{slash}made.md"
    yield f"{folder}{slash}made/deep/new.md"
