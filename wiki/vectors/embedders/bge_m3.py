"""BAAI's bge-m3 by FlagEmbedding, on the processor: a vector of 1,024 numbers and weights of tokens, from one pass.

Needs requirements-bge-m3.txt and a checkpoint. Nothing is downloaded unless HF_HUB_OFFLINE=0 says that it may be.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

if TYPE_CHECKING:
    import numpy as np

logger = logging.getLogger(__name__)

#: The heads of the model. FlagEmbedding takes random numbers in the place of one that is missing, and does not say so.
HEADS: Final = ("sparse_linear.pt", "colbert_linear.pt")
#: Tokens of a text that are read: a passage has about 300.
MAX_TOKENS: Final = 512
_HUB_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+")
#: What the hub has beside the checkpoint: other forms of the same weights.
_NOT_NEEDED: Final = ("onnx/*", "imgs/*", "*.msgpack", "*.ot", "*.h5")


class _Made(NamedTuple):
    vectors: np.ndarray
    weights: list[Mapping[str, float]]


class BGEM3:
    """Threads may embed at the same time. Each keeps its last texts: vectors and weights of them are made together."""

    #: Together they would take as long, and the next query would wait for all of them.
    batch_size = 1
    in_process = True

    def __init__(self, model: Any, model_id: str) -> None:
        self.model_id = model_id
        self._tokenizer = model.tokenizer
        self._network = model.model
        named = ("cls_token_id", "eos_token_id", "pad_token_id", "unk_token_id")
        self._ids_without_weight = frozenset(getattr(self._tokenizer, name) for name in named)
        self._lock = threading.Lock()
        self._last = threading.local()
        self.dim = int(self._made(["Synapse"]).vectors.shape[1])

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts to be found: float32, (n, dim)."""
        return self._made(texts).vectors

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of what is looked for: float32, (dim,). The model wants no word before it."""
        found: np.ndarray = self._made([text]).vectors[0]
        return found

    def sparse_passages(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Weights of the tokens of texts to be found; a token has the highest that it gets in a text."""
        return self._made(texts).weights

    def sparse_query(self, text: str) -> Mapping[str, float]:
        """Weights of the tokens of what is looked for."""
        return self._made([text]).weights[0]

    def _made(self, texts: Sequence[str]) -> _Made:
        last: tuple[tuple[str, ...], _Made] | None = getattr(self._last, "made", None)
        if last and last[0] == tuple(texts):
            return last[1]
        import numpy as np

        try:
            pairs = [self._one(text) for text in texts]
        except Exception as error:  # noqa: BLE001 - torch says with a RuntimeError that memory is at its end
            logger.warning("bge-m3 failed", extra={"reason": type(error).__name__})
            raise SynapseError(
                ErrorCode.DEPENDENCY_MISSING,
                "bge-m3 failed on a text, as it does when there is not enough memory (it takes about 3 GB).",
            ) from None
        vectors = np.stack([vector for vector, _ in pairs]) if pairs else np.zeros((0, self.dim), dtype=np.float32)
        made = _Made(vectors, [weights for _, weights in pairs])
        self._last.made = (tuple(texts), made)
        return made

    def _one(self, text: str) -> tuple[np.ndarray, Mapping[str, float]]:
        """What ``BGEM3FlagModel.encode`` makes, at half the cost: it passes each text through the network a first time
        to see how many the memory holds.
        """
        import numpy as np
        import torch

        with self._lock:  # a tokenizer that is told its limit while another thread uses it refuses to work
            tokens = self._tokenizer([_clean(text)], truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.inference_mode():
            made = self._network(dict(tokens), return_dense=True, return_sparse=True)
        vector = made["dense_vecs"][0].numpy().astype(np.float32)
        weights: dict[str, float] = {}
        weighed = zip(tokens["input_ids"][0].tolist(), made["sparse_vecs"][0].flatten().tolist(), strict=True)
        for token, weight in weighed:
            if weight > weights.get(str(token), 0.0) and token not in self._ids_without_weight:
                weights[str(token)] = weight
        return vector, weights


def load() -> BGEM3:
    """The checkpoint of EMBEDDER_PATH. ``dependency_missing`` where it, a part of it, or the package is not there."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # it warns of every fork otherwise
    named = settings.EMBEDDER_PATH.strip()
    if not named:
        raise _missing("EMBEDDER=bge-m3 needs EMBEDDER_PATH, the folder of the checkpoint")
    folder = Path(named).expanduser()
    if not folder.is_dir():
        folder = _from_hub(named)
    model_id = identify(folder)
    try:
        import torch
        from FlagEmbedding import BGEM3FlagModel
    except Exception as error:  # noqa: BLE001 - versions that do not fit each other break in many ways
        logger.warning("FlagEmbedding can't be imported", extra={"reason": type(error).__name__})
        raise _missing(
            "EMBEDDER=bge-m3 needs packages that are not installed, or not in versions that fit each other: "
            "`.venv/bin/python -m pip install -r requirements-bge-m3.txt`"
        ) from None
    torch.set_num_threads(max(1, settings.SYNAPSE_EMBED_THREADS))
    try:
        model = BGEM3FlagModel(str(folder), use_fp16=False, devices="cpu", normalize_embeddings=True)
        model.model.to("cpu").eval()
    except Exception as error:  # noqa: BLE001 - files that are cut off, of another model, or changed by hand
        logger.warning("the checkpoint can't be loaded", extra={"reason": type(error).__name__})
        raise _missing("The checkpoint that EMBEDDER_PATH names can't be loaded: fetch it anew") from None
    return BGEM3(model, model_id)


def identify(folder: Path) -> str:
    """The name of a checkpoint, told by its heads, wherever it lies. ``dependency_missing`` if it lacks one of them."""
    lacking = [name for name in HEADS if not (folder / name).is_file()]
    if lacking:
        raise _missing(
            f"The checkpoint that EMBEDDER_PATH names lacks {' and '.join(lacking)}, in whose place there would be "
            "random numbers: fetch the whole of BAAI/bge-m3"
        )
    try:
        digest = hashlib.sha256(b"".join(hashlib.sha256((folder / name).read_bytes()).digest() for name in HEADS))
    except OSError:
        raise _missing("The checkpoint that EMBEDDER_PATH names can't be read") from None
    return f"bge-m3-{digest.hexdigest()[:12]}"


def _from_hub(name: str) -> Path:
    """The folder in which the hub's client keeps the checkpoint of this name; it may download it only if it is told."""
    if not _HUB_NAME.fullmatch(name):
        raise _missing("EMBEDDER_PATH names no folder that is there, and no checkpoint of a hub (BAAI/bge-m3)")
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, ignore_patterns=list(_NOT_NEEDED)))
    except Exception as error:  # noqa: BLE001 - not installed, not kept, no network, no such name
        logger.warning("the checkpoint is not to be had", extra={"reason": type(error).__name__})
        raise _missing(
            "The checkpoint that EMBEDDER_PATH names is not on this machine. Name its folder, or let it be downloaded "
            "once with HF_HUB_OFFLINE=0 (2.3 GB)"
        ) from None


def _missing(what: str) -> SynapseError:
    return SynapseError(ErrorCode.DEPENDENCY_MISSING, f"{what}. Until then pages are found by their words alone.")


def _clean(text: str) -> str:
    """Only what UTF-8 can say: the tokenizer takes nothing else."""
    return text.encode("utf-8", "replace").decode()
