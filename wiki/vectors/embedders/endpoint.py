"""Any endpoint that speaks OpenAI's `/v1/embeddings` or Ollama's `/api/embed`, at the address of EMBEDDER_URL.

The address comes from the settings alone; nothing that a caller sends decides where a request goes, and redirects are
not followed. Neither the address nor the key, nor what the endpoint says about a failure (it may repeat the key), is
part of an error or a log.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings

from vault.errors import ErrorCode, SynapseError

if TYPE_CHECKING:
    import httpx2
    import numpy as np

logger = logging.getLogger(__name__)

#: Texts of one request.
BATCH: Final = 32
#: Seconds in which a request is answered to its last byte: a query's are less than a search has for its meaning
#: (wiki.vectors.patience). The first one is given time to load the model.
QUERY_SECONDS: Final = 2.5
PASSAGES_SECONDS: Final = 60.0
FIRST_SECONDS: Final = 10.0
CONNECT_SECONDS: Final = 2.0
#: Waits between attempts to embed passages; an endpoint that names a longer one is heard up to the limit.
BACK_OFF: Final = (1.0, 2.0, 4.0)
LONGEST_WAIT: Final = 30.0
#: Bounds of an answer: bytes, and numbers of one vector.
ANSWER_BYTES: Final = 8_000_000
MAX_DIM: Final = 8_192
#: What rows keep of a model's name.
MODEL_ID_CHARS: Final = 120
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_HINTS: Final[Mapping[int, str]] = {
    401: "it wants another EMBEDDER_API_KEY",
    403: "it wants another EMBEDDER_API_KEY",
    404: "it knows no such path or model: see EMBEDDER_URL and EMBEDDER_MODEL",
    413: "the texts are too long for it",
    429: "it wants fewer requests",
}
_OURS: Final = ("127.0.0.1", "::1", "localhost")


class Protocol(NamedTuple):
    """How an endpoint is spoken to: its whole address, and whether in Ollama's words or OpenAI's."""

    url: str
    is_ollama: bool


class _EndpointError(SynapseError):
    """A request that failed. ``passing``: again later it may succeed; ``wait``: seconds that the endpoint asks for."""

    def __init__(self, what: str, *, passing: bool = False, wait: float = 0.0) -> None:
        super().__init__(
            ErrorCode.DEPENDENCY_MISSING,
            f"The embedder's endpoint (EMBEDDER_URL) can't be used: {what}. Until it can, pages are found by their "
            "words alone.",
        )
        self.passing = passing
        self.wait = wait


def protocol_of(address: str) -> Protocol:
    """What EMBEDDER_URL means, told by its path.

    `…/api` or `…/api/embed`: Ollama. `…/embeddings`: OpenAI, as it stands. No path at all: `/v1/embeddings`, which
    Ollama has too. Any other path (`…/v1`): OpenAI, with `/embeddings` after it. Raises ``dependency_missing`` for what
    is no address of a web server.
    """
    try:
        parts = urlsplit(address.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known:
        raise _EndpointError("EMBEDDER_URL is no address such as http://127.0.0.1:11434/v1")
    path = parts.path.rstrip("/")
    is_ollama = path.endswith(("/api", "/api/embed"))
    if path.endswith("/api"):
        path += "/embed"
    elif not is_ollama and not path.endswith("/embeddings"):
        path = f"{path or '/v1'}/embeddings"
    return Protocol(urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), is_ollama)


class EndpointEmbedder:
    """One endpoint and one model of it. Vectors are checked one by one, and made of length 1 here."""

    batch_size = BATCH

    def __init__(self, client: httpx2.Client, protocol: Protocol, model: str) -> None:
        # A server of one file is given its path, which is nobody else's business.
        self.model_id = (model.rsplit("/", 1)[-1] if model.startswith("/") else model)[:MODEL_ID_CHARS]
        self.dim = 0
        self._client = client
        self._protocol = protocol
        self._model = model

    def find_dim(self) -> None:
        """Ask for one vector, to learn how many numbers it has. Raises ``dependency_missing``."""
        self.dim = self._asked(["Synapse"], FIRST_SECONDS).shape[1]

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts to be found: float32, (n, dim). What may pass is tried again a few times."""
        import numpy as np

        parts = [self._patiently(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        """The vector of what is looked for: float32, (dim,). Tried once: somebody waits for it."""
        found: np.ndarray = self._asked([text], QUERY_SECONDS)[0]
        return found

    def _patiently(self, texts: Sequence[str]) -> np.ndarray:
        for wait in BACK_OFF:
            try:
                return self._asked(texts, PASSAGES_SECONDS)
            except _EndpointError as failure:
                if not failure.passing:
                    raise
                logger.info("the embedder's endpoint is asked again", extra={"reason": failure.message})
                time.sleep(min(max(wait, failure.wait), LONGEST_WAIT))
        return self._asked(texts, PASSAGES_SECONDS)

    def _asked(self, texts: Sequence[str], seconds: float) -> np.ndarray:
        body = {"model": self._model, "input": [_clean(text) for text in texts]}
        vectors = _vectors(self._answer(body, seconds), len(texts), is_ollama=self._protocol.is_ollama)
        return _normalised(vectors, self.dim)

    def _answer(self, body: Mapping[str, Any], seconds: float) -> Any:
        """The answer's JSON. A request that has sent some of it in time may still not take longer than ``seconds``."""
        import httpx2

        until = time.monotonic() + seconds
        timeout = httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        try:
            with self._client.stream("POST", self._protocol.url, json=body, timeout=timeout) as response:
                if response.status_code != 200:
                    raise _refusal(response.status_code, response.headers.get("retry-after", ""))
                raw = bytearray()
                for some in response.iter_raw():
                    raw += some
                    if len(raw) > ANSWER_BYTES:
                        raise _EndpointError(f"it answered with more than {ANSWER_BYTES // 1_000_000} MB")
                    if time.monotonic() > until:
                        raise _too_slow(seconds)
            return json.loads(bytes(raw))
        except httpx2.TimeoutException:
            raise _too_slow(seconds) from None
        except httpx2.TransportError:
            raise _EndpointError("it can't be reached, or broke off", passing=True) from None
        except (ValueError, RecursionError):
            raise _EndpointError("its answer is not JSON") from None
        except SynapseError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever else an address of somebody's making may set off
            logger.warning("the embedder's endpoint can't be asked", extra={"reason": type(error).__name__})
            raise _EndpointError("the request can't be made: see EMBEDDER_URL and EMBEDDER_API_KEY") from None


def load() -> EndpointEmbedder:
    """The endpoint of the settings, asked once. ``dependency_missing`` where it is not named, or does not answer."""
    if not settings.EMBEDDER_URL.strip() or not settings.EMBEDDER_MODEL.strip():
        raise SynapseError(
            ErrorCode.DEPENDENCY_MISSING,
            "EMBEDDER=openai needs EMBEDDER_URL and EMBEDDER_MODEL; until then pages are found by their words alone.",
        )
    import httpx2

    protocol = protocol_of(settings.EMBEDDER_URL)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    if key := settings.EMBEDDER_API_KEY.strip():
        if not (key.isascii() and key.isprintable()):
            raise _EndpointError("EMBEDDER_API_KEY has characters that no header may have")
        headers["Authorization"] = f"Bearer {key}"
    # A proxy of the environment is for other machines.
    other = (urlsplit(protocol.url).hostname or "") not in _OURS
    client = httpx2.Client(headers=headers, follow_redirects=False, trust_env=other)
    # The client logs each request's address, which may have a password in it.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    embedder = EndpointEmbedder(client, protocol, settings.EMBEDDER_MODEL.strip())
    try:
        embedder.find_dim()
    except SynapseError:
        client.close()
        raise
    return embedder


def _refusal(status: int, retry_after: str) -> _EndpointError:
    if 300 <= status < 400:
        return _EndpointError(f"it answers {status}, and redirects are not followed; name the address itself")
    what = f"it answers {status}" + (f" ({_HINTS[status]})" if status in _HINTS else "")
    wait = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0
    return _EndpointError(what, passing=status in _PASSING, wait=wait)


def _too_slow(seconds: float) -> _EndpointError:
    return _EndpointError(f"it did not answer in {seconds:g} seconds", passing=True)


def _vectors(answer: Any, count: int, *, is_ollama: bool) -> list[Any]:
    """The vectors in the order of the texts."""
    key = "embeddings" if is_ollama else "data"
    items = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(items, list) or len(items) != count:
        raise _EndpointError(f"its answer has not one vector for each text under {key!r}")
    if is_ollama:
        return items
    if not all(isinstance(item, dict) for item in items):
        raise _EndpointError("its answer has something else than vectors")
    order = [item.get("index") for item in items]
    if any(index is not None for index in order):
        if not all(type(index) is int for index in order) or sorted(order) != list(range(count)):
            raise _EndpointError("its answer does not say which vector belongs to which text")
        items = sorted(items, key=lambda item: item["index"])
    return [item.get("embedding") for item in items]


def _normalised(vectors: list[Any], dim: int) -> np.ndarray:
    """The vectors with length 1: float32, (n, dim); ``dim`` 0 takes the first one's."""
    import numpy as np

    expected = dim or (len(vectors[0]) if isinstance(vectors[0], list) else 0)
    if not 0 < expected <= MAX_DIM:
        raise _EndpointError(f"its vectors have not 1 to {MAX_DIM:,} numbers")
    for vector in vectors:
        if not isinstance(vector, list) or len(vector) != expected:
            raise _EndpointError(f"its vectors have not {expected} numbers each")
        if not all(type(number) in (float, int) and abs(number) <= 1e30 for number in vector):  # NaN is not either
            raise _EndpointError("its vectors have something else than finite numbers")
    found = np.array(vectors, dtype=np.float64)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not all(math.isfinite(length) and length > 1e-30 for length in lengths[:, 0]):
        raise _EndpointError("one of its vectors is of no length")
    result: np.ndarray = (found / lengths).astype(np.float32)
    return result


def _clean(text: str) -> str:
    """What JSON in UTF-8 can say: some endpoints break on a NUL."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
