"""Sources that no page rests on: what cites one, and which files are no sources of their own."""

from __future__ import annotations

import unicodedata

import pytest

from reviews.producers.uncited import UncitedSource
from tests.conftest import VaultFolder
from tests.reviews.found import about, found

pytestmark = pytest.mark.django_db

PAPER = "raw/sources/papers/Attention.pdf"


def page(sources: str, body: str = "Text.") -> str:
    return f"---\ntitle: A page\nsources: {sources}\n---\n{body}\n"


def test_a_source_that_nobody_has_read(vault_folder: VaultFolder) -> None:
    name = "raw/sources/2024-05-17-attention-is-all-you-need (1).pdf"
    (finding,) = found(UncitedSource(), vault_folder, {name: "x", "wiki/a.md": page("[]")})
    assert finding.file is not None
    assert finding.file.path == name
    assert finding.target == name
    assert finding.title == f"No page cites {name}"
    assert finding.search_queries == ["attention is all you need"]
    assert finding.evidence == [finding.file.content_hash]


CITING = {
    "the whole path": page(f"[{PAPER}]"),
    "relative to the sources": page("[papers/Attention.pdf]"),
    "the name alone": page("[Attention.pdf]"),
    "the name without extension": page("[Attention]"),
    "the name in another case": page("[attention.PDF]"),
    "an old folder": page("[inbox/Attention.pdf]"),
    "with a page number": page('["papers/Attention.pdf#page=3"]'),
    "with a remark": page('["papers/Attention.pdf, p. 3"]'),
    "one text instead of a list": page(PAPER),
    "a property link": page('["[[Attention.pdf]]"]'),
    "a link": page("[]", "See [[Attention.pdf]]."),
    "an embed": page("[]", "![[Attention.pdf#page=2]]"),
    "a Markdown link": page("[]", f"See [it](/{PAPER})."),
}
NOT_CITING = {
    "another source": page("[papers/Attention-2.pdf]"),
    "an address": page('["https://example.org/papers/Attention.pdf"]'),
    "plain text": page("[]", f"It lies at {PAPER}."),
    "a link in code": page("[]", "`[[Attention.pdf]]`"),
}


@pytest.mark.parametrize("case", CITING)
def test_what_cites_a_source(vault_folder: VaultFolder, case: str) -> None:
    assert found(UncitedSource(), vault_folder, {PAPER: "x", "wiki/a.md": CITING[case]}) == []


@pytest.mark.parametrize("case", NOT_CITING)
def test_what_does_not_cite_a_source(vault_folder: VaultFolder, case: str) -> None:
    assert about(found(UncitedSource(), vault_folder, {PAPER: "x", "wiki/a.md": NOT_CITING[case]})) == [PAPER]


def test_a_bare_name_means_the_source_at_that_place_if_there_is_one(vault_folder: VaultFolder) -> None:
    files = {PAPER: "x", "raw/sources/Attention.pdf": "y", "wiki/a.md": page("[Attention.pdf]")}
    assert about(found(UncitedSource(), vault_folder, files)) == [PAPER]


@pytest.mark.parametrize("citing", ["wiki/index.md", "wiki/log.md", "schema.md"])
def test_reserved_pages_cite_nothing(vault_folder: VaultFolder, citing: str) -> None:
    assert about(found(UncitedSource(), vault_folder, {PAPER: "x", citing: page(f"[{PAPER}]")})) == [PAPER]


@pytest.mark.parametrize(
    "path",
    [
        "raw/sources/photo.JPG",
        "raw/sources/article_files/style.css",
        "raw/sources/article_files/logo.svg",
        "raw/sources/README.md",
        "raw/sources/LICENSE",
        "raw/sources/Thumbs.db",
        "raw/sources/desktop.ini",
        "raw/sources/.DS_Store",
        "raw/sources/a.pdf.part",
        "raw/sources/a.sync-conflict-20240101-101010-ABCDEFG.md",
        "raw/assets/a.pdf",
        "wiki/a.pdf",
        "notes.txt",
    ],
)
def test_what_asks_nothing(vault_folder: VaultFolder, path: str) -> None:
    assert found(UncitedSource(), vault_folder, {path: "x"}) == []


def test_an_empty_file_asks_nothing(vault_folder: VaultFolder) -> None:
    assert found(UncitedSource(), vault_folder, {"raw/sources/a.md": ""}) == []


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_in_any_form(vault_folder: VaultFolder, form: str) -> None:
    path = unicodedata.normalize(form, "raw/sources/Résumé 知識.md")  # type: ignore[arg-type]
    cited = page('["raw/sources/R\\u00e9sum\\u00e9 知識.md"]')
    assert about(found(UncitedSource(), vault_folder, {path: "x"})) == [path]
    assert found(UncitedSource(), vault_folder, {"wiki/a.md": cited}) == []


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("AttentionIsAllYouNeed.pdf", ["Attention Is All You Need"]),
        ("knowledge_graphs_v2_final.docx", ["knowledge graphs"]),
        ("知識管理.md", ["知識管理"]),
        ("1706.03762v5.pdf", []),
        ("deadbeef12.txt", []),
    ],
)
def test_queries(vault_folder: VaultFolder, name: str, query: list[str]) -> None:
    (finding,) = found(UncitedSource(), vault_folder, {f"raw/sources/{name}": "x"})
    assert finding.search_queries == query


def test_excluded_pages_cite_nothing(vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_EXCLUDE = ["Archive"]
    assert about(found(UncitedSource(), vault_folder, {PAPER: "x", "Archive/a.md": page(f"[{PAPER}]")})) == [PAPER]
