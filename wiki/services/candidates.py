"""What links can lead to, fetched for a few targets only: no write reads a whole table."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from vault.links import Targets, link_keys, name_key
from wiki.models import Alias, File, Page
from wiki.rows import chunks
from wiki.sync.values import key


class Candidates:
    """The rows of the index that the given link targets can lead to, as :class:`vault.links.Targets`.

    ``titles`` are the paths of the pages with exactly a title (NFC).
    """

    def __init__(self) -> None:
        self.targets = Targets()
        self.titles: dict[str, set[str]] = {}
        self._names: set[str] = set()
        self._texts: set[str] = set()

    def load(self, targets: Iterable[str], *, source: str = "") -> None:
        """Have what these targets, as written, can lead to."""
        keys = [link_keys(target, source) for target in targets]
        self.load_names(name for name, _ in keys)
        self._load_texts(text for _, text in keys)

    def load_names(self, names: Iterable[str]) -> None:
        """Have the files with these name keys."""
        missing = {key(name) for name in names if name} - self._names
        self._names |= missing
        for chunk in chunks(missing):
            for path in Page.objects.live().filter(name_key__in=chunk).values_list("path", flat=True):
                self.targets.add_file(path, page=True)
            files = File.objects.filter(deleted_at__isnull=True, name_key__in=chunk)
            for path in files.values_list("path", flat=True):
                self.targets.add_file(path, page=False)

    def load_paths(self, paths: Iterable[str]) -> None:
        """Have all files named like these, so that it shows whether a name alone leads to one of them."""
        self.load_names(name_key(path) for path in paths)

    def _load_texts(self, texts: Iterable[str]) -> None:
        missing = {key(text) for text in texts if text} - self._texts
        self._texts |= missing
        for chunk in chunks(missing):
            for title, path in Page.objects.live().filter(title_key__in=chunk).values_list("title", "path"):
                self.add_title(title, path)
            aliases = Alias.objects.filter(key__in=chunk, page__deleted_at__isnull=True)
            for name, path in aliases.values_list("name", "page__path"):
                self.targets.add_alias(name, path)

    def add_title(self, title: str, path: str) -> None:
        """Let the page at ``path`` be found by its title, in general and exactly."""
        self.targets.add_title(title, path)
        self.titles.setdefault(unicodedata.normalize("NFC", title), set()).add(path)

    def add_page(self, path: str, title: str, aliases: Iterable[str] = ()) -> None:
        """Have a page that the index does not have yet, or not with this title."""
        if not any(known == path for _, known in self.targets.files(name_key(path))):
            self.targets.add_file(path, page=True)
        if path not in self.titles.get(unicodedata.normalize("NFC", title), ()):
            self.add_title(title, path)
        for alias in aliases:
            self.targets.add_alias(alias, path)

    def only_titled(self, title: str) -> str | None:
        """The path of the only live page with exactly this title, if there is one."""
        paths = self.titles.get(unicodedata.normalize("NFC", title).strip(), set())
        return next(iter(paths)) if len(paths) == 1 else None

    def has_name(self, name: str) -> bool:
        """Whether some file has this name (or this stem); load it first."""
        return bool(self.targets.files(name_key(name)))
