"""What a page's Markdown is drawn as."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from desk.rendering import Rendered
from tests.conftest import VaultFolder

Draw = Callable[[str], Rendered]


def has(drawn: Rendered, *parts: str) -> None:
    for part in parts:
        assert part in drawn.html, drawn.html


def lacks(drawn: Rendered, *parts: str) -> None:
    for part in parts:
        assert part not in drawn.html, drawn.html


def test_a_wikilink_leads_to_its_page(drawn: Draw) -> None:
    has(drawn("See [[Alan]]."), '<a class="link" href="/read/notes/Alan.md" rel="noopener noreferrer">Alan</a>')


def test_a_link_to_a_heading_or_a_block_leads_there(drawn: Draw) -> None:
    has(drawn("[[Alan#Work]]"), 'href="/read/notes/Alan.md#at-h-work"', "Alan › Work")
    has(drawn("[[Alan#Life#Work]]"), 'href="/read/notes/Alan.md#at-h-work"')
    has(drawn("[[Alan#^m|there]]"), 'href="/read/notes/Alan.md#at-b-m"', ">there</a>")
    has(drawn("# Übrig & mehr\n[[#Übrig & mehr]]"), 'id="at-h-übrig-mehr"', 'href="#at-h-%C3%BCbrig-mehr"')


def test_a_broken_link_is_marked_and_leads_to_a_search(drawn: Draw) -> None:
    found = drawn("[[Nobody Here]]")
    has(found, 'class="link-broken"', 'href="/read?q=Nobody+Here"', "(no such page)", "title=")


def test_an_ambiguous_link_is_marked(drawn: Draw) -> None:
    has(drawn("[[Twin]]"), 'class="link-ambiguous"', "(ambiguous)", 'href="/read/a/Twin.md"')


def test_a_title_and_an_alias_lead_on_with_a_hint(drawn: Draw) -> None:
    has(drawn("[[Alan Turing]]"), 'href="/read/notes/Alan.md"', "by its title")
    has(drawn("[[AMT]]"), 'href="/read/notes/Alan.md"', "by an alias")


def test_markdown_links_are_led_too(drawn: Draw) -> None:
    has(drawn("[**he**](Alan.md#Work)"), 'href="/read/notes/Alan.md#at-h-work"', "<strong>he</strong></a>")
    has(drawn("[he](../notes/Alan.md)"), 'href="/read/notes/Alan.md"')
    has(drawn("[he][a]\n\n[a]: Alan.md"), 'href="/read/notes/Alan.md"')
    has(drawn("[x](https://example.org/)"), 'class="outer" href="https://example.org/"')
    has(drawn("see https://example.org/x."), 'href="https://example.org/x"')


def test_links_in_code_and_mathematics_stay_text(drawn: Draw) -> None:
    found = drawn("`[[Alan]]`\n\n```\n[[Alan]] [a](Alan.md)\n```\n\n    [[Alan]]\n\n$[[Alan]]$")
    lacks(found, "href", "\ufdd0")
    assert found.html.count("[[Alan]]") == 4
    assert not found.shown


def test_a_link_in_html_is_led(drawn: Draw) -> None:
    has(drawn("<div>\n[[Alan]]\n</div>"), 'href="/read/notes/Alan.md"')
    lacks(drawn('<div title="[[Alan]]">x</div>'), "/read/notes/Alan.md", "\ufdd0")


def test_comments_are_not_shown(drawn: Draw) -> None:
    found = drawn("before %%hidden [[Alan]]%% after `%%code%%`\n\n%%\nblock\n\nmore\n%%\nend")
    lacks(found, "hidden", "block", "more", "Alan")
    has(found, "before", "after", "%%code%%", "end")


def test_highlights_tags_tasks_and_strikes(drawn: Draw) -> None:
    has(drawn("==a **b**== ~~c~~"), "<mark>a <strong>b</strong></mark>", "<s>c</s>")
    has(drawn("#one #two/three. C#sharp `#no`"), 'href="/read?tag=one"', 'href="/read?tag=two%2Fthree"')
    assert drawn("C#sharp `#no` #1").html.count("<a") == 0
    has(drawn("- [x] done\n- [ ] open"), 'type="checkbox"', "checked", "disabled", 'class="task"')
    has(drawn("==="), "===")


def test_a_table_keeps_links_with_bars_in_their_cells(drawn: Draw) -> None:
    found = drawn("| a | b |\n|:-:|--:|\n| [[Alan\\|he]] | 2 |")
    has(found, "<td", ">he</a>", "al-center", "al-right", 'class="table" tabindex="0"')
    lacks(found, "style")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("> [!note] Look [[Alan]]\n> text", ['<div class="callout tone-note" role="note">', "Look <a", "text"]),
        ("> [!WARNING]- Folded\n> in", ['<details class="callout tone-warn">', "<summary>Folded</summary>"]),
        ("> [!tip]+\n> in", ['<details class="callout tone-tip" open="">', "<summary>Tip</summary>"]),
        ("> [!faq] Outer\n> > [!bug] Inner\n> > deep", ["tone-warn", "tone-bad", "deep"]),
        ("> [!own-kind|meta]\n> x", ["tone-note", ">Own-kind</p>"]),
        ("> plain\n> [!note] not first", ["<blockquote>"]),
    ],
)
def test_callouts(drawn: Draw, text: str, parts: list[str]) -> None:
    has(drawn(text), *parts)


def test_footnotes_lead_there_and_back(drawn: Draw) -> None:
    found = drawn("One[^a] and^[inline [[Alan]]] again[^a].\n\n[^a]: Note [[Alan]].")
    has(found, 'href="#at-fn1"', 'id="at-fn1"', 'href="#at-fnref1"', 'id="at-fnref1"', 'class="footnotes"')
    assert found.shown == {0, 1}


def test_a_footnote_that_nothing_refers_to_is_shown(drawn: Draw) -> None:
    found = drawn("One[^a].\n\n[^a]: used\n[^b]: [[Alan]]\n")
    has(found, 'id="at-fn2"', 'href="/read/notes/Alan.md"')
    assert found.html.count('class="back"') == 1 and found.shown == {0}


def test_mathematics_is_left_readable(drawn: Draw) -> None:
    has(drawn("$a^2_b$ costs $5 and $6"), '<span class="math inline">a^2_b</span>', "$5 and $6")
    has(drawn("$$\na < b\n$$"), 'class="math block"', "a &lt; b")


def test_headings_have_ids_and_a_table_of_contents(drawn: Draw) -> None:
    found = drawn("# Page\n## One\n## One\n### [[Alan|He]] `x`\n")
    assert [(section.level, section.text, section.anchor) for section in found.sections] == [
        (2, "One", "at-h-one"),
        (2, "One", "at-h-one-2"),
        (3, "He x", "at-h-alan-he-x"),
    ]
    lacks(found, "<h1")


def test_headings_of_the_first_level_go_below_the_title(drawn: Draw) -> None:
    found = drawn("# Other\n## Under\n")
    has(found, "<h2", "<h3")
    lacks(found, "<h1")


def test_block_ids_are_ids(drawn: Draw) -> None:
    has(drawn("Text ^one"), '<p id="at-b-one">Text</p>')
    has(drawn("- item ^two\n- next"), '<li id="at-b-two">')
    has(drawn("| a |\n|---|\n| b |\n\n^three"), 'id="at-b-three"')
    has(drawn("x ^not-at end"), "^not-at end")


def test_an_embedded_page_is_shown_with_where_it_is_from(drawn: Draw) -> None:
    found = drawn("![[Alan]]")
    has(found, '<div class="embed">', 'href="/read/notes/Alan.md"', "Born.", "Machines.")
    assert found.shown == {0}


def test_a_section_or_a_block_is_embedded_alone(drawn: Draw) -> None:
    found = drawn("![[Alan#Work]]")
    has(found, "Machines.")
    lacks(found, "Born.")
    found = drawn("![[Alan#^m]]")
    has(found, "Machines.")
    lacks(found, "Born.", "Work")
    has(drawn("![[Alan#Nothing]]"), "has no place #Nothing")


def test_text_around_an_embed_stays(drawn: Draw) -> None:
    has(drawn("before ![[Alan#Work]] after"), "<p>before", "after</p>")


def test_pages_that_embed_each_other_end(wiki: VaultFolder, drawn: Draw) -> None:
    wiki.write("notes/Alan.md", "alan ![[Page]] ![[Alan]]\n")
    wiki.write("notes/Page.md", "page ![[Alan]]\n")
    has(drawn("![[Alan]] ![[#^own]] ![[Page]]\n\nown ^own"), "alan")


def test_a_page_can_show_a_part_of_itself(drawn: Draw) -> None:
    assert drawn("![[#Part]]\n\n# Part\ninside ![[#Part]]").html.count("inside") == 3


def test_a_hundred_embeds_are_bounded(wiki: VaultFolder, drawn: Draw) -> None:
    assert drawn("![[Alan]]\n\n" * 100).html.count("Born.") == 30


def test_a_picture_of_the_vault_is_shown(drawn: Draw) -> None:
    has(drawn("![[plan.png|200x100]]"), '<img src="/raw-file/pictures/plan.png"', 'width="200"', 'height="100"')
    has(drawn("![A plan|80](../pictures/plan.png)"), 'alt="A plan"', 'width="80"')
    has(drawn("![[plan.png|the plan]]"), 'alt="the plan"')


def test_what_can_not_be_shown_is_a_link(drawn: Draw) -> None:
    has(drawn("![[gone.png]]"), 'class="link-broken"', "gone.png")
    has(drawn("![[raw/sources/paper.md]]"), 'href="/read/raw/sources/paper.md"')


def test_a_long_page_is_shown_as_it_is_written(drawn: Draw) -> None:
    found = drawn("word <b> " * 30_000)
    assert "200,000 characters" in found.problem
    has(found, 'class="plain-text"', "&lt;b&gt;")


def test_code_points_of_the_marks_mean_nothing_in_a_page(drawn: Draw) -> None:
    found = drawn("\ufdd00\ufdd1 [[Alan]] (to-000000000000-0)")
    assert found.html.count("<a ") == 1
    lacks(found, "\ufdd0")


class _Balanced(HTMLParser):
    """Whether each element that is opened is closed, in turn."""

    VOID = {"br", "hr", "img", "input", "col", "wbr"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


@pytest.mark.parametrize("text", ["<div><b>open", "</div></div>", "- <ul>\n- ![[Alan]]", "> [!note] <details>\n> x"])
def test_html_that_is_left_open_is_closed(drawn: Draw, text: str) -> None:
    assert not _Balanced(drawn(text).html).opened
