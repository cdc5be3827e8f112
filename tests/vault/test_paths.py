"""Which paths are well formed, which may be written, and what each is to the index."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.errors import ErrorCode, SynapseError
from vault.paths import (
    RESERVED,
    check_path,
    check_writable_name,
    classify,
    compile_exclude,
    is_allowed,
    is_conflict_name,
    is_reserved,
    source_path,
)

REFUSED = [
    *("", ".", "/", " ", "\t", "..", "../x", "../../../../etc/passwd", "../../elsewhere/vault/secret.md"),
    *("/etc/passwd", "//host/x", "raw/../raw/a.md", "a/..", "raw/a.md/", "raw//a.md", "./raw/a.md", "raw/./a.md"),
    *("..\\..\\evil.md", "raw\\a.md", "C:\\Windows\\win.ini", "C:/x", "c:x", "\\\\host\\share\\x", "\\\\?\\C:\\x"),
    *("file:///etc/passwd", "file:/etc/passwd", "http://x/y", "file:"),
    *("raw/a.md\0.png", "a\nb.md", "a\x7f.md", "a\x85.md", "raw/\ud800.md"),
    *(".env", ".git/config", ".Git/config", "raw/sub/.git", ".obsidian/plugins/x/data.json", ".OBSIDIAN/app.json"),
    *(".synapse/state.db", ".trash/x.md", "wiki/.hidden.md", "...", "a/..."),
    *("raw/" + "a" * 256, "raw/" + "a" * 253 + ".md", "é" * 127 + ".md", "/".join(["a" * 200] * 21)),
]
ALLOWED = [
    *("a.md", "raw/a.md", "wiki/entities/ünïcode.md", "日本/語.md", "a..b/c...md", "-rf", "a b.md", "Re: notes.md"),
    *(
        "%2e%2e%2fetc",
        "%252e%252e%252fetc",
        "．．．etc",
        "\u2024\u2024/x",
        "OBSIDI~1/app.json",
        "CON.md",
        "a.md::$DATA",
    ),
    *("\u202egnp.md", "a\u200b.md", "~/x", "$HOME/x", "a" * 255, "é" * 126 + ".md", "/".join(["a" * 200] * 20)),
]


def refusal(path: str, check=check_path) -> str:  # type: ignore[no-untyped-def]
    with pytest.raises(SynapseError) as caught:
        check(path)
    assert caught.value.code is ErrorCode.PATH_NOT_ALLOWED
    return str(caught.value.message)


def test_refused_paths_share_one_answer() -> None:
    assert len({refusal(path) for path in REFUSED}) == 1


@pytest.mark.parametrize("path", ALLOWED)
def test_allowed_paths_stay_as_they_are(path: str) -> None:
    assert check_path(path) == path


@given(st.text())
def test_an_allowed_path_has_one_spelling(path: str) -> None:
    if is_allowed(path):
        parts = path.split("/")
        assert str(Path(path)) == path
        assert not Path(path).is_absolute()
        assert not any(part.startswith(".") or not part or len(part.encode()) > 255 for part in parts)
        assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in path)


def test_sources_are_named_from_the_root_or_from_their_folder() -> None:
    assert source_path("raw/sources/a/b.md") == "raw/sources/a/b.md"
    assert source_path("a/b.md") == "raw/sources/a/b.md"
    assert source_path("raw") == "raw"  # a folder: reading says so
    assert source_path("raw/sources") == "raw/sources"
    outside = [
        "raw/assets/x.png",
        "raw/a.md",
        "wiki/index.md",
        "WIKI/index.md",
        "raw/sources/../assets/x",
        "Raw/x",
        *REFUSED,
    ]
    assert {refusal(path, source_path) for path in outside} == {refusal("..")}


# --- names that may be written ---


@pytest.mark.parametrize(
    "name",
    [
        *("evil.py", "x.html", "x.svg", "x.md.exe", "x", ".md"),
        *("CLAUDE.md", "claude.MD", "AGENTS.md", "Gemini.md", "wiki/CLAUDE.local.md", "x/copilot-instructions.md"),
        *("SKILL.md", "style.instructions.md", "do.prompt.md"),
        *(
            "CON.md",
            "wiki/nul/x.md",
            "aux.md",
            "COM1.md",
            "lpt¹.md",
            "a.md::$DATA",
            "a:b.md",
            'a".md',
            "a?.md",
            "con .md",
        ),
        *("wiki /x.md", "wiki./x.md", " x.md", "x/ y.md"),
        *("\u202egnp.md", "a\u200b.md", "a\u2060b.md", "a\u3164.md", "a\ufeff.md", "a\u2028b.md", "CLAUDE~1.md"),
        *("x.sync-conflict-20260818-173636-D4LGQYW.md", "x (conflicted copy).md", "~$x.md", ".#x.md", "x.md~"),
        *REFUSED,
    ],
)
def test_names_that_are_not_written(name: str) -> None:
    refusal(name, check_writable_name)


@pytest.mark.parametrize(
    "name", ["wiki/a.md", "A B.MD", "é.md", "console.md", "com10.md", "claudes.md", "a" * 252 + ".md"]
)
def test_names_that_are_written(name: str) -> None:
    assert check_writable_name(name) == name


def test_a_page_that_exists_may_have_a_name_that_is_not_portable() -> None:
    for name in ("What?.md", "aux.md", "👩\u200d💻 Dev.md", "x/ y.md"):
        refusal(name, check_writable_name)
        assert check_writable_name(name, existing=True) == name
    for name in ("CLAUDE.md", "x.py", "x (conflicted copy).md"):
        refusal(name, lambda path: check_writable_name(path, existing=True))


# --- what a path is ---


def test_kinds() -> None:
    kinds = {
        "a.md": "page",
        "wiki/B.MD": "page",
        "rawfish/a.md": "page",
        "notes/raw/a.md": "page",
        "raw/sources/a.md": "source",
        "raw/sources/deep/b.pdf": "source",
        "raw/assets/c.png": "attachment",
        "raw/d.md": "attachment",
        "canvas.canvas": "attachment",
        "x.sync-conflict-20260818-173636-D4LGQYW.md": "conflict",
        "x (conflicted copy).md": "conflict",
        "x (Ada's conflicted copy 2026-01-02).md": "conflict",
        "x (Conflicted copy phone 202601021200).md": "conflict",
        "wiki/x.md~": "conflict",
        "~$x.docx": "conflict",
        "#x.md#": "conflict",
        "raw/sources/x.md.tmp": "conflict",
        ".#x.md": None,
        ".syncthing.x.tmp": None,
        "a/.DS_Store": None,
        ".obsidian/app.json": None,
    }
    assert {path: classify(path) for path in kinds} == kinds


def test_names_about_conflicts_are_no_conflict_copies() -> None:
    for name in (
        "Conflict.md",
        "sync-conflict.md",
        "On conflicted copies.md",
        "C# notes.md",
        "a~b.md",
        "temp.md",
        "x (2).md",
    ):
        assert not is_conflict_name(name)


@pytest.mark.parametrize(
    ("pattern", "left_out", "kept"),
    [
        (
            "Archive",
            ["Archive/x.md", "a/Archive/b/c.md", "Archive"],
            ["Archived/x.md", "archive/x.md", "a/MyArchive.md"],
        ),
        ("Archive/", ["Archive/x.md"], ["Archive.md"]),
        ("templates/*", ["templates/x.md", "templates/a/b.md"], ["a/templates/x.md", "templates.md"]),
        ("/drafts", ["drafts/x.md"], ["a/drafts/x.md"]),
        ("**/x.md", ["x.md", "a/x.md", "a/b/x.md"], ["ax.md", "x.md.md"]),
        ("a/**/z", ["a/z", "a/b/c/z/w.md"], ["b/a/z"]),
        ("a/**", ["a/b.md", "a/b/c.md"], ["a.md"]),
        ("*.draft.md", ["x.draft.md", "a/y.draft.md"], ["draft.md"]),
        ("?.md", ["a.md", "b/c.md"], ["ab.md"]),
        ("[x].md", ["[x].md"], ["x.md"]),
        ("cafe\u0301", ["caf\u00e9/x.md", "cafe\u0301/x.md"], ["cafe/x.md"]),
    ],
)
def test_exclusions(pattern: str, left_out: list[str], kept: list[str]) -> None:
    excluded = compile_exclude((pattern,))
    assert excluded is not None
    assert [path for path in left_out + kept if excluded(path)] == left_out
    assert {classify(path, [pattern]) for path in left_out} == {None}


def test_empty_patterns_exclude_nothing() -> None:
    assert compile_exclude(("", " ", "/")) is None
    assert classify("a.md", ["", "other"]) == "page"


def test_reserved_pages_in_any_case() -> None:
    assert all(is_reserved(path) for path in RESERVED)
    assert is_reserved("wiki/Index.md")
    assert not any(
        is_reserved(path) for path in ("index.md", "wiki/entities/index.md", "wiki/schema.md", "a/purpose.md")
    )


def test_path_attacks_of_the_shared_cases(shared: Path) -> None:
    """Rows whose input is one path as it is written there: refused, or a literal name."""
    rows = [json.loads(line) for line in (shared / "cases" / "attacks.jsonl").read_text().splitlines()]
    inputs = {row["id"]: row["input"] for row in rows if row["surface"] == "read_source_file"}
    for row in ("A001", "A002", "A004", "A005", "A021"):
        refusal(inputs[row], source_path)
    for row in ("A011", "A025", "A030", "A034"):
        for path in inputs[row].split(" , "):
            refusal(path, source_path)
    assert check_path(inputs["A024"]) == inputs["A024"]
