"""bge-m3: which checkpoint is taken, and that its real loader makes of one what FlagEmbedding makes of it.

The checkpoint is a tiny one of the same kind, with random weights: it shows that the parts fit, and nothing of quality.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.indexed import indexed
from vault.errors import ErrorCode, SynapseError
from wiki.embedding.pipeline import embed_some
from wiki.models import Chunk
from wiki.vectors.embedders import current_embedder, embedder_problem, forget_embedder, sparse
from wiki.vectors.embedders.bge_m3 import BGEM3, HEADS, identify, load

WORDS = [
    "bread",
    "flour",
    "yeast",
    "oven",
    "satellites",
    "orbit",
    "the",
    "earth",
    "in",
    "space",
    "we",
    "bake",
    "with",
    "and",
    "a",
    "of",
    "is",
]
TEXTS = ["we bake bread", "satellites orbit the earth in space with a satellite of the earth", "", "x" * 900, "bread"]
SIZE = 32


@pytest.fixture(autouse=True)
def _anew(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "bge-m3"
    forget_embedder()
    yield
    forget_embedder()


def heads(folder: Path, **other: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name in HEADS:
        (folder / name).write_bytes(other.get(name.partition("_")[0], name.encode()))
    return folder


@pytest.mark.parametrize("lacking", [HEADS[:1], HEADS[1:], HEADS])
def test_a_checkpoint_without_its_heads_is_refused(settings: Any, tmp_path: Path, lacking: tuple[str, ...]) -> None:
    heads(tmp_path / "bge")
    for name in lacking:
        (tmp_path / "bge" / name).unlink()
    settings.EMBEDDER_PATH = str(tmp_path / "bge")
    assert current_embedder() is None
    problem = str(embedder_problem())
    assert all(name in problem for name in lacking) and "random" in problem and str(tmp_path) not in problem


def test_a_checkpoint_is_known_by_its_heads_wherever_it_lies(tmp_path: Path) -> None:
    one, same = identify(heads(tmp_path / "one")), identify(heads(tmp_path / "other"))
    assert one == same and one.startswith("bge-m3-") and len(one) == 19
    assert identify(heads(tmp_path / "one", sparse=b"tuned")) != one
    assert identify(heads(tmp_path / "one", colbert=b"tuned")) != one
    assert identify(heads(tmp_path / "one", sparse=b"ab", colbert=b"c")) != identify(
        heads(tmp_path / "one", sparse=b"a", colbert=b"bc")
    )


@pytest.mark.parametrize("named", ["", "/no/such/folder", "../up", "bge-m3", "a/b/c"])
def test_what_names_no_checkpoint(settings: Any, named: str) -> None:
    settings.EMBEDDER_PATH = named
    with pytest.raises(SynapseError, match="EMBEDDER_PATH") as caught:
        load()
    assert caught.value.code is ErrorCode.DEPENDENCY_MISSING
    assert not named or named not in caught.value.message.replace("BAAI/bge-m3", "").replace("=bge-m3", "")


def test_a_name_of_the_hub_is_not_downloaded(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    settings.EMBEDDER_PATH = "nobody/nothing"
    with pytest.raises(SynapseError, match="HF_HUB_OFFLINE=0"):
        load()
    assert os.environ["HF_HUB_OFFLINE"] == "1", "the hub's client asks this before it asks the network"


def test_without_the_packages_it_says_what_to_install(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "FlagEmbedding", None)
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    settings.EMBEDDER_PATH = str(heads(tmp_path / "bge"))
    assert current_embedder() is None
    assert "requirements-bge-m3.txt" in str(embedder_problem())


# --- with torch and FlagEmbedding ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the kind of bge-m3: XLM-RoBERTa, its tokenizer's order of ids, and both heads."""
    if importlib.util.find_spec("FlagEmbedding") is None or importlib.util.find_spec("torch") is None:
        reason = "torch and FlagEmbedding (requirements-bge-m3.txt) are not installed"
        if os.environ.get("SYNAPSE_TEST_REQUIRE_BGE"):
            pytest.fail(reason)
        pytest.skip(reason)
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    folder = tmp_path_factory.mktemp("checkpoint")
    letters = "abcdefghijklmnopqrstuvwxyz▁"
    pieces = [*(f"▁{word}" for word in WORDS), *letters]
    vocabulary = [(piece, 0.0) for piece in ("<s>", "<pad>", "</s>", "<unk>")]
    vocabulary += [(piece, -float(place + 1)) for place, piece in enumerate(pieces)] + [("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=8192,
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=SIZE,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=8194,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    XLMRobertaModel(config).eval().save_pretrained(folder)
    for name, out in zip(HEADS, (1, SIZE), strict=True):
        torch.save(torch.nn.Linear(SIZE, out).state_dict(), folder / name)
    return folder


@pytest.fixture
def loaded(checkpoint: Path, settings: Any) -> BGEM3:
    settings.EMBEDDER_PATH = str(checkpoint)
    embedder = current_embedder()
    assert isinstance(embedder, BGEM3), embedder_problem()
    return embedder


@pytest.mark.bge
def test_it_makes_what_flag_embedding_makes(loaded: BGEM3, checkpoint: Path) -> None:
    from FlagEmbedding import BGEM3FlagModel

    theirs = BGEM3FlagModel(str(checkpoint), use_fp16=False, devices="cpu").encode(
        TEXTS, batch_size=1, max_length=512, return_dense=True, return_sparse=True
    )
    vectors = loaded.embed_passages(TEXTS)
    assert (loaded.dim, vectors.shape, vectors.dtype) == (SIZE, (len(TEXTS), SIZE), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors, theirs["dense_vecs"], atol=1e-5), "and in the order of the texts"
    weights = loaded.sparse_passages(TEXTS)
    assert [sorted(each) for each in weights] == [sorted(each) for each in theirs["lexical_weights"]]
    for ours, other in zip(weights, theirs["lexical_weights"], strict=True):
        assert all(abs(weight - float(other[token])) < 1e-5 for token, weight in ours.items())
    assert any(weights) and json.loads(json.dumps(weights)) == weights
    assert all(token.isdigit() and int(token) > 3 and weight > 0 for each in weights for token, weight in each.items())


@pytest.mark.bge
def test_one_pass_makes_both(loaded: BGEM3, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[str] = []
    one = loaded._one
    monkeypatch.setattr(loaded, "_one", lambda text: (passed.append(text), one(text))[1])
    weighing = sparse(loaded)
    assert weighing is not None
    weighing.sparse_query("we bake")
    vector = loaded.embed_query("we bake")
    assert passed == ["we bake"] and vector.shape == (SIZE,)
    assert np.allclose(loaded.embed_passages(["bread", "we bake"])[1], vector, atol=1e-6)
    weighing.sparse_passages(["bread", "we bake"])
    assert len(passed) == 3
    assert loaded.embed_passages([]).shape == (0, SIZE)


@pytest.mark.bge
def test_threads_get_what_they_asked_for(loaded: BGEM3) -> None:
    right = {text: loaded.embed_query(text) for text in TEXTS}
    wrong: list[str] = []

    def ask(text: str) -> None:
        for _ in range(20):
            weights = loaded.sparse_query(text)
            if not np.allclose(loaded.embed_query(text), right[text], atol=1e-5) or weights != loaded.sparse_query(
                text
            ):
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(text,)) for text in TEXTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.bge
def test_what_no_tokenizer_takes_is_read_all_the_same(loaded: BGEM3) -> None:
    assert loaded.embed_query("a\ud800\0b").shape == (SIZE,)


@pytest.mark.bge
def test_a_failure_is_a_sentence(loaded: BGEM3, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("/home/secret: [enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(loaded, "_network", fails)
    with pytest.raises(SynapseError, match="memory") as caught:
        loaded.embed_query("something else")
    assert "secret" not in caught.value.message


@pytest.mark.bge
@pytest.mark.parametrize("broken", ["config.json", "model.safetensors", "sparse_linear.pt", "tokenizer.json"])
def test_a_checkpoint_that_is_broken_is_a_sentence(
    checkpoint: Path, settings: Any, tmp_path: Path, broken: str
) -> None:
    for file in checkpoint.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes() if file.name != broken else b"\x80\x04cut off")
    settings.EMBEDDER_PATH = str(tmp_path)
    assert current_embedder() is None
    problem = str(embedder_problem())
    assert "can't be loaded" in problem and str(tmp_path) not in problem


@pytest.mark.bge
def test_a_checkpoint_of_the_hub_that_is_not_kept_here(settings: Any, tmp_path: Path) -> None:
    settings.EMBEDDER_PATH = "nobody/nothing"
    with pytest.raises(SynapseError, match="not on this machine"):
        load()


@pytest.mark.bge
@pytest.mark.django_db
def test_pages_get_vectors_and_weights(loaded: BGEM3, checkpoint: Path, vault_folder: object) -> None:
    indexed("Bread", "We bake bread with flour and yeast.")
    embed_some(embedder=loaded)
    (chunk,) = Chunk.objects.all()
    assert (chunk.dim, chunk.model_id) == (SIZE, loaded.model_id) and len(chunk.vector) == 2 * SIZE
    assert chunk.sparse and loaded.model_id == identify(checkpoint)
