"""A person with an editor that knows no lock: saves as Obsidian does and as vim does, makes, renames and deletes.

It remembers what each of its saves went over, because that is gone by its own hand, as it would be without Synapse.
"""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Callable
from pathlib import Path

from tests.soak.ledger import Ledger
from vault.writing.exchange import swap

#: Made by Synapse itself, and not a person's to change.
_LEFT_ALONE = {"index.md", "log.md"}
_NOTES = 40
_LINES = 30
_RENAMED = re.compile(r"-r\d+(?=\.md$)")


class Editor(threading.Thread):
    """Saves until it is told to stop; ``seed`` says what and where."""

    def __init__(self, vault: Path, ledger: Ledger, stop: threading.Event, seed: int) -> None:
        super().__init__(name="editor", daemon=True)
        self._vault, self._ledger, self._halt = vault, ledger, stop
        self._random = random.Random(seed)
        self._count = 0
        self._ways: dict[str, Callable[[], None]] = {
            "saved in place": self._in_place,
            "saved by rename": self._by_rename,
            "saved as vim does": self._as_vim,
            "created": self._create,
            "renamed": self._rename,
            "deleted": self._delete,
            "source changed": self._source,
        }
        (vault / "notes").mkdir(exist_ok=True)
        (vault / ".trash").mkdir(exist_ok=True)

    def run(self) -> None:
        ways, weights = list(self._ways), [34, 26, 12, 10, 8, 5, 5]
        while not self._halt.wait(self._random.uniform(0.2, 0.8)):
            self._count += 1
            try:
                self._ways[self._random.choices(ways, weights)[0]]()
            except FileNotFoundError:
                continue  # an agent moved or deleted it in this moment: then there is nothing to save
            except Exception as error:
                self._ledger.failed(f"the editor failed: {error!r}")
                raise

    def _pages(self) -> list[Path]:
        found = [*(self._vault / "wiki").rglob("*.md"), *(self._vault / "notes").rglob("*.md")]
        return sorted(file for file in found if file.name not in _LEFT_ALONE and not file.name.startswith("."))

    def _page(self) -> Path:
        return self._random.choice(self._pages())

    def _text(self, before: bytes) -> bytes:
        """The page with a line of the editor's own. Now and then the properties are spoilt, and later mended."""
        lines = before.decode("utf-8", "replace").split("\n")
        lines = [line for line in lines if line.strip() != "broken: [1, 2"]
        if lines[0] == "---" and self._random.random() < 0.03:
            lines.insert(1, "broken: [1, 2")
        own = [at for at, line in enumerate(lines) if line.startswith("Edited by hand")]
        for at in reversed(own[:-3]):
            del lines[at]
        lines.append(f"Edited by hand {self._count}, see [[Soak {self._random.randrange(60)}]].")
        return "\n".join(lines).encode()

    def _in_place(self) -> None:
        file = self._page()
        text = self._text(file.read_bytes())
        with open(file, "r+b") as opened:
            before = opened.read()
            opened.seek(0)
            opened.truncate()
            opened.write(text)
        self._ledger.went_over(before)
        self._done("saved in place", file, text)

    def _by_rename(self) -> None:
        file = self._page()
        text = self._text(file.read_bytes())
        beside = file.with_name(f".{file.name}.saving")
        beside.write_bytes(text)
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            # An exchange where an editor renames over, only to learn for sure what this save went over.
            if not swap(folder, beside.name, file.name):
                raise RuntimeError("this file system exchanges no files")
            self._ledger.went_over(beside.read_bytes())
        finally:
            os.close(folder)
            beside.unlink()
        self._done("saved by rename", file, text)

    def _as_vim(self) -> None:
        file = self._page()
        text = self._text(file.read_bytes())
        backup = file.with_name(f"{file.name}~")
        file.rename(backup)
        with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o644), "r+b") as opened:
            before = opened.read()
            opened.seek(0)
            opened.truncate()
            opened.write(text)
        self._ledger.went_over(before)
        self._ledger.went_over(backup.read_bytes())
        backup.unlink()
        self._done("saved as vim does", file, text)

    def _create(self) -> None:
        number = self._random.randrange(_NOTES)
        file = self._vault / "notes" / f"note {number}.md"
        links = f"About [[Soak {number}]] and [[note {number // 2}]]."
        text = f"# Note {number}\n\nMade by hand {self._count}. {links}\n".encode()
        try:
            with open(file, "xb") as made:
                made.write(text)
        except FileExistsError:
            return
        self._done("created", file, text)

    def _rename(self) -> None:
        file = self._page()
        target = file.with_name(_RENAMED.sub("", file.name).removesuffix(".md") + f"-r{self._count}.md")
        file.rename(target)
        self._ledger.edits["renamed"] += 1

    def _delete(self) -> None:
        pages = [file for file in self._pages() if file.parent.name == "notes" or self._random.random() < 0.3]
        file = self._random.choice(pages)
        file.rename(self._vault / ".trash" / f"{self._count}-{file.name}")
        self._ledger.edits["deleted"] += 1

    def _source(self) -> None:
        file = self._vault / "raw" / "sources" / f"source {self._random.randrange(12)}.txt"
        if file.exists() and self._random.random() < 0.2:
            file.rename(self._vault / ".trash" / f"{self._count}-{file.name}")
            return
        if file.exists():
            self._ledger.went_over(file.read_bytes())
        text = f"A source, as it was read at {self._count}.\n".encode()
        file.write_bytes(text)
        self._done("source changed", file, text)

    def _done(self, how: str, file: Path, text: bytes) -> None:
        self._ledger.saved(how, str(file.relative_to(self._vault)), text)
