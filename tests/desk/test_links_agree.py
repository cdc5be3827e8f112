"""The links that are shown are those that the index has: of the torture cases, of whole vaults, of any text."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from desk.rendering import Rendered, draw
from tests.conftest import VaultFolder
from vault.markdown import comments
from vault.pages import ParsedPage, parse_page

VAULTS = ["ekgardt-llmwiki", "kepano", "quartz-docs"]
PIECES = [
    *(
        "[[Alan]]",
        "![[Alan]]",
        "[[Gone|shown]]",
        "[t](Alan.md)",
        "![p](plan.png)",
        "[[A\\|b]]",
        "[[#x]]",
        "[a [[Alan]] b]",
    ),
    *("**", "*", "_", "`", "``", "~~", "==", "$", "$$", "%%", "[", "]", "(", ")", "!", "\\", "<", ">", "|", "#", "^x"),
    *("\n", "\n\n", " ", "    ", "- ", "> ", "1. ", "# ", "```\n", "| a |\n|---|\n", "> [!note] ", "[^1]", "[^1]: "),
    *("<div>", "</div>", "<!--", "-->", "<b>", "text", "ä", "https://example.org/", "---\n"),
]


def expected(page: ParsedPage) -> set[int]:
    """The links of a page but those in comments, which nobody sees."""
    hidden = comments(page.body)
    return {
        number for number, link in enumerate(page.links) if not any(start <= link.start < end for start, end in hidden)
    }


def test_all_links_of_the_torture_cases_are_shown(shared: Path, vault_folder: VaultFolder, db: None) -> None:
    cases = json.loads((shared / "cases" / "markdown-torture.json").read_text(encoding="utf-8"))
    count = 0
    for case in cases:
        for path, file in case["files"].items():
            if "generate" in file or not path.lower().endswith(".md"):
                continue
            data = base64.b64decode(file["b64"]) if "b64" in file else file["text"].encode()
            page = parse_page(path, data)
            assert draw(page).shown >= expected(page), case["id"]
            count += len(page.links)
    assert count


@pytest.mark.parametrize("name", VAULTS)
def test_all_links_of_a_vault_are_shown(shared: Path, vault_folder: VaultFolder, db: None, name: str) -> None:
    count = 0
    for file in sorted((shared / "vaults" / name).rglob("*.md")):
        page = parse_page(str(file.relative_to(shared / "vaults" / name)), file.read_bytes())
        drawn = draw(page)
        assert not drawn.problem
        assert drawn.shown == expected(page), page.path
        count += len(page.links)
    assert count


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("- [[Alan]]\n\n      [[Alan]]")
@example("==[[Alan]]== **[[Alan]]**")
def test_no_text_breaks_the_drawing(drawn: Callable[[str], Rendered], text: str) -> None:
    page = parse_page("notes/Page.md", text.encode())
    found = drawn(text)
    assert found.shown <= set(range(len(page.links)))  # nothing is made up: code is never a link here either
    assert "\ufdd0" not in found.html
    assert not found.problem
