"""Three real vaults: every link, property link, Markdown link and heading, and where each link leads."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from vault.links import Targets, resolve
from vault.pages import ParsedPage, parse_page

VAULTS = ["kepano", "quartz-docs", "ekgardt-llmwiki"]
# Folders and a fixture of that repository which its authors left out of the vault they counted.


def _files(folder: Path) -> list[str]:
    listed = folder.parent / f"{folder.name}.attachments.txt"
    others = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    return sorted({str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()} | set(others) - {""})


@pytest.fixture(params=VAULTS)
def known(request: pytest.FixtureRequest, shared: Path) -> tuple[dict[str, Any], dict[str, ParsedPage], Targets]:
    folder = shared / "vaults" / request.param
    expected = json.loads((folder.parent / "expected" / f"{request.param}.json").read_text(encoding="utf-8"))
    targets = Targets()
    for path in _files(folder):
        targets.add_file(path, page=path.endswith(".md"))
    pages = {path: parse_page(path, (folder / path).read_bytes()) for path in expected["notes"]}
    return expected["notes"], pages, targets


def test_every_link_and_where_it_leads(known: tuple[dict[str, Any], dict[str, ParsedPage], Targets]) -> None:
    notes, pages, targets = known
    for path, note in notes.items():
        found = [
            {
                "target": link.target,
                "sub": link.subpath,
                "alias": link.alias,
                "embed": link.embed,
                "to": resolve(link.target, source=path, targets=targets).path,
            }
            for link in pages[path].links
            if link.kind in ("wikilink", "embed")
        ]
        assert found == note["links"], path


def test_every_property_link(known: tuple[dict[str, Any], dict[str, ParsedPage], Targets]) -> None:
    notes, pages, targets = known
    for path, note in notes.items():
        found = [
            {
                "key": link.property,
                "target": link.target,
                "sub": link.subpath,
                "alias": link.alias,
                "to": resolve(link.target, source=path, targets=targets).path,
            }
            for link in pages[path].property_links
        ]
        assert found == note["property_links"], path


def test_every_markdown_link(known: tuple[dict[str, Any], dict[str, ParsedPage], Targets]) -> None:
    notes, pages, targets = known
    for path, note in notes.items():
        found = Counter(
            (link.target, resolve(link.target, source=path, targets=targets, markdown=True).path)
            for link in pages[path].links
            if link.kind == "markdown" and link.target
        )
        assert found == Counter((link["href"].partition("#")[0], link["to"]) for link in note["md_links"]), path


def test_every_heading(known: tuple[dict[str, Any], dict[str, ParsedPage], Targets]) -> None:
    notes, pages, _ = known
    for path, note in notes.items():
        assert [text for _, text in pages[path].headings] == note["headings"], path


def test_offsets_are_those_of_the_links(known: tuple[dict[str, Any], dict[str, ParsedPage], Targets]) -> None:
    _, pages, _ = known
    for page in pages.values():
        for link in page.links:
            written = page.body[link.start : link.end]
            assert written.startswith("!" if link.embed else "["), page.path
            assert written.endswith(")" if link.kind == "markdown" else "]]"), page.path
