"""The command that measures how well search finds: what it prints, and how it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.quality import MODES, main
from synapse.settings import BASE_DIR

DOCUMENTS = {"1": "The heated wing of an aircraft.", "2": "A museum of clocks.", "3": "Rivers and lakes."}


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "a collection"
    folder.mkdir()
    lines = [json.dumps({"_id": key, "title": "", "text": text}) for key, text in DOCUMENTS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text('{"_id": "a", "text": "heated wings"}\n{"_id": "b", "text": "clock museum"}')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\na\t1\t1\nb\t2\t1\nb\t3\t0\n")
    return folder


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *given: str) -> str:
    monkeypatch.setattr(sys, "argv", ["quality", *given])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    return capsys.readouterr().err


def test_a_folder_that_is_no_collection_is_refused_by_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], collection: Path
) -> None:
    assert "no corpus.jsonl, no queries.jsonl, no qrels.tsv" in refused(monkeypatch, capsys, str(collection / "none"))
    (collection / "qrels.tsv").unlink()
    assert "it has no qrels.tsv" in refused(monkeypatch, capsys, str(collection))


def test_a_wrong_mode_or_constant_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], collection: Path
) -> None:
    told = refused(monkeypatch, capsys, str(collection), "--mode", "guess")
    assert all(mode in told for mode in MODES)
    assert "--constants" in refused(monkeypatch, capsys, str(collection), "--constants", "10,x")


def test_make_says_how_it_is_used_and_hands_everything_on(collection: Path) -> None:
    """What make would run, with a folder that has a blank in its name and JSON asked for."""

    def make(*given: str) -> str:
        done = subprocess.run(
            ["make", "-n", "-o", "dev", "bench-quality", *given],
            cwd=BASE_DIR, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    assert "Name the folder" in make()
    assert f'"{collection}" --mode both  --json' in make(f"DATA={collection}", "MODE=both", "JSON=1")


def test_the_measures_of_a_collection_are_printed_as_json(collection: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.quality", str(collection), "--json"],
        cwd=BASE_DIR, env=os.environ | {"DATABASE_URL": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert (told["documents"], [*told["modes"]]) == (len(DOCUMENTS), ["words"])
    words = told["modes"]["words"]
    assert [words[name] for name in ("ndcg@10", "recall@10", "recall@100", "mrr@10")] == [1, 1, 1, 1]
    assert words["queries"] == 2
