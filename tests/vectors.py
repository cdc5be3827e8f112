"""Pages with vectors by chance, for tests of stores: no text is embedded."""

from __future__ import annotations

import hashlib
import random

import numpy as np

from tests.indexed import indexed
from wiki.models import Page
from wiki.vectors.rows import ChunkVector, as_bytes, chunks_of, mark_embedded, write_chunks

DIM = 8
MODEL = "by-chance"


def unit(seed: int, dim: int = DIM) -> np.ndarray:
    """A vector of length 1, the same for the same seed, as float16 can say it."""
    chance = random.Random(seed)
    found = np.array([chance.gauss(0, 1) for _ in range(dim)], np.float32)
    return (found / np.linalg.norm(found)).astype(np.float16).astype(np.float32)


def embedded(
    seed: int, count: int, *, page: Page | None = None, model_id: str = MODEL, dim: int = DIM, **fields: object
) -> Page:
    """A page whose rows are ``count`` chunks made from the seed; those of ``page`` are replaced."""
    page = page or indexed(f"Page {seed}", "text", type="concept", lang="en", **fields)  # type: ignore[arg-type]
    seq = write_chunks(page.pk, rows(page, seed, count, dim), content_hash="0" * 64, model_id=model_id, dim=dim)
    assert seq is not None
    assert mark_embedded(page.pk, content_hash="0" * 64, seq=seq, whole=True)
    return page


def rows(page: Page, seed: int, count: int, dim: int = DIM) -> list[ChunkVector]:
    return [
        ChunkVector(
            page=page.pk,
            uid=page.uid,
            ordinal=ordinal,
            start=0,
            end=4,
            heading="",
            hash=hashlib.sha256(f"{seed} {ordinal}".encode()).hexdigest(),
            vector=as_bytes(unit(seed * 1000 + ordinal, dim)),
            sparse={"7": 0.5, str(100 + ordinal): 0.25 + seed % 3 / 10},
        )
        for ordinal in range(count)
    ]


def chunks(page: Page) -> list[ChunkVector]:
    """The rows of a page, as a store is told them."""
    return list(chunks_of([page.pk]))
