"""What links can lead to, fetched for a few targets only: no write reads a whole table."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from vault.links import Targets, link_keys, name_key
from wiki.rows import select
from wiki.storable import key

# One statement for what would be several QuerySets: building those costs more than a write's syncs.
_NAMED: Final = (
    "SELECT id, path FROM {page} WHERE deleted_at IS NULL AND name_key IN {items} "
    "UNION ALL SELECT NULL, path FROM {file} WHERE deleted_at IS NULL AND name_key IN {items}"
)
_TITLED: Final = (
    "SELECT id, path, title, NULL FROM {page} WHERE deleted_at IS NULL AND title_key IN {items} "
    "UNION ALL SELECT page.id, page.path, page.title, alias.name FROM {alias} alias "
    "JOIN {page} page ON page.id = alias.page_id WHERE page.deleted_at IS NULL AND alias.key IN {items}"
)


def named(keys: Iterable[str]) -> Iterator[tuple[int | None, str]]:
    """(page's number or None for another file, path) of the live files whose name has one of these keys."""
    return select(_NAMED, keys)


def titled(keys: Iterable[str]) -> Iterator[tuple[int, str, str, str | None]]:
    """(page's number, path, title, alias or None) of the live pages whose title or an alias has one of these keys."""
    return select(_TITLED, keys)


class Candidates:
    """The rows of the index that the given link targets can lead to, as :class:`vault.links.Targets`.

    ``titles`` are the paths of the pages with exactly a title (NFC).
    """

    def __init__(self) -> None:
        self.targets = Targets()
        self.titles: dict[str, set[str]] = {}
        self._names: set[str] = set()
        self._texts: set[str] = set()

    def load(self, targets: Iterable[str], *, paths: Iterable[str] = ()) -> None:
        """Have what these targets, as written, can lead to, and all files named like these paths."""
        keys = [link_keys(target, "") for target in targets]
        names = {key(name) for name, _ in keys} | {key(name_key(path)) for path in paths}
        texts = {key(text) for _, text in keys}
        for pk, path in named(names - self._names - {""}):
            self.targets.add_file(path, page=pk is not None)
        for _, path, title, alias in titled(texts - self._texts - {""}):
            if alias is None:
                self.add_title(title, path)
            else:
                self.targets.add_alias(alias, path)
        self._names |= names
        self._texts |= texts

    def load_paths(self, paths: Iterable[str]) -> None:
        """Have all files named like these, so that it shows whether a name alone leads to one of them."""
        self.load((), paths=paths)

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
