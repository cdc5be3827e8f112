"""The hard inputs that other tools got wrong, each with the answer that is known."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest

from vault.links import Resolution, Targets, resolve
from vault.pages import ParsedPage, parse_page

Case = dict[str, Any]


@pytest.fixture
def cases(shared: Path) -> dict[str, Case]:
    listed = json.loads((shared / "cases" / "markdown-torture.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in listed}


def _bytes(file: dict[str, str]) -> bytes:
    return base64.b64decode(file["b64"]) if "b64" in file else file["text"].encode()


def _pages(case: Case) -> dict[str, ParsedPage]:
    return {
        path: parse_page(path, _bytes(file))
        for path, file in case["files"].items()
        if path.lower().endswith(".md") and "generate" not in file
    }


def _targets(case: Case) -> Targets:
    targets = Targets()
    for path in case["files"]:
        targets.add_file(path, page=path.lower().endswith(".md"))
    return targets


def _source(case: Case) -> str:
    """The note whose links the case is about: s.md, in whatever folder, else the first."""
    return next((path for path in case["files"] if path.rpartition("/")[2] == "s.md"), next(iter(case["files"])))


def _links(case: Case, source: str) -> list[str]:
    targets = _targets(case)
    return [
        f"{link.target}{link.subpath}{'' if link.alias is None else f'|{link.alias}'}"
        f"->{resolve(link.target, source=source, targets=targets).path}"
        for link in _pages(case)[source].links
    ]


def test_links_and_where_they_lead(cases: dict[str, Case]) -> None:
    known = {name: case for name, case in cases.items() if case["links"] is not None}
    assert len(known) > 25
    found = {name: _links(case, _source(case)) for name, case in known.items()}
    assert found == {name: case["links"] for name, case in known.items()}


def test_links_of_the_cases_told_in_words(cases: dict[str, Case]) -> None:
    assert _links(cases["L03"], "zzzz/deep/t.md") == ["Note->b/Note.md"]
    assert _links(cases["L05"], "wiki/o.md") == ["simdiff->wiki/simdiff.md"]
    assert _links(cases["L15"], "s.md") == [
        "Sq]uare->Sq]uare.md",
        "Inner->Inner.md",
        "wiki [link]->wiki [link].md",
        "Inner->Inner.md",
    ]
    assert _links(cases["L19"], "s.md") == []
    assert _links(cases["F01"], "s.md") == ["Foo->Foo.md", "foo->foo.md"]
    assert _links(cases["Y04"], "s.md") == []


def test_properties(cases: dict[str, Case]) -> None:
    for case in cases.values():
        if case["fm"] is not None:
            frontmatter = _pages(case)[_source(case)].frontmatter
            assert {key: frontmatter.get(key) for key in case["fm"]} == case["fm"], case["id"]


def test_property_links(cases: dict[str, Case]) -> None:
    assert _pages(cases["Y04"])["s.md"].property_links == []
    links = _pages(cases["Y05"])["s.md"].property_links
    assert [(link.property, link.target, link.subpath, link.alias) for link in links] == [
        ("up", "A", "", None),
        ("related.0", "B", "", "bee"),
        ("related.1", "A", "#h", None),
    ]


def test_an_alias_resolves_with_a_state_of_its_own(cases: dict[str, Case]) -> None:
    case = cases["L06"]
    targets = _targets(case)
    for path, page in _pages(case).items():
        for alias in page.aliases:
            targets.add_alias(alias, path)
    assert resolve("AI", source="s.md", targets=targets) == Resolution("by_alias", "Artificial Intelligence.md")


def test_embeds_and_tags(cases: dict[str, Case]) -> None:
    assert [link.kind for link in _pages(cases["L11"])["s.md"].links] == ["embed"] * 4
    assert _pages(cases["F09"])["s.md"].tags == ["y1984", "inbox/to-read", "한국어", "fff", "a_b-c", "tag"]
    assert _pages(cases["Y13"])["s.md"].tags == ["a", "c", "inbox/To-Read"]


def test_encodings_and_empty_files(cases: dict[str, Case]) -> None:
    assert [flag["code"] for flag in _pages(cases["B03"])["s.md"].flags] == ["encoding"]
    assert "\0" not in _pages(cases["B05"])["s.md"].body
    pages = _pages(cases["B07"])
    assert {path: page.title for path, page in pages.items()} == {"s.md": "s", "w.md": "w", "f.md": "T"}
    assert _pages(cases["Y10"])["s.md"].headings == [(2, "title: T")]


def test_what_is_not_valid_yaml_is_flagged_and_the_body_stays(cases: dict[str, Case]) -> None:
    for name in ("Y01", "Y02", "Y14", "Y16", "Y18", "Y19"):
        for path, page in _pages(cases[name]).items():
            if path in ("s.md", "t.md"):
                assert page.flags, (name, path)
                assert page.frontmatter == {}, (name, path)
        json.dumps([page.frontmatter for page in _pages(cases[name]).values()], allow_nan=False)


@pytest.mark.parametrize("text", ["[[" * 100_000, "[[a" + "|" * 50_000 + "]]", ">" * 5_000 + " [[A]]"])
def test_bombs(text: str) -> None:
    started = time.process_time()
    page = parse_page("s.md", text.encode())
    assert time.process_time() - started < 5  # measured 0.01 s; a quadratic pattern takes minutes
    assert len(page.links) == text.count("]]")
