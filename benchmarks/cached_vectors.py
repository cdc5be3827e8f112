"""The embedder of the settings, with a memory on disk: a collection is embedded once, and asked many times.

``SYNAPSE_BENCH_EMBEDDER`` names the embedder, ``SYNAPSE_BENCH_VECTORS`` the folder. In it a SQLite file for each
model holds float32 vectors by the sha256 of "passage" or "query", a NUL and the text; what was embedded before a run
was broken off is kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from django.utils.module_loading import import_string

from wiki.vectors.embedders import EMBEDDERS, Embedder


class Cached:
    """Asks the embedder only for what it has not been asked before."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self._embedder = embedder
        self.model_id, self.dim = embedder.model_id, embedder.dim
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / (re.sub(r"[^A-Za-z0-9._-]+", "-", self.model_id) + ".sqlite3")
        self._file = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._file.execute("CREATE TABLE IF NOT EXISTS vector (key TEXT PRIMARY KEY, data BLOB) WITHOUT ROWID")
        self._lock = threading.Lock()
        self.made = 0

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts to be found."""
        return np.stack([self._one("passage", text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of what is looked for."""
        return self._one("query", text)

    def _one(self, kind: str, text: str) -> np.ndarray:
        key = hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "replace")).hexdigest()
        with self._lock:
            row = self._file.execute("SELECT data FROM vector WHERE key = ?", [key]).fetchone()
        if row:
            return np.frombuffer(row[0], dtype="<f4")
        vector = self._embedder.embed_query(text) if kind == "query" else self._embedder.embed_passages([text])[0]
        with self._lock:
            self._file.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", [key, vector.astype("<f4").tobytes()])
            self.made += 1
        return vector


def load() -> Cached:
    """What EMBEDDER is set to for a run with ``--vectors``."""
    name = os.environ["SYNAPSE_BENCH_EMBEDDER"]
    return Cached(import_string(EMBEDDERS.get(name, name))(), Path(os.environ["SYNAPSE_BENCH_VECTORS"]))
