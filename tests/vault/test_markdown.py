"""What counts as a link, a heading, a block id and a tag, and that every text is read in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vault.markdown import ParsedLink, parse_body, parse_property_link, rewrite_links


def shown(text: str) -> list[str]:
    """The links of a text, as target + subpath, with |alias."""
    return [
        link.target + link.subpath + ("" if link.alias is None else f"|{link.alias}") for link in parse_body(text).links
    ]


# --- wikilinks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[A]]", ["A"]),
        ("[[A#One#Two|x]] [[A#^b1]] [[#H]] [[#^x]]", ["A#One#Two|x", "A#^b1", "#H", "#^x"]),
        ("[[ A | b c ]]", ["A|b c"]),
        ("[[A|]] [[A#|x]]", ["A|", "A#|x"]),
        ("[[a|b|c]]", ["a|b|c"]),
        ("[[a\\|b]]", ["a|b"]),
        ("[[A^b1]] [[a.b/c]]", ["A^b1", "a.b/c"]),
        ("[[]] [[|x]] [[ ]] [[two\nlines]] [[two\rlines]]", []),
        ("[[Sq]uare]] [[wiki [link]]] [m:: [[Inner]]] [[Nested [[In]] x]]", ["Sq]uare", "wiki [link]", "Inner", "In"]),
        ("[[[A]]] [[[x] y]]", ["A", "[x] y"]),
        ("\\[[A]] \\\\[[B]] \\[\\[C\\]\\] \\![[D]]", ["B", "D"]),
        ("[[A]]\u2028---\u0085\x0b[[B]]\x0c", ["A", "B"]),
        ("%% [[A]] %%", ["A"]),
        ("[[https://example.com]]", ["https://example.com"]),
        ("x[^1]\n\n[^1]: [[A]]\n[^unused]: [[B]]\n\n    [[C]] goes on\n", ["A", "B", "C"]),
        ("<div>[[A]]</div>\n<a href='x'>[[B]]</a>", ["A", "B"]),
        ("title:: X\n- a\n\t- b\n\t\t- [[A]] ((6409b6a5))\n\t\t\t- [[B]]\n", ["A", "B"]),
    ],
)
def test_wikilinks(text: str, links: list[str]) -> None:
    assert shown(text) == links


def test_an_embed_is_a_link_of_its_own_kind_and_a_size_is_kept_as_written() -> None:
    links = parse_body("![[A#One|x]] ![[i.png|100x145]] \\![[b]] [[c]]").links
    assert [(link.kind, link.embed, link.target, link.alias) for link in links] == [
        ("embed", True, "A", "x"),
        ("embed", True, "i.png", "100x145"),
        ("wikilink", False, "b", None),
        ("wikilink", False, "c", None),
    ]


def test_in_a_table_an_unescaped_bar_ends_the_cell_and_the_link() -> None:
    rows = "| [[a|b]] | [[c]] |\n| [[d\\|e]] | x |\n"
    assert shown("| h | i |\n|---|:-:|\n" + rows) == ["c", "d|e"]
    assert shown("h | i\n-- | --\n" + rows + "\n[[f|g]]") == ["c", "d|e", "f|g"]
    assert shown("- h | i\n  -- | --\n  [[a|b]] | [[c]]\n") == ["c"]
    assert shown("| h |\n|---|---|\n" + rows) == ["a|b", "c", "d|e"], "not a table: the head has another width"
    assert shown(rows) == ["a|b", "c", "d|e"], "not a table: nothing delimits a head"


def test_nothing_reaches_past_its_cell_in_a_table() -> None:
    head = "| h | i | j |\n|---|---|---|\n"
    assert shown(head + "| $5/kg | [[a]] | 7$ |\n| $x$ [[b]] | c | d |\n") == ["a", "b"]
    assert shown(head + "| `x | [[a]] | y` |\n| `[[b]]` | `c\\|[[d]]` | [[e]] |\n") == ["a", "e"]
    assert shown("h | i\n--|--\n[[a]] | `x\n[[b]] | y`\n") == ["a", "b"], "nor past its row"
    assert parse_body("x | y `z\n--|--\n[[a]] | b\n").summary == ""


# --- what hides links ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("~~~\n[[A]]\n~~~\n[[B]]", ["B"]),
        ("````\n```\n[[A]]\n````\n[[B]]", ["B"]),
        ("> ```\n> [[A]]\n[[B]]", ["B"]),
        ("- ```\n  [[A]]\n- [[B]]", ["B"]),
        ("```\n[[A]] to the end", []),
        ("```js `x`\n[[A]]", ["A"]),
        ("``[[A]] ` ``  `[[B]]` ` [[C]]", ["C"]),
        ("`a\n[[A]]` [[B]]", ["B"]),
        ("`a\n\n[[A]]` [[B]]", ["A", "B"]),
        ("- `a\n- [[A]]`", ["A"]),
        ("\\`[[A]]` `b`", ["A"]),
        ("para\n    [[A]]\n\n    [[B]]\n", ["A"]),
        ("- item\n\n    [[A]]\n\n        [[B]]\n", ["A"]),
        ("1. item\n\n\t[[A]]\n", ["A"]),
        ("-     [[A]]\n\n-    [[B]]", ["B"]),
        ("\t- [[A]]", []),
        ("- a\n\t- [[A]]\n\n\t\t- [[B]]", ["A", "B"]),
        ("<!-- [[A]] --> [[B]]", ["B"]),
        ("a <!-- [[A]]\n--> [[B]] <!-- [[C]]", ["B", "C"]),
        ("<!--\n\n```\n[[A]]\n--> [[B]]\n[[C]]", ["B", "C"]),
        ("<!-- [[A]]\n\n[[B]]", []),
        ("```\n<!--\n```\n[[A]]", ["A"]),
        ("$[[1,2],[3,4]]$ costs $5 and [[A]] is $6", ["A"]),
        ("$$\n[[A]]\n$$\n[[B]] $$[[C]]$$ [[D]]", ["B", "D"]),
        ("> $$\n> [[A]]\n> $$\n> [[B]]", ["B"]),
        ("$$ is never closed\n[[A]]\n", ["A"]),
        ("So: $$\nx\n$$\n[[A]]\n\n$$\n[[B]]\n$$\n[[C]]", ["A", "C"]),
        ("> So: $$\n> x\n> $$ [[A]]\n\n$$\n[[B]]\n$$\n[[C]]", ["A", "C"]),
        ("- So: $$\n  [[A]]\n  $$ and $$\n  [[B]]\n  $$\n- [[C]]\n  $$\n  [[D]]\n  $$", ["C"]),
        ("`$$` \\$$ $x$$y$\n$$\n[[A]]\n$$\n[[B]]", ["B"]),
        ("$$\n[[A]]\n$$ (1)\n[[B]]\n\n$$\n[[C]]\n$$ ^id\n[[D]]", ["B", "D"]),
        ("a$5 [[A]] b$6 \\$[[B]]\\$", ["A", "B"]),
        ("$a\n\n[[A]]$", ["A"]),
    ],
)
def test_code_comments_and_mathematics_hide_links(text: str, links: list[str]) -> None:
    assert shown(text) == links
    crlf = text.replace("\n", "\r\n")
    assert shown(crlf) == links
    assert shown(text.replace("\n", "\r")) == links


_PIECES = [
    *("[[N]]", "[[N]]", "a", "b c", "\\", " ", "  ", "    ", "\t", "\n", "\n\n", "\n    "),
    *("- ", "* ", "+ ", "-\n", "1. ", "2. ", "- a\n", "  - b\n", "> ", ">", "# ", "## ", "---\n", "===\n", "***\n"),
    *("`", "``", "```", "```\n", "~~~\n"),
]
# Where the reference departs from CommonMark: lines of a lazy paragraph and quotes that are indented by four and more.
_REFERENCE_ERRS = re.compile(r"(?m)^ {0,3}(?: {4}|\t)\s*(?:[>#`~=+*-]|\d+[.)])|>.*\t")
_REFERENCE = MarkdownIt("commonmark", {"maxNesting": 200}).disable(
    ["html_block", "html_inline", "reference", "link", "image", "autolink", "emphasis", "text_join"]
)


def _texts(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield from _texts(token.children or [])
            yield "\n"
        else:
            yield token.content if token.type == "text" else "\n"


@settings(max_examples=300)
@given(st.lists(st.sampled_from(_PIECES), max_size=25))
def test_code_is_where_a_commonmark_parser_finds_it(pieces: list[str]) -> None:
    text = "".join(piece.replace("N", f"N{number}") for number, piece in enumerate(pieces))
    if _REFERENCE_ERRS.search(text):
        return
    expected = re.findall(r"\[\[(N\d+)\]\]", "".join(_texts(_REFERENCE.parse(text))))
    assert sorted(shown(text)) == sorted(expected)


# --- Markdown links -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "target", "subpath", "alias"),
    [
        ("[t](a.md)", "a.md", "", "t"),
        ("[t](My%20Note.md#A%20b)", "My Note.md", "#A b", "t"),
        ("[t](100%25.md)", "100%.md", "", "t"),
        ("[t](<a b.md>)", "a b.md", "", "t"),
        ('[t](a.md "title")', "a.md", "", "t"),
        ("[t](a(b).md 'title')", "a(b).md", "", "t"),
        ("[t](a\\(b.md)", "a(b.md", "", "t"),
        ("[t](#only)", "", "#only", "t"),
        ("[t]( ./a.md )", "./a.md", "", "t"),
        ("[a [b] c](d.md)", "d.md", "", "a [b] c"),
        ("[two\nlines](a.md)", "a.md", "", "two\nlines"),
        ("[`a`](b.md)", "b.md", "", "`a`"),
        ("[](a.md)", "a.md", "", ""),
        ("[[1]](a.md)", "a.md", "", "[1]"),
        ("[[1]](#ref)", "", "#ref", "[1]"),
        ("[x](Sub/We!rd%20(name)%20[x]%20%231.md)", "Sub/We!rd (name) [x] #1.md", "", "x"),
    ],
)
def test_markdown_links(text: str, target: str, subpath: str, alias: str) -> None:
    [link] = parse_body(text).links
    assert (link.kind, link.embed, link.target, link.subpath, link.alias) == ("markdown", False, target, subpath, alias)
    assert (link.start, link.end) == (0, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "[t](https://example.org/a.md)",
        "[t](mailto:a@example.org)",
        "[t](obsidian://open?vault=v)",
        "[t](//example.org/a)",
        "[t](www.example.org)",
        "[[source]](https://github.com/x/y)",
        "[t]()",
        "[t](<>)",
        "[t](a b.md)",
        "[t]\n(a.md)",
        "\\[t](a.md)",
        "[t\n\nu](a.md)",
        "[t](a.md",
        "`[t](a.md)`",
        "- [t\n- u](a.md)",
    ],
)
def test_what_leads_out_of_the_vault_or_nowhere_is_no_link(text: str) -> None:
    assert parse_body(text).links == []


def test_pictures_and_links_in_the_text_of_links() -> None:
    text = "[![alt](i.png)](a.md) [x [[B]] y](c.md) [d [e](f.md) g](h.md) ![j ![k](l.png) m](n.png) [[O]](see there)"
    assert [(link.target, link.embed, text[link.start : link.end]) for link in parse_body(text).links] == [
        ("a.md", False, "[![alt](i.png)](a.md)"),
        ("i.png", True, "![alt](i.png)"),
        ("c.md", False, "[x [[B]] y](c.md)"),
        ("B", False, "[[B]]"),
        ("f.md", False, "[e](f.md)"),
        ("n.png", True, "![j ![k](l.png) m](n.png)"),
        ("O", False, "[[O]]"),
    ]


def test_addresses_of_pictures_from_elsewhere_are_told() -> None:
    text = "![](https://a.example/?d=1) [x](https://b.example) ![c](local.png) `![](https://c.example)`"
    assert parse_body(text).remote_images == ["https://a.example/?d=1"]


# --- properties ---------------------------------------------------------------------------------


def test_a_property_is_a_link_when_it_is_exactly_one() -> None:
    assert parse_property_link(" [[B#h|bee]] ", "related.0") == ParsedLink(
        "property", False, "B", "#h", "bee", 0, 0, "related.0"
    )
    for text in ("see [[A]]", "[[A]] and [[B]]", "[[A", "![[A]]", "[t](a.md)", "[[]]", "[[A]] ", "A", "", "[[a\nb]]"):
        assert (parse_property_link(text, "k") is not None) == (text == "[[A]] ")


# --- headings, blocks, tags ---------------------------------------------------------------------


def test_headings_of_both_forms() -> None:
    text = (
        "# One\n##   Two ##\n### C# ###\n#not\n####### seven\n   # Three\n"
        "Setext *x*\nof two lines\n===\nSecond\n---\n\n---\n"
        "> # quoted\n\n- # in a list\n```\n# code\n```\n#\n"
    )
    assert parse_body(text).headings == [
        (1, "One"),
        (2, "Two"),
        (3, "C#"),
        (1, "Three"),
        (1, "Setext *x* of two lines"),
        (2, "Second"),
        (1, "in a list"),
        (1, ""),
    ]
    assert parse_body("\n---\ntitle: T\n---\n[[A]]\n").headings == [(2, "title: T")]


def test_headings_tell_where_their_lines_are() -> None:
    text = "# One\r\n\r\nText.\nSetext\nof two\n---\n> # quoted\n\n   ## Three ##\n```\n# code\n```\n#"
    body = parse_body(text)
    assert [text[start:end].strip() for start, end in body.places] == [
        "# One",
        "Text.\nSetext\nof two\n---",
        "## Three ##",
        "#",
    ]
    assert len(body.places) == len(body.headings)


@pytest.mark.parametrize(
    "text",
    [
        "```\none\n\n\ntwo\n```",
        "```\none\n\n```",
        "~~~\n\n\none\n\n~~~",
        "```\none\n\nnever closed",
        "<!-- one\n\ntwo -->",
        "$$\na\n\nb\n$$",
    ],
)
@pytest.mark.parametrize("indent", ["", "- "])
def test_what_is_no_text_is_hidden_in_one_piece(text: str, indent: str) -> None:
    inner = text if not indent else "\n".join("  " + line if line else "" for line in text.split("\n"))[2:]
    body = parse_body(f"before\n\n{indent}{inner}\n\n# After\n")
    assert len(body.hidden) == 1
    start, end = body.hidden[0]
    for blank in re.finditer(r"(?<=\n)\n", inner):
        assert start < len(f"before\n\n{indent}") + blank.start() <= end


def test_block_ids_stand_at_the_end_of_a_block() -> None:
    text = "a ^one\n\nb ^not-here\nc ^two  \n\n- item ^three\n- item\n\n"
    text += "| t |\n|---|\n\n^four\n\n`x ^five`\n\na^six\n\nx ^last"
    assert parse_body(text).blocks == ["one", "two", "three", "four", "last"]


def test_tags() -> None:
    text = (
        "#1984 #y1984 #inbox/to-read #한국어 a#no http://x/#no \\#no `#no` [[A#no]] # h\n"
        "#fff #a_b-c, (#no2) #tag. #FFF #🎉 #- ## #标签。 <!-- #no -->\n```\n#no\n```\n[#no](x.md) [x](#no)\n- #last/\n"
    )
    assert parse_body(text).tags == ["y1984", "inbox/to-read", "한국어", "fff", "a_b-c", "tag", "🎉", "标签", "last"]


# --- prose --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("# T\n\n![[i.png]]\n\n#tag #other\n\n| a | b |\n|---|---|\n| c | d |\n\nFirst one. Second one.", "First one."),
        ("a | b\n--|--\nc | d\n\nProse", "Prose"),
        ("> [!note] Title\n> Said in a callout. More.", "Said in a callout."),
        ("See [[wiki/a#H|Ada]], [[B]], [c](d.md) and **bold** `code` ==x== ~~y~~ _z_ snake_case[^1]!", None),
        ("Dr. A. Turing wrote e.g. this... and that. Then he left.", "Dr. A. Turing wrote e.g. this... and that."),
        ("图灵提出了“图灵机”。后来他去了英国。", "图灵提出了“图灵机”。"),
        ("これは本です！次の文。", "これは本です！"),
        ("```\ncode here.\n```\n<!-- no. -->\n%% hidden %% After \\*code\\*. Next.", "After *code*."),
        ("- only\n- a list. Yes", "only"),
        ("key:: value\nProse. More", "Prose."),
        ("x\n===\n\n", ""),
        ("", ""),
        ("---\n\n***", ""),
        ("Wait! What? Yes.", "Wait!"),
        ("Version 1.5 of it ^block-id", "Version 1.5 of it"),
    ],
)
def test_the_summary_is_the_first_sentence_of_prose(text: str, summary: str | None) -> None:
    expected = "See Ada, B, c and bold code x y z snake_case!" if summary is None else summary
    assert parse_body(text).summary == expected


def test_a_long_sentence_is_cut_between_words() -> None:
    summary = parse_body("word " * 200).summary
    assert len(summary) <= 240
    assert summary.endswith("word…")
    assert len(parse_body("字" * 500).summary) == 240


def test_words_are_counted_in_every_script() -> None:
    assert parse_body("one two\nthree").words == 3
    assert parse_body("知識管理 is four and two words").words == 9
    assert parse_body("café naïve — ok").words == 4
    assert parse_body("a\u00a0b\u2003c\u3000d\u0085e\u1680f\x1fg").words == 7
    assert parse_body("\ud800 x").words == 2


@given(st.text(st.sampled_from("ab \n\té“—\u00a0\u0085\u1680\u2003\u3000，。識管䷀ひ한กខ𠀀😀ﬁ"), max_size=40))
def test_each_character_of_a_script_without_spaces_is_a_word(text: str) -> None:
    unspaced = "識管䷀ひกខ𠀀"
    spaced = "".join(" " if character in unspaced else character for character in text)
    assert parse_body(text).words == len(spaced.split()) + sum(map(text.count, unspaced))


# --- rewriting ----------------------------------------------------------------------------------


def test_links_are_replaced_where_they_stand() -> None:
    text = "a [[X]] `[[X]]`\r\n![[X|y]] [t](X.md) [see [[X]] z](X.md)\u2028[[Y]]"

    def replace(link: ParsedLink) -> str | None:
        if link.target not in ("X", "X.md"):
            return None
        return f"[{link.alias}](new.md)" if link.kind == "markdown" else "[[new]]"

    expected = "a [[new]] `[[X]]`\r\n[[new]] [t](new.md) [see [[new]] z](new.md)\u2028[[Y]]"
    assert rewrite_links(text, replace) == expected
    assert rewrite_links(text, lambda link: None) is text


_SOUP = st.lists(
    st.sampled_from(
        [
            *_PIECES,
            *("[[a|b]]", "![[c#d]]", "[e](f.md)", "![g](h.png)", "](", "]]", "[[", "]", "[", "(", ")", "!", "[^1]: "),
            *(
                "<!--",
                "-->",
                "<",
                "%%",
                "$$",
                "$",
                "\r\n",
                "\r",
                "|",
                "|-|-|\n",
                "#t ",
                " ^b\n",
                "漢",
                "\u2028",
                "\x00",
            ),
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300)
@given(st.one_of(_SOUP, st.text()))
@example("[[a]](#")
def test_offsets_are_exact_and_nothing_raises(text: str) -> None:
    parsed = parse_body(text)
    for link in parsed.links:
        written = text[link.start : link.end]
        again = parse_body(written).links
        assert written.startswith("!" if link.embed else "[")
        if link.kind == "markdown":
            assert written.endswith(")")
        else:
            assert written.endswith("]]")
            assert (again[0].target, again[0].subpath, again[0].alias) == (link.target, link.subpath, link.alias)
    assert [link.start for link in parsed.links] == sorted({link.start for link in parsed.links})
    assert rewrite_links(text, lambda link: text[link.start : link.end] if link.kind != "markdown" else None) == text
    assert len(parsed.summary) <= 240
    assert "\n" not in parsed.summary
