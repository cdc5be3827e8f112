"""Three vaults that people keep, as the reader shows them: what the Markdown has is on the page."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

#: Of each vault pages in which there is much to draw, and the name of the picture that the docs have of one.
PAGES: dict[str, dict[str, str]] = {
    "quartz-docs": {
        "features/callouts.md": "vault-callouts",
        "features/Latex.md": "",
        "hosting.md": "",
        "features/syntax highlighting.md": "",
        "features/wikilinks.md": "",
    },
    "kepano": {
        "References/The Machine Stops.md": "vault-properties",
        "References/Brown butter nectarine tart.md": "",
        "Notes/Product usage analysis.md": "",
        "Daily/2023-09-12.md": "",
    },
    "ekgardt-llmwiki": {
        "knowledge/notes/Wiki vs Memory Compiler vs Fusion.md": "vault-synthesis-dark",
        "knowledge/notes/Global Multi-Project Migration Plan.md": "",
        "README.md": "",
    },
}
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_MAKES = {
    ".callout": re.compile(r"[> \t]*>[ \t]*\[!"),
    "details.callout": re.compile(r"[> \t]*>[ \t]*\[![^\]]+\][+-]"),
    "table": re.compile(r"[ \t>]*\|?[ \t]*:?-{2,}:?[ \t]*\|[-:| \t]*\Z"),
    "h1, h2, h3, h4, h5, h6": re.compile(r"#{1,6} "),
    "input[type=checkbox]": re.compile(r"[ \t]*[-*+] \[[ xX]\] "),
    ".math.block": re.compile(r"\$\$\Z"),  # two of these make one
}


def expected(file: Path) -> Counter[str]:
    """How many of each element a file's Markdown makes, counted line by line and by nothing of Synapse's."""
    made: Counter[str] = Counter(dict.fromkeys((*_MAKES, "pre"), 0))
    text = re.sub(r"\A---\n.*?\n---\n", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and line.strip(" \t>") == mark[1] else fence
        elif mark:
            fence = mark[1]
            made["pre"] += 1
        else:
            made.update(name for name, pattern in _MAKES.items() if pattern.match(line))
    made[".math.block"] //= 2
    return made


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_a_vault(name: str, serve, person, faultless, shoot, shared) -> None:  # type: ignore[no-untyped-def]
    vault = shared / "vaults" / name
    site = serve(copy=vault)
    page: Page = person(site, dark="dark" in str(PAGES[name]), viewport={"width": 1040, "height": 660})
    for path, picture in PAGES[name].items():
        page.goto(f"{site.url}/read/{path}")
        wanted = expected(vault / path)
        # A heading that says the page's title once more is not shown below it.
        title = page.locator("h1").first.inner_text()
        wanted["h1, h2, h3, h4, h5, h6"] -= f"\n# {title}\n" in (vault / path).read_text(encoding="utf-8")
        shown = Counter({which: page.locator(f".prose :is({which})").count() for which in wanted})
        assert shown == wanted, path
        # No mark of Markdown's is left over as text.
        left = page.locator(".prose :is(p, li, td):not(:has(*))").all_inner_texts()
        assert not [text for text in left if re.search(r"\[\[|\]\]|^#{1,6} |^\|.*\||\[![a-z]+\]", text)], path
        if picture:
            faultless(page)
            if picture == "vault-callouts":
                page.locator(".prose h2", has_text="Showcase").evaluate("(heading) => heading.scrollIntoView()")
            shoot(page, picture)
    page.goto(site.url)
    expect(page.locator(".figures b").first).not_to_have_text("0")
    if name == "kepano":
        shoot(page, "vault-front")
