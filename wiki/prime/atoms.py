"""Reading: the atoms of the vault, found by any of their names, with the texts of their levels and their relations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wiki.prime.levels import Level


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
    contract: Mapping[str, Any] = field(default_factory=dict)

    def cost(self, level: Level) -> int:
        """The tokens of a level."""
        return self.tokens[(Level.SUMMARY, Level.CORE, Level.FULL).index(level)]


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation to another page: ``target`` is its row, None where ``text`` leads to no page, or to several."""

    verb: str
    target: int | None
    text: str


class AtomIndex:
    """All atoms of the vault at one version of the index. Never changed: it may be kept and shared by threads.

    ``atoms`` are sorted by id; the arrays have their values in the same order.
    """

    version: int
    atoms: tuple[Atom, ...]
    by_pk: Mapping[int, Atom]
    by_id: Mapping[str, Atom]
    pks: npt.NDArray[np.int64]
    degree: npt.NDArray[np.int32]
    quality: npt.NDArray[np.float32]
    tokens: npt.NDArray[np.int32]
    """One row an atom: summary, core, full."""
    tags: Mapping[str, npt.NDArray[np.int32]]
    """Places of the atoms that have a tag, by its casefolded form."""

    def __len__(self) -> int:
        return len(self.atoms)

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.atoms)

    def place(self, pk: int) -> int:
        """Where a page's atom stands in ``atoms`` and the arrays. Raises KeyError."""
        raise NotImplementedError

    def find(self, name: str) -> Atom:
        """The atom of an id, an exact title, a path or an alias.

        Raises ``unknown_atom`` (with ``close``: at most five ids like it) and ``ambiguous_title`` (with ``ids``).
        """
        raise NotImplementedError

    def named(self, name: str) -> list[Atom]:
        """All atoms that a name may mean: as :func:`find`, without errors."""
        raise NotImplementedError


def atoms() -> AtomIndex:
    """The atoms as they are now; kept in this process until the index changes."""
    raise NotImplementedError


def level_texts(pks: Iterable[int], level: Level) -> dict[int, str]:
    """The exact words of a level, by the page's row; pages without an atom are left out."""
    raise NotImplementedError


def relations(pks: Collection[int]) -> dict[int, list[Relation]]:
    """What pages have to do with others, each once: verbs in their order, then plain links as ``related``.

    A page's source that is a page is ``derived-from``. A page's links to itself are left out.
    """
    raise NotImplementedError
