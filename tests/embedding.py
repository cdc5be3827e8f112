"""An embedder for tests: words hashed into 64 places, so that texts with like words are alike, always in the same way.

``settings.EMBEDDER = "tests.embedding.load"`` with ``EMBEDDINGS_ENABLED = True`` uses it, or the fixture
:func:`hashed` of a test module that imports it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from wiki.search import meaning
from wiki.vectors.embedders import current_embedder, forget_embedder
from wiki.vectors.patience import Patience


class Hashed:
    """Counts what it is asked, and fails while ``fails`` is set to an exception."""

    model_id = "hashed-words"
    dim = 64
    batch_size = 4

    def __init__(self) -> None:
        self.passages: list[str] = []
        self.fails: Exception | None = None

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        if self.fails:
            raise self.fails
        self.passages.extend(texts)
        return np.stack([self._one(text) for text in texts]) if texts else np.zeros((0, self.dim), np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        if self.fails:
            raise self.fails
        return self._one(text)

    def _one(self, text: str) -> np.ndarray:
        found = np.zeros(self.dim, np.float32)
        for word in re.findall(r"\w+", text.casefold()):
            found[zlib.crc32(word.encode()) % self.dim] += 1.0
        if not found.any():
            found[0] = 1.0
        return found / np.linalg.norm(found)


def load() -> Hashed:
    """What EMBEDDER names."""
    return Hashed()


@pytest.fixture
def hashed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hashed]:
    """The embedder of this process for the length of a test."""
    monkeypatch.setattr(meaning, "patience", Patience())
    settings.EMBEDDINGS_ENABLED = True
    settings.EMBEDDER = "tests.embedding.load"
    forget_embedder()
    embedder = current_embedder()
    assert isinstance(embedder, Hashed)
    yield embedder
    forget_embedder()
