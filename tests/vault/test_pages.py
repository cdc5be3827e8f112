"""From the bytes of a file to what the index keeps of a page."""

from __future__ import annotations

import codecs
import dataclasses
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.links import Targets, resolve
from vault.markdown import ParsedLink
from vault.pages import parse_page


def test_a_page_in_full() -> None:
    text = (
        "---\ntitle: Alan Turing\ntype: entity\nlang: en-GB\naliases: [A. M. Turing]\ntags: [people, '#Logic']\n"
        'sources: [raw/sources/a.md]\nrelated:\n  - "[[Ada|her]]"\n  - {who: "[[B#h]]"}\nnote: see [[C]]\n---\n'
        "# Head\nHe worked with [[Ada]]. Later not. #logic #math ^b1\n"
    )
    page = parse_page("wiki/entities/alan-turing.md", text.encode())
    assert (page.path, page.title, page.type, page.lang) == (
        "wiki/entities/alan-turing.md",
        "Alan Turing",
        "entity",
        "en",
    )
    assert (page.aliases, page.tags, page.sources) == (
        ["A. M. Turing"],
        ["people", "Logic", "math"],
        ["raw/sources/a.md"],
    )
    assert (page.summary, page.headings, page.blocks) == ("He worked with Ada.", [(1, "Head")], ["b1"])
    assert [(link.target, page.body[link.start : link.end]) for link in page.links] == [("Ada", "[[Ada]]")]
    assert [(link.property, link.target, link.subpath, link.alias) for link in page.property_links] == [
        ("related.0", "Ada", "", "her"),
        ("related.1.who", "B", "#h", None),
    ]
    assert text[page.body_offset :] == page.body
    assert page.flags == []
    with pytest.raises(dataclasses.FrozenInstanceError):
        page.title = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("path", "frontmatter", "title", "kind"),
    [
        ("a/My Note.MD", "", "My Note", None),
        ("wiki/concepts/x.md", "title: ''", "x", "concept"),
        ("wiki/concepts/x.md", "title: 1.10\ntype: entity", "1.10", "entity"),
        ("wiki/concepts/x.md", "title: [a]\ntype: other", "x", "concept"),
        ("wiki/x.md", "title: ' spaced '\ntype: Entity", "spaced", None),
        ("wiki/synthesis/deep/x.md", 'title: "two\\nlines"', "two lines", "synthesis"),
        ("v1.2.md", "other: 1", "v1.2", None),
        ("notes/concepts/x.md", "type: [entity]", "x", None),
    ],
)
def test_title_and_type(path: str, frontmatter: str, title: str, kind: str | None) -> None:
    page = parse_page(path, f"---\n{frontmatter}\n---\n".encode() if frontmatter else b"text")
    assert (page.title, page.type) == (title, kind)


def test_titles_are_composed() -> None:
    decomposed = unicodedata.normalize("NFD", "Café")
    assert parse_page(f"{decomposed}.md", b"").title == "Café"
    assert parse_page("x.md", f"---\ntitle: {decomposed}\n---\n".encode()).title == "Café"


@pytest.mark.parametrize(
    ("data", "body", "flagged"),
    [
        (b"caf\xe9 [[A]]\n", "caf\ufffd [[A]]\n", True),
        (b"a\x00b [[A]]\n", "a\ufffdb [[A]]\n", True),
        (codecs.BOM_UTF8 + b"---\ntitle: T\n---\n[[A]]\n", "[[A]]\n", False),
        (codecs.BOM_UTF16_LE + "[[A]]\n".encode("utf-16-le"), "[[A]]\n", True),
        (codecs.BOM_UTF16_BE + "[[A]]\n".encode("utf-16-be"), "[[A]]\n", True),
        (codecs.BOM_UTF32_LE + "[[A]]\n".encode("utf-32-le"), "[[A]]\n", True),
        (codecs.BOM_UTF32_BE + "[[A]]\n".encode("utf-32-be"), "[[A]]\n", True),
        (b"---\r\ntitle: T\r\n---\r\n[[A]]\r\n", "[[A]]\r\n", False),
        ("x\u2028---\u0085[[A]]\n".encode(), "x\u2028---\u0085[[A]]\n", False),
    ],
)
def test_encodings(data: bytes, body: str, flagged: bool) -> None:
    page = parse_page("s.md", data)
    assert page.body == body
    assert [link.target for link in page.links] == ["A"]
    assert [flag["code"] for flag in page.flags] == ["encoding"] * flagged
    assert "\ufeff" not in page.title + page.body


def test_a_flag_says_where_and_holds_no_content() -> None:
    [flag] = parse_page("s.md", b"one\ntwo secret \xff\n").flags
    assert flag["reason"].startswith("Line 2:")
    assert "secret" not in flag["reason"]


def test_a_template_keeps_its_property_links_beside_a_placeholder() -> None:
    text = '---\ncategories:\n  - "[[Albums]]"\ncreated: {{date}}\nlist:\n  - {{x}}\nup: "[[B]]"\n---\n[[A]]\n'
    page = parse_page("Templates/x.md", text.encode())
    assert [(link.property, link.target) for link in page.property_links] == [("categories.0", "Albums"), ("up", "B")]
    assert page.frontmatter == {}
    assert len(page.flags) == 1
    assert [link.target for link in page.links] == ["A"]


def test_broken_frontmatter_is_flagged_and_the_body_is_read() -> None:
    page = parse_page("s.md", b'---\ntags:\n\t- a\nup: "[[B]]"\n---\n[[A]]\n')
    assert (page.frontmatter, page.property_links, page.title) == ({}, [], "s")
    assert page.flags
    assert [link.target for link in page.links] == ["A"]


@given(st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: f"---\n{text}\n---\n{text}".encode())))
def test_any_bytes_are_a_page(data: bytes) -> None:
    page = parse_page("wiki/concepts/x.md", data)
    json.dumps([page.frontmatter, page.flags, page.tags], allow_nan=False)
    assert "\0" not in page.body
    assert page.title
    for link in page.links:
        assert page.body[link.start : link.end].startswith("!" if link.embed else "[")


_SMALL_VAULT = {
    "index.md": "[[Ada]] [[simdiff]] [[missing]] ![[logo.png]] [[Countess]] [[King of Notes|x]] [[#Here]]",
    "wiki/entities/ada.md": (
        "---\ntitle: Ada Lovelace\naliases: [Countess]\n---\n[[simdiff]] [eng](../concepts/engine.md#A%20b)"
    ),
    "wiki/concepts/engine.md": "[[entities/ada]] [[ADA.md]] [ada](/wiki/entities/ada) [out](https://example.org)",
    "wiki/concepts/simdiff.md": "---\nup: '[[engine]]'\n---\n[[Ada Lovelace]] ![p](logo.png)",
    "raw/simdiff.md": "",
    "a/kings.md": "---\ntitle: King of Notes\n---\n",
    "b/kings.md": "---\ntitle: King of Notes\n---\n",
    "assets/logo.png": "",
}


def test_a_small_vault() -> None:
    targets = Targets()
    pages = {path: parse_page(path, text.encode()) for path, text in _SMALL_VAULT.items() if path.endswith(".md")}
    for path in _SMALL_VAULT:
        targets.add_file(path, page=path in pages)
    for path, page in pages.items():
        targets.add_title(page.title, path)
        for alias in page.aliases:
            targets.add_alias(alias, path)

    def answer(path: str, link: ParsedLink) -> tuple[str, str, str | None]:
        found = resolve(link.target, source=path, targets=targets, markdown=link.kind == "markdown")
        return link.target, found.state, found.path

    answers = {
        path: [answer(path, link) for link in [*page.links, *page.property_links]] for path, page in pages.items()
    }
    assert answers == {
        "index.md": [
            ("Ada", "resolved", "wiki/entities/ada.md"),
            ("simdiff", "resolved", "raw/simdiff.md"),
            ("missing", "broken", None),
            ("logo.png", "resolved", "assets/logo.png"),
            ("Countess", "by_alias", "wiki/entities/ada.md"),
            ("King of Notes", "ambiguous", None),
            ("", "self", "index.md"),
        ],
        "wiki/entities/ada.md": [
            ("simdiff", "resolved", "raw/simdiff.md"),
            ("../concepts/engine.md", "resolved", "wiki/concepts/engine.md"),
        ],
        "wiki/concepts/engine.md": [
            ("entities/ada", "resolved", "wiki/entities/ada.md"),
            ("ADA.md", "resolved", "wiki/entities/ada.md"),
            ("/wiki/entities/ada", "resolved", "wiki/entities/ada.md"),
        ],
        "wiki/concepts/simdiff.md": [
            ("Ada Lovelace", "by_title", "wiki/entities/ada.md"),
            ("logo.png", "resolved", "assets/logo.png"),
            ("engine", "resolved", "wiki/concepts/engine.md"),
        ],
        "raw/simdiff.md": [],
        "a/kings.md": [],
        "b/kings.md": [],
    }
