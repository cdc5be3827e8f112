"""Embedders behind an address: what is asked, what is believed of the answer, and what a failure costs."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.endpoint_server import DIM, Endpoint, right, running, said, send, vector
from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from wiki.embedding.pipeline import embed_some
from wiki.search import retrieve
from wiki.vectors.embedders import current_embedder, embedder_problem, endpoint, forget_embedder
from wiki.vectors.embedders.endpoint import EndpointEmbedder, load, protocol_of

KEY = "sk-very-secret"
#: Paths of EMBEDDER_URL for both ways of speaking.
BOTH = pytest.mark.parametrize("path", ["/v1", "/api"])


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    forget_embedder()
    with running() as served:
        settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "openai"
        settings.EMBEDDER_URL, settings.EMBEDDER_MODEL, settings.EMBEDDER_API_KEY = f"{served.url}/v1", "m", KEY
        yield served
    forget_embedder()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between attempts, which take no time."""
    found: list[float] = []
    monkeypatch.setattr(endpoint.time, "sleep", found.append)
    return found


def loaded(settings: Any, server: Endpoint, path: str) -> EndpointEmbedder:
    settings.EMBEDDER_URL = server.url + path
    embedder = load()
    server.requests.clear()
    return embedder


def expected(texts: list[str]) -> np.ndarray:
    found = np.array([vector(text) for text in texts])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("address", "url", "is_ollama"),
    [
        ("http://h", "http://h/v1/embeddings", False),
        ("http://h:11434/", "http://h:11434/v1/embeddings", False),
        ("https://h/v1", "https://h/v1/embeddings", False),
        ("https://h/v1/", "https://h/v1/embeddings", False),
        ("https://h/proxy/v1/embeddings", "https://h/proxy/v1/embeddings", False),
        ("https://h/openai/d/m/embeddings?api-version=1", "https://h/openai/d/m/embeddings?api-version=1", False),
        ("http://h/api", "http://h/api/embed", True),
        ("http://h/api/embed/", "http://h/api/embed", True),
        (" http://[::1]:1/x/api#part ", "http://[::1]:1/x/api/embed", True),
    ],
)
def test_the_path_tells_how_it_is_spoken_to(address: str, url: str, is_ollama: bool) -> None:
    assert protocol_of(address) == (url, is_ollama)


@pytest.mark.parametrize(
    "address", ["h/v1", "ftp://h/v1", "http://", "http://h:x/v1", "file:///etc/passwd", "http://["]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(SynapseError, match="is no address") as caught:
        protocol_of(address)
    assert caught.value.code is ErrorCode.DEPENDENCY_MISSING


@BOTH
def test_vectors_of_both_protocols(settings: Any, server: Endpoint, path: str) -> None:
    embedder = loaded(settings, server, path)
    assert (embedder.model_id, embedder.dim) == ("m", DIM)
    texts = [f"text {number}" for number in range(70)]
    vectors = embedder.embed_passages(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (70, DIM)
    assert np.allclose(vectors, expected(texts), atol=1e-6)
    assert [len(body["input"]) for _, _, body in server.requests] == [32, 32, 6]
    assert np.allclose(embedder.embed_query("text 3"), vectors[3], atol=1e-6)
    assert embedder.embed_passages([]).shape == (0, DIM)
    asked, headers, body = server.requests[0]
    assert asked == ("/v1/embeddings" if path == "/v1" else "/api/embed")
    assert headers["authorization"] == f"Bearer {KEY}" and body["model"] == "m"


def test_without_a_key_none_is_sent(settings: Any, server: Endpoint) -> None:
    settings.EMBEDDER_API_KEY = ""
    load()
    assert "authorization" not in server.requests[0][1]


def test_the_order_is_that_of_the_index(settings: Any, server: Endpoint) -> None:
    embedder = loaded(settings, server, "/v1")

    def shuffled(handler: Any, body: dict[str, Any]) -> None:
        content = said(handler.path, [vector(text) for text in body["input"]])
        content["data"] = content["data"][1:] + content["data"][:1]
        send(handler, content)

    server.answer = shuffled
    texts = ["a", "b", "c"]
    assert np.allclose(embedder.embed_passages(texts), expected(texts), atol=1e-6)


def test_text_that_no_json_can_say(settings: Any, server: Endpoint) -> None:
    embedder = loaded(settings, server, "/v1")
    embedder.embed_query("a\0b\ud800c")
    assert server.requests[0][2]["input"] == ["a b?c"]


GOOD = vector("a")
BAD_VECTORS: dict[str, list[Any]] = {
    "one too few": [],
    "one too many": [GOOD, GOOD],
    "not a number": [[float("nan"), *GOOD[1:]]],
    "infinite": [[float("inf"), *GOOD[1:]]],
    "larger than any float": [[10**400, *GOOD[1:]]],
    "words": [["1.0", *GOOD[1:]]],
    "truth": [[True, *GOOD[1:]]],
    "nothing": [None],
    "shorter": [GOOD[:-1]],
    "longer": [[*GOOD, 1.0]],
    "of no length": [[0.0] * DIM],
    "deeper": [[GOOD]],
    "base64": ["AAAA"],
    "a number": [7],
}


@BOTH
@pytest.mark.parametrize("name", BAD_VECTORS)
def test_an_answer_that_is_wrong_is_not_believed(
    settings: Any, server: Endpoint, waits: list[float], path: str, name: str
) -> None:
    embedder = loaded(settings, server, path)
    server.answer = lambda handler, body: send(handler, said(handler.path, BAD_VECTORS[name]))
    for ask in (lambda: embedder.embed_query("a"), lambda: embedder.embed_passages(["a"])):
        with pytest.raises(SynapseError, match="can't be used") as caught:
            ask()
        assert caught.value.code is ErrorCode.DEPENDENCY_MISSING
    assert len(server.requests) == 2 and not waits, "what is wrong once is wrong again"


@pytest.mark.parametrize("order", [[0, 0], [1, 2], [0, None], ["0", "1"], [0.0, 1.0], [False, True]])
def test_an_order_that_is_none_is_not_believed(settings: Any, server: Endpoint, order: list[Any]) -> None:
    embedder = loaded(settings, server, "/v1")
    items = [{"index": index, "embedding": GOOD} for index in order]
    server.answer = lambda handler, body: send(handler, {"data": items})
    with pytest.raises(SynapseError, match="which text"):
        embedder.embed_passages(["a", "b"])


NO_ANSWERS = [
    *(b"", b"<html>", b"[]", b"null", b"{}", b"\xff\xfe", b'{"data":' + b"[" * 200_000),
    *(b'{"data": 1, "embeddings": {}}', b'{"data": [1], "embeddings": [1]}'),
]


@BOTH
@pytest.mark.parametrize("content", NO_ANSWERS)
def test_what_is_no_answer_at_all(settings: Any, server: Endpoint, path: str, content: bytes) -> None:
    embedder = loaded(settings, server, path)
    server.answer = lambda handler, body: send(handler, content)
    with pytest.raises(SynapseError, match="can't be used"):
        embedder.embed_query("a")


def test_an_answer_of_any_length_is_not_read_to_its_end(settings: Any, server: Endpoint) -> None:
    embedder = loaded(settings, server, "/v1")
    server.answer = lambda handler, body: send(handler, b" " * 10_000_000)
    with pytest.raises(SynapseError, match="more than 8 MB"):
        embedder.embed_query("a")


@BOTH
@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again_for_passages_only(
    settings: Any, server: Endpoint, waits: list[float], path: str, status: int
) -> None:
    embedder = loaded(settings, server, path)

    def refusing(times: int) -> None:
        left = iter(range(times))

        def answer(handler: Any, body: dict[str, Any]) -> None:
            if next(left, None) is None:
                right(handler, body)
            else:
                send(handler, {"error": KEY}, status)

        server.answer = answer

    refusing(2)
    assert np.allclose(embedder.embed_passages(["a"]), expected(["a"]), atol=1e-6)
    assert waits == [1.0, 2.0] and len(server.requests) == 3
    refusing(100)
    with pytest.raises(SynapseError, match=str(status)):
        embedder.embed_passages(["a"])
    assert len(server.requests) == 7, "and not for ever"
    refusing(1)
    with pytest.raises(SynapseError, match=str(status)):
        embedder.embed_query("a")
    assert len(server.requests) == 8


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("9999999", 30.0), ("0", 1.0), ("soon", 1.0), ("²", 1.0)])
def test_an_endpoint_says_how_long_to_wait_within_bounds(
    settings: Any, server: Endpoint, waits: list[float], asked: str, waited: float
) -> None:
    embedder = loaded(settings, server, "/v1")

    def answer(handler: Any, body: dict[str, Any]) -> None:
        if waits:
            right(handler, body)
        else:
            send(handler, {}, 429, Retry_After=asked)

    server.answer = answer
    embedder.embed_passages(["a"])
    assert waits == [waited]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_what_will_not_pass_is_not_tried_again(
    settings: Any, server: Endpoint, waits: list[float], caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = loaded(settings, server, "/v1")
    server.answer = lambda handler, body: send(handler, {"error": f"wrong key {KEY} for {body['input']}"}, status)
    with pytest.raises(SynapseError, match=str(status)) as caught:
        embedder.embed_passages(["some text"])
    assert len(server.requests) == 1 and not waits
    told = json.dumps(caught.value.envelope()) + caplog.text
    assert KEY not in told and "some text" not in told and str(caught.value.__cause__) == "None"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(settings: Any, server: Endpoint, waits: list[float], status: int) -> None:
    embedder = loaded(settings, server, "/v1")
    with running() as other:
        server.answer = lambda handler, body: send(handler, {}, status, Location=f"{other.url}/v1/embeddings")
        with pytest.raises(SynapseError, match="redirects are not followed"):
            embedder.embed_passages(["a"])
        assert not other.requests, "and least of all with the key"


@BOTH
def test_one_that_hangs_is_given_up_in_time(
    settings: Any, server: Endpoint, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    embedder = loaded(settings, server, path)
    monkeypatch.setattr(endpoint, "QUERY_SECONDS", 0.1)
    server.answer = lambda handler, body: (server.open.wait(10), None)[1]
    with pytest.raises(SynapseError, match="did not answer in 0"):
        embedder.embed_query("a")
    assert len(server.requests) == 1


def test_one_that_drips_is_given_up_in_time(settings: Any, server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = loaded(settings, server, "/v1")
    monkeypatch.setattr(endpoint, "QUERY_SECONDS", 0.2)

    def drips(handler: Any, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not server.open.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    server.answer = drips
    with pytest.raises(SynapseError, match="did not answer in 0"):
        embedder.embed_query("a")


def test_one_that_drops_is_tried_again(settings: Any, server: Endpoint, waits: list[float]) -> None:
    embedder = loaded(settings, server, "/v1")

    def drops(handler: Any, body: dict[str, Any]) -> None:
        if waits:
            right(handler, body)
        else:
            handler.connection.close()
            handler.close_connection = True

    server.answer = drops
    assert embedder.embed_passages(["a"]).shape == (1, DIM)
    assert waits == [1.0]


def test_one_that_is_not_there_is_a_sentence_and_is_found_later(settings: Any, server: Endpoint) -> None:
    there = settings.EMBEDDER_URL
    settings.EMBEDDER_URL = "http://user:password@127.0.0.1:9/v1"
    assert current_embedder() is None
    problem = str(embedder_problem())
    assert "can't be reached" in problem and "127.0.0.1:9" not in problem and "password" not in problem
    settings.EMBEDDER_URL = there
    found = current_embedder()
    assert found is not None and (found.model_id, found.dim) == ("m", DIM)


@pytest.mark.parametrize(("name", "value"), [("EMBEDDER_URL", ""), ("EMBEDDER_MODEL", " ")])
def test_what_is_missing_is_named(settings: Any, server: Endpoint, name: str, value: str) -> None:
    setattr(settings, name, value)
    assert current_embedder() is None
    assert name in str(embedder_problem())
    assert not server.requests


def test_a_key_that_no_header_may_have_is_not_sent(settings: Any, server: Endpoint) -> None:
    settings.EMBEDDER_API_KEY = "bad\r\nX-Other: 1"
    assert current_embedder() is None
    assert "EMBEDDER_API_KEY" in str(embedder_problem()) and "X-Other" not in str(embedder_problem())
    assert not server.requests


@pytest.mark.parametrize(
    ("model", "model_id"), [("BAAI/bge-m3", "BAAI/bge-m3"), ("/home/me/m.gguf", "m.gguf"), ("m" * 200, "m" * 120)]
)
def test_the_model_of_the_rows(settings: Any, server: Endpoint, model: str, model_id: str) -> None:
    settings.EMBEDDER_MODEL = model
    assert load().model_id == model_id
    assert server.requests[0][2]["model"] == model


@pytest.mark.django_db
@pytest.mark.usefixtures("vault_folder")
def test_pages_are_found_with_it_and_without_it(settings: Any, server: Endpoint, waits: list[float]) -> None:
    page = indexed("Bread", "Flour, water and yeast.")
    embedder = load()
    assert embed_some(embedder=embedder).chunks == 1
    answer = retrieve("yeast")
    assert (answer.mode, answer.degraded, [hit.page.pk for hit in answer.hits]) == ("hybrid", None, [page.pk])
    server.answer = lambda handler, body: send(handler, {"error": KEY}, 500)
    answer = retrieve("yeast")
    assert (answer.mode, [hit.page.pk for hit in answer.hits]) == ("lexical", [page.pk])
    assert "500" in str(answer.degraded) and KEY not in str(answer.degraded)
    other = indexed("Orbit", "Round the earth.")
    outcome = embed_some(embedder=embedder)
    assert outcome.failed == [other.pk] and "500" in outcome.problem
