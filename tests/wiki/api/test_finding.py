"""Search, neighbourhood, status and readiness over REST."""

from __future__ import annotations

import unicodedata
from typing import Any
from urllib.parse import quote

import pytest
from django.db import DatabaseError

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, page, refused
from wiki.models import Page, VaultState
from wiki.search import Retrieval
from wiki.sync import scan


def test_what_was_written_is_found_and_says_why(rita: Rest, turing: Page) -> None:
    page("Computability", "What can be computed.\n")
    answer = rita.get("/search?q=founded science").json()
    assert [hit["title"] for hit in answer["result"]] == ["Alan Turing"]
    hit = answer["result"][0]
    assert 0 < hit["relevance_score"] <= 1
    assert hit["path"] == turing.path
    assert hit["why"]
    assert "science" in hit["snippet"]
    assert (answer["mode"], answer["degraded"]) == ("lexical", None)
    assert answer["data_version"] == rita.get("/status").json()["data_version"] > 0


def test_filters(rita: Rest, turing: Page) -> None:
    page("Science", "science #history\n")
    assert len(rita.get("/search?q=science").json()["result"]) == 2
    for query in ("type=concept", "tag=history", "prefix=wiki/concepts/"):
        assert [hit["title"] for hit in rita.get(f"/search?q=science&{query}").json()["result"]] == ["Science"]
    assert rita.get("/search?q=science&lang=fr").json()["result"] == []


@pytest.mark.parametrize("k", ["0", "-1", "1"])
def test_k_is_clamped(rita: Rest, turing: Page, k: str) -> None:
    page("Science", "science\n")
    assert len(rita.get(f"/search?q=science&k={k}").json()["result"]) == 1


@pytest.mark.parametrize(
    "query",
    ['"', "*", "a*", "NEAR(", "title:x", "'; DROP TABLE wiki_page; --", "%' OR 1=1", "(a+)+$", "", "\\"],
)
def test_operators_are_words(rita: Rest, turing: Page, query: str) -> None:
    assert rita.get(f"/search?q={quote(query)}").status_code == 200


def test_queries_that_are_refused(rita: Rest) -> None:
    refused(rita.get("/search"), 400, "missing_required_params")
    long = rita.get("/search?q=" + "a" * 10_001)
    refused(long, 400, "invalid_param_value")
    assert long.json()["parameter"] == "q", "as it is called here"
    refused(rita.get("/search?q=" + "*" * 100_000), 400, "invalid_param_value")
    refused(rita.get("/search?q=a&ordering=password"), 400, "invalid_param_value")
    refused(rita.get("/search?q=a&type=x"), 400, "invalid_param_value")
    for half in ("%ED%A0%80", "a%FF"):
        refused(rita.get(f"/search?q={half}"), 422, "invalid_content")


def test_a_search_that_can_not_be_made_is_no_empty_answer(rita: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Retrieval([], "lexical", {"words": "Make the index anew."}, 1)
    monkeypatch.setattr("wiki.api.views.retrieve", lambda *_, **__: failed)
    assert "anew" in refused(rita.get("/search?q=a"), 503, "search_unavailable")["error"]


def test_a_search_that_one_half_of_is_left_says_which(rita: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    for mode, part in (("semantic", "words"), ("lexical", "meaning")):
        half = Retrieval([], mode, {part: "It failed."}, 1)
        monkeypatch.setattr("wiki.api.views.retrieve", lambda *_, half=half, **__: half)
        answer = rita.get("/search?q=a")
        assert (answer.status_code, answer.json()["degraded"]) == (200, {part: "It failed."})


def test_the_context_and_its_citations(rita: Rest, turing: Page) -> None:
    page("Enigma", "Broken by [[Alan Turing]] at last.\n")
    answer = rita.get("/search?q=broken at last").json()
    assert [hit["phase"] for hit in answer["result"]] == ["words", "link"]
    assert answer["result"][1]["why"] == "linked from Enigma"
    assert answer["context"].startswith("[1] Enigma (wiki/concepts/enigma.md)\nBroken by")
    assert f"\n\n[2] Alan Turing ({turing.path})\n" in answer["context"]
    assert [citation["n"] for citation in answer["citations"]] == [1, 2]
    assert answer["tokens"] <= answer["budget"] == 6553
    assert rita.get("/search?q=broken&context_window=1").json()["budget"] == 819
    assert rita.get("/search?q=broken&context_window=999999999").json()["budget"] == 200_000
    assert len(rita.get("/search?q=broken&preset=fast").json()["result"]) == 1
    assert len(rita.get("/search?q=broken&depth=-4").json()["result"]) == 1
    assert len(rita.get("/search?q=broken&depth=7&k=1").json()["result"]) == 1
    assert "context" not in rita.get("/search?q=broken&context=false").json()
    assert rita.get("/search?q=broken&updated_since=2999-01-01T00:00:00Z").json()["result"] == []
    for wrong in ("preset=slow", "context=perhaps", "context_window=much", "depth=x", "updated_since=soon"):
        assert rita.get(f"/search?q=broken&{wrong}").status_code in (400, 422)


def test_citations_count_in_nfc_whatever_the_file_has(rita: Rest) -> None:
    decomposed = unicodedata.normalize("NFD", "Près de l'été là-bas.\n\n## École\n\nUne école à côté.\n")
    made = page("Accents", decomposed)
    answer = rita.get("/search?q=école").json()
    body = unicodedata.normalize("NFC", rita.get(f"/pages/{made.uid}").json()["content"])
    assert len(body) < len(decomposed)
    places = answer["citations"][0]["passages"]
    shown = [body[place["start"] : place["end"]] for place in places]
    assert shown
    assert all(passage in answer["context"] for passage in shown)
    assert shown[-1].endswith("Une école à côté.")


def test_the_neighbourhood_shows_the_links(rita: Rest, turing: Page) -> None:
    page("Enigma", "Broken by [[Alan Turing]].\n")
    page("Bletchley", "Where [[Enigma]] was read.\n")
    near = rita.get("/graph/neighborhood?title=Alan Turing").json()
    assert near["center"] == str(turing.uid)
    assert [node["title"] for node in near["nodes"]] == ["Alan Turing", "Enigma"]
    assert near["edges"][0]["links"] == 1
    far = rita.get("/graph/neighborhood/?title=Alan Turing&depth=9").json()
    assert {node["title"] for node in far["nodes"]} == {"Alan Turing", "Enigma", "Bletchley"}
    by_path = rita.get(f"/graph/neighborhood?title=&path={turing.path}").json()
    assert by_path["center"] == str(turing.uid)
    refused(rita.get("/graph/neighborhood?title=Nobody"), 404, "page_not_found")


def test_the_status_counts_what_is_there(rita: Rest, turing: Page, vault: VaultFolder) -> None:
    vault.write("raw/sources/a.md", "x")
    vault.write("notes/broken.md", "---\na: [\n---\n[[Nowhere]]\n")
    scan()
    status = rita.get("/status").json()
    assert (status["pages"], status["sources"], status["flagged_pages"]) == (2, 1, 1)
    assert (status["links"], status["broken_links"]) == (1, 1)
    assert status["last_scan"]["added"] == 1
    assert set(status["last_scan"]) == {
        *("added", "changed", "moved", "deleted", "files_changed", "flagged_total", "skipped_total"),
        *("seconds", "stopped"),
    }
    assert status["scan_running"] is False


def test_the_status_tells_that_scans_stop_and_that_they_go_on(rita: Rest, vault: VaultFolder) -> None:
    files = [vault.write(f"notes/{number}.md", f"note {number}") for number in range(20)]
    assert scan().pages == 20
    texts = [file.read_text() for file in files]
    for file in files[:15]:
        file.unlink()
    assert scan().stopped
    status = rita.get("/status").json()
    assert status["last_scan"]["stopped"] and status["pages"] == 20
    for file, text in zip(files[:15], texts, strict=False):
        file.write_text(text)
    scan()
    assert rita.get("/status").json()["last_scan"]["stopped"] is None


def test_properties_of_every_kind_are_valid_json(rita: Rest, vault: VaultFolder) -> None:
    vault.write("notes/a.md", "---\na: no\nb: 12:30:45\nd: 010\ng: .nan\nh: .inf\n1: x\nnull: y\ni: 2026-01-01\n---\n")
    scan()
    body = rita.get("/pages/by-title?title=a")
    assert body.status_code == 200
    assert b"NaN" not in body.content
    assert b"Infinity" not in body.content
    assert all(isinstance(key, str) for key in body.json()["frontmatter"])


def test_readiness_says_what_is_missing(nobody: Rest, vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.root.rename(vault.root.with_name("away"))
    answer = nobody.get("/health/ready")
    assert (answer.status_code, answer.json()["checks"]) == (503, {"database": True, "vault": False})

    def away(*_: Any, **__: Any) -> Any:
        raise DatabaseError("no connection to /secret")

    monkeypatch.setattr(VaultState.objects, "filter", away)
    answer = nobody.get("/health/ready/")
    told = answer.json()
    assert (told["ok"], told["checks"]) == (False, {"database": False, "vault": False})
    assert "vault_gone" in [problem["fault"] for problem in told["problems"]]
    assert b"secret" not in answer.content
    assert nobody.get("/health/live").status_code == 200
