"""Somebody who changes the files of a vault by chance, as people, editors and sync tools do."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.conftest import VaultFolder
from wiki import jobs
from wiki.sync import scan, sync_paths

NAMES = ["Ada", "babbage", "Engine", "Notes", "ada", "Überblick", "机器", "Engine no. 2"]
FOLDERS = ["wiki/entities", "wiki/concepts", "wiki", "raw/sources", "deep/er", ""]
TYPES = ["entity", "concept", "synthesis", "comparison", "nonsense"]
FORMS = ["[[{0}]]", "![[{0}]]", "[[{0}|shown]]", "[[{0}#Part]]", "[x](<{0}.md>)", "[[{1}/{0}]]", "![[{0}.png]]"]
TIMES = [(10**18, 2 * 10**18), (-(10**18), 0), (4 * 10**18, 10**19)]  # ns; before 1970, and later than databases count
ENDINGS = ["", "", " 2", " titled", "/or", " alias"]


class Person:
    """Changes files as people, editors and sync tools do; each operation returns the paths that it touched."""

    def __init__(self, folder: VaultFolder, seed: int) -> None:
        self.folder = folder
        self.chance = random.Random(seed)

    def act(self) -> set[str]:
        """One operation."""
        operations = {
            self.create: 12,
            self.edit: 10,
            self.rename: 4,
            self.move: 4,
            self.delete: 6,
            self.touch: 2,
            self.swap: 2,
            self.recase: 2,
            self.copy: 1,
            self.rename_folder: 1,
        }
        return self.chance.choices(list(operations), list(operations.values()))[0]()

    def _existing(self) -> str | None:
        files = self.folder.files()
        return self.chance.choice(files) if files else None

    def _path(self) -> str:
        ending = ".md" if self.chance.random() < 0.9 else self.chance.choice([".png", ".MD", ".txt"])
        name = self.chance.choice(NAMES) + self.chance.choice(["", "", " 2", " 3"]) + ending
        folder = self.chance.choice(FOLDERS)
        return f"{folder}/{name}" if folder else name

    def _text(self) -> str:
        chance, lines = self.chance, []
        if chance.random() < 0.7:
            lines += ["---", f"type: {chance.choice(TYPES)}"]
            lines += (
                [f"title: {chance.choice(NAMES)}{chance.choice([' titled', '/or'])}"] if chance.random() < 0.4 else []
            )
            lines += [f"aliases: [{chance.choice(NAMES)} alias]"] if chance.random() < 0.3 else []
            lines += [f"sources: [s{chance.randrange(3)}, s{chance.randrange(3)}]"]
            lines += [f'related: "[[{chance.choice(NAMES)}]]"'] if chance.random() < 0.3 else []
            lines += ["---"]
        for _ in range(chance.randrange(5)):
            lines.append(f"word{chance.randrange(50)} {self._link()} #t{chance.randrange(4)}")
        return "\n".join(lines)

    def _link(self) -> str:
        name = self.chance.choice(NAMES) + self.chance.choice(ENDINGS)
        form = self.chance.choice(FORMS)
        return form.format(self.chance.choice([name, name.lower()]), self.chance.choice(FOLDERS).split("/")[-1] or ".")

    def create(self) -> set[str]:
        path = self._path()
        if self._taken(path):
            return set()
        self.folder.write(path, self._text())
        return {path}

    def edit(self) -> set[str]:
        path = self._existing()
        if path is None:
            return set()
        if self.chance.random() < 0.5:
            self.folder.write(path, self._text())
        else:  # as editors that save by rename: another inode
            beside = self.folder.write(path + ".saving", self._text())
            os.replace(beside, self.folder.root / path)
        return {path}

    def rename(self) -> set[str]:
        return self._rename(self._existing(), self._path())

    def move(self) -> set[str]:
        path = self._existing()
        return self._rename(path, f"{self.chance.choice(FOLDERS[:3])}/{Path(path).name}") if path else set()

    def recase(self) -> set[str]:
        path = self._existing()
        return self._rename(path, str(Path(path).with_name(Path(path).name.swapcase()))) if path else set()

    def _taken(self, path: str) -> bool:
        return os.path.lexists(self.folder.root / path)

    def _rename(self, path: str | None, target: str) -> set[str]:
        if path is None or self._taken(target):
            return set()
        (self.folder.root / target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.folder.root / path, self.folder.root / target)
        if self.chance.random() < 0.3:
            with open(self.folder.root / target, "a", encoding="utf-8") as file:
                file.write(f"\nmore {self._link()}")
        return {path, target}

    def delete(self) -> set[str]:
        path = self._existing()
        if path is None:
            return set()
        (self.folder.root / path).unlink()
        return {path}

    def touch(self) -> set[str]:
        path = self._existing()
        if path is None:
            return set()
        os.utime(self.folder.root / path, ns=(0, self.chance.randrange(*self.chance.choice(TIMES))))
        return {path}

    def swap(self) -> set[str]:
        one, other = self._existing(), self._existing()
        if one is None or other is None or one == other:
            return set()
        root = self.folder.root
        os.rename(root / one, root / "swapping")
        os.rename(root / other, root / one)
        os.rename(root / "swapping", root / other)
        return {one, other}

    def copy(self) -> set[str]:
        path, target = self._existing(), self._path()
        if path is None or self._taken(target):
            return set()
        self.folder.write(target, self.folder.read(path))
        return {target}

    def rename_folder(self) -> set[str]:
        """Another name for a folder, or the same in another case, and sometimes into another one."""
        path = self._existing()
        folder = str(Path(path).parent) if path else "."
        name = self.chance.choice([Path(folder).name.swapcase(), "deep", "other folder"])
        target = str(Path(self.chance.choice([str(Path(folder).parent), "wiki"])) / name)
        if folder == "." or self._taken(target) or target.startswith(folder + "/"):
            return set()
        before = {file for file in self.folder.files() if file.startswith(folder + "/")}
        (self.folder.root / target).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.folder.root / folder, self.folder.root / target)
        return before | {target + file.removeprefix(folder) for file in before}


def keep_up_with(person: Person, operations: int, *, longest_pause: int = 40) -> None:
    """Operations by chance, with an index kept up to date: half is told by path, as the watcher does, half is found by
    scans; the last scan finds what is left."""
    told: set[str] = set()
    pause = 1
    for _ in range(operations):
        told |= person.act()
        pause -= 1
        if not pause:
            by_path = person.chance.random() < 0.5
            report = sync_paths(told, allow_deletions=True) if by_path else scan(allow_deletions=True)
            assert report.stopped is None
            told, pause = set(), person.chance.randint(1, longest_pause)
    jobs.drain()
    scan(allow_deletions=True)
