"""All atoms of a vault in memory: what each is, and which one a name means. Made by :mod:`wiki.prime.atoms.loading`."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from vault.errors import ErrorCode, SynapseError
from vault.links import text_key
from wiki.prime.atoms.levels import Level

_LEVELS: Final = (Level.SUMMARY, Level.CORE, Level.FULL)
_CLOSE: Final = 5
#: Ids that are compared letter by letter with one that is not there, and how much alike they must be.
_COMPARED: Final = 400
_ALIKE: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """A live page that is not reserved, as prime names it. Everything but its texts.

    ``id`` is ``@scope/kind-slug``; ``pk`` the page's row, ``uid`` its id elsewhere. ``tags`` are as written,
    ``tag_keys`` casefolded. ``tokens`` are those of summary, core and full. ``degree`` counts the pages it shares an
    edge with. ``quality`` is 0 to 1, ``failed`` the checks it fails. ``contract`` has ``must_include``,
    ``must_avoid``, ``conditionals`` as its frontmatter gives them, or is empty.
    """

    id: str
    pk: int
    uid: str
    kind: str
    title: str
    path: str
    lang: str
    description: str
    tags: tuple[str, ...]
    tag_keys: frozenset[str]
    aliases: tuple[str, ...]
    sources: tuple[str, ...]
    tokens: tuple[int, int, int]
    quality: float
    failed: tuple[str, ...]
    degree: int
    lifecycle: str
    version: str
    created: str
    updated: str
    content_hash: str
    contract: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def cost(self, level: Level) -> int:
        """The tokens of a level."""
        return self.tokens[_LEVELS.index(level)]


class AtomIndex:
    """All atoms of the vault at one version of the index. Never changed: it may be kept and shared by threads.

    ``atoms`` are sorted by id; the arrays have their values in the same order.
    """

    def __init__(self, atoms: Iterable[Atom], version: int = 0) -> None:
        self.version = version
        self.atoms: tuple[Atom, ...] = tuple(sorted(atoms, key=lambda atom: atom.id))
        self._places = {atom.pk: place for place, atom in enumerate(self.atoms)}

    def __len__(self) -> int:
        return len(self.atoms)

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.atoms)

    def place(self, pk: int) -> int:
        """Where a page's atom stands in ``atoms`` and the arrays. Raises KeyError."""
        return self._places[pk]

    @cached_property
    def by_pk(self) -> Mapping[int, Atom]:
        """Atoms by their pages' rows."""
        return {atom.pk: atom for atom in self.atoms}

    @cached_property
    def by_id(self) -> Mapping[str, Atom]:
        """Atoms by their ids."""
        return {atom.id: atom for atom in self.atoms}

    @cached_property
    def pks(self) -> npt.NDArray[np.int64]:
        """The pages' rows."""
        return np.fromiter((atom.pk for atom in self.atoms), np.int64, len(self))

    @cached_property
    def degree(self) -> npt.NDArray[np.int32]:
        """How many pages each shares an edge with."""
        return np.fromiter((atom.degree for atom in self.atoms), np.int32, len(self))

    @cached_property
    def quality(self) -> npt.NDArray[np.float32]:
        """0 to 1."""
        return np.fromiter((atom.quality for atom in self.atoms), np.float32, len(self))

    @cached_property
    def tokens(self) -> npt.NDArray[np.int32]:
        """One row an atom: summary, core, full."""
        return np.array([atom.tokens for atom in self.atoms], np.int32).reshape(len(self), 3)

    @cached_property
    def tags(self) -> Mapping[str, npt.NDArray[np.int32]]:
        """Places of the atoms that have a tag, by its casefolded form."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, atom in enumerate(self.atoms):
            for key in atom.tag_keys:
                found[key].append(place)
        return {key: np.array(places, np.int32) for key, places in found.items()}

    # --- names ----------------------------------------------------------------------------------

    def find(self, name: str) -> Atom:
        """The atom of an id, an exact title, a path or an alias.

        Raises ``unknown_atom`` (with ``close``: at most five ids like it) and ``ambiguous_title`` (with ``ids``).
        """
        found = self.named(name)
        if len(found) == 1:
            return found[0]
        if found:
            raise SynapseError(
                ErrorCode.AMBIGUOUS_TITLE,
                "Several pages have this name. Give the id of one of them.",
                ids=[atom.id for atom in found[: 4 * _CLOSE]],
            )
        raise SynapseError(
            ErrorCode.UNKNOWN_ATOM,
            "No page has this id, title, path or alias. Look for it with prime_query, or take one of `close`.",
            close=self.close(name),
        )

    def named(self, name: str) -> list[Atom]:
        """All atoms that a name may mean, by id: none, one, or several. A title goes before a path and an alias."""
        if name in self.by_id:
            return [self.by_id[name]]
        exact = unicodedata.normalize("NFC", name)
        key = text_key(name)
        titled = self._by_title.get(key, [])
        spelled = [place for place in titled if self.atoms[place].title == exact]
        places = (
            spelled
            or self._by_path.get(exact, [])
            or self._by_path.get(f"{exact}.md", [])
            or self._by_alias.get(key, [])
            or titled
        )
        return [self.atoms[place] for place in dict.fromkeys(places)]

    def close(self, name: str) -> list[str]:
        """At most five ids that are like a name, the most alike first."""
        wanted = name.rpartition("/")[2].casefold().removesuffix(".md").replace(" ", "-")
        wanted = (wanted.partition("-")[2] if name.startswith("@") else wanted)[:200]
        counts: dict[int, int] = defaultdict(int)
        for word in set(wanted.split("-")) - {""}:
            for place in self._by_word.get(word, [])[:_COMPARED]:
                counts[place] += 1
        near = sorted(counts, key=lambda place: (-counts[place], place))[:_COMPARED]
        names = {self._names[place]: place for place in reversed(near)}
        matches = get_close_matches(wanted, names, _CLOSE, 0.0)
        if len(matches) < _CLOSE:
            begins = [place for place, slug in enumerate(self._names) if slug.startswith(wanted[:3])][:_COMPARED]
            more = {self._names[place]: place for place in reversed(begins) if self._names[place] not in matches}
            names |= more
            matches += get_close_matches(wanted, more, _CLOSE - len(matches), _ALIKE)
        return [self.atoms[names[match]].id for match in matches]

    @cached_property
    def _names(self) -> list[str]:
        """The slugs: ids without their scope and their kind."""
        return [atom.id.rpartition("/")[2].partition("-")[2] for atom in self.atoms]

    @cached_property
    def _by_title(self) -> Mapping[str, list[int]]:
        return self._keyed((text_key(atom.title),) for atom in self.atoms)

    @cached_property
    def _by_alias(self) -> Mapping[str, list[int]]:
        return self._keyed({text_key(alias) for alias in atom.aliases} for atom in self.atoms)

    @cached_property
    def _by_path(self) -> Mapping[str, list[int]]:
        return self._keyed((unicodedata.normalize("NFC", atom.path),) for atom in self.atoms)

    @cached_property
    def _by_word(self) -> Mapping[str, list[int]]:
        return self._keyed(set(name.split("-")) for name in self._names)

    @staticmethod
    def _keyed(keys: Iterable[Collection[str]]) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, names in enumerate(keys):
            for name in names:
                found[name].append(place)
        return dict(found)
