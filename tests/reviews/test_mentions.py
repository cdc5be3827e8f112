"""Names in plain text: which can be told from other words, and where one stands for its page."""

from __future__ import annotations

import pytest

from reviews.producers.mentions import PLACES_AT_MOST, UnlinkedMention
from reviews.producers.names import Name, Running, capitals_tell, mentions, name_of
from tests.conftest import VaultFolder
from tests.reviews.found import about, found, places
from vault.markdown import prose

pytestmark = pytest.mark.django_db

NAMES = [
    "Alan Turing",
    "graph view",
    "Out of Control",
    "The Machine Stops",
    "Obsidian",
    "Kyoto",
    "GPT-4",
    "LaTeX",
    "LLM",
    "i18n",
    "CrawlLinks",
    "Node.js",
    "flag-inferred-content-as-preliminary",
    "Лев Толстой",
    "Москва",
    "Übergewicht der Dinge",
    "知识管理",
    "图书馆",
    "人工知能",
    "アルゴリズム",
    "深層学習モデル",
    "使用Python编程",
    "세종대왕 이야기",
    "인공지능이론",
    "علم الحاسوب",
    "मशीन लर्निंग",
    "ปัญญาประดิษฐ์",
]
NO_NAMES = [
    "",
    "a",
    "AI",
    "Notes",
    "Index",
    "README",
    "To do",
    "Next steps",
    "Open questions",
    "Chapter 3",
    "Untitled 2",
    "2024-05-17",
    "2024",
    "May 17th, 2024",
    "graph",
    "wikilinks",
    "Jazz",
    "well-being",
    "What is it",
    "In and out",
    "do it",
    "知识",
    "データ",
    "ところ",
    "세종",
    "프로그램",
    "علم",
    "[draft] A plan",
    "a|b and more",
    "x" * 121,
]


@pytest.mark.parametrize("text", NAMES)
def test_names_that_can_be_told(text: str) -> None:
    assert name_of(text) is not None


@pytest.mark.parametrize("text", NO_NAMES)
def test_names_that_can_not_be_told(text: str) -> None:
    assert name_of(text) is None


def stands(name: str, text: str) -> bool:
    told = name_of(name)
    assert told is not None
    return bool(list(mentions(told, Running(prose(text)))))


STANDS = [
    ("Alan Turing", "It was Alan Turing who asked."),
    ("Alan Turing", "it was alan turing who asked."),
    ("Alan Turing", "ALAN TURING!"),
    ("Alan Turing", "(Alan Turing)"),
    ("Alan Turing", "**Alan Turing**, _Alan Turing_, “Alan Turing”"),
    ("Alan Turing", "Alan Turing's machine"),
    ("Alan Turing", "l’Alan Turing de Paris"),
    ("Alan Turing", "said Alan\nTuring in a wrapped line"),
    ("Alan Turing", "- said Alan  \n  Turing in a wrapped item"),
    ("Alan Turing", "said Alan\u00a0Turing"),
    ("Alan Turing", "Alan Turing: a life"),
    ("Alan Turing", "> a quote of Alan Turing."),
    ("Alan Turing", "| Alan Turing | 1912 |\n|---|---|\n| x | y |"),
    ("Alan Turing", "as Alan Turing I knew was not"),
    ("Alan Turing", "由Alan Turing提出"),
    ("Alan Turing", "[Alan Turing, 1936]"),
    ("graph view", "open the graph view, or the Graph View"),
    ("Out of Control", "the book Out of Control, and OUT OF CONTROL"),
    ("Conway's Game of Life", "that is Conway’s game of life"),
    ("Multi-Project Plan", "the multi‑project plan"),
    ("Obsidian", "readable in Obsidian, diffable in git"),
    ("Obsidian", "The Obsidian app"),
    ("Obsidian", "git diff, Obsidian, ripgrep"),
    ("Obsidian", "Single frontend (Obsidian can view both)"),
    ("Obsidian", "читается в Obsidian, сравнивается в git"),
    ("Obsidian", "可在 Obsidian 中阅读"),
    ("Obsidian", "可在Obsidian中阅读"),
    ("Kyoto", "we went to Kyoto."),
    ("Москва", "а Москва стоит"),
    ("Лев Толстой", "писал Лев Толстой."),
    ("GPT-4", "GPT-4 is here"),
    ("LaTeX", "LaTeX equations"),
    ("LLM", "An LLM, or LLM-like? No: the LLM"),
    ("Node.js", "written in Node.js for years"),
    ("i18n", "and i18n too"),
    ("flag-inferred-content-as-preliminary", "see flag-inferred-content-as-preliminary."),
    ("知识管理", "我们谈谈知识管理的方法"),
    ("图书馆", "他在图书馆看书"),
    ("人工知能", "彼は人工知能を学ぶ"),
    ("アルゴリズム", "このアルゴリズムは速い"),
    ("深層学習モデル", "新しい深層学習モデルです"),
    ("使用Python编程", "他在使用Python编程时"),
    ("세종대왕 이야기", "오늘 세종대왕 이야기를 읽었다"),
    ("인공지능이론", "그는 인공지능이론을 배운다"),
    ("ChatGPT", "나는 ChatGPT를 쓴다"),
    ("علم الحاسوب", "هو يدرس علم الحاسوب الآن"),
    ("मशीन लर्निंग", "वह मशीन लर्निंग पढ़ता है"),
    ("ปัญญาประดิษฐ์", "เขาเรียนปัญญาประดิษฐ์ที่นี่"),
]
STANDS_NOT = [
    ("Alan Turing", "Alan Turingson"),
    ("Alan Turing", "xAlan Turing"),
    ("Alan Turing", "Alan  \n\nTuring"),
    ("Alan Turing", "Alan, Turing"),
    ("Alan Turing", "Alan `code` Turing"),
    ("Alan Turing", "the Alan Turing Institute"),
    ("Alan Turing", "pre-Alan Turing"),
    ("Alan Turing", "Alan Turing-like"),
    ("Alan Turing", "people/Alan Turing and Alan Turing.md and Alan Turing/x"),
    ("Alan Turing", "[Alan Turing]"),
    ("Alan Turing", "## Alan Turing"),
    ("Alan Turing", "#Alan Turing"),
    ("Alan Turing", "@Alan Turing"),
    ("New York", "in the New York Times"),
    ("Out of Control", "the fire was out of control"),
    ("In good hands", "there you are in good hands"),
    ("Obsidian", "Obsidian is an app."),
    ("Obsidian", "Well. Obsidian is an app."),
    ("Obsidian", "- Obsidian"),
    ("Obsidian", "**Obsidian** is an app"),
    ("Obsidian", "a piece of obsidian"),
    ("Obsidian", "use Obsidian Web Clipper"),
    ("Obsidian", "Use New Obsidian now"),
    ("Obsidian", "with Obsidian/Dataview"),
    ("Obsidian", "see obsidian.md and Obsidian.md"),
    ("Obsidian", "via Obsidian-style links"),
    ("Kevin", "the singer Kevin Kelly"),
    ("Kelly", "the writer Kevin Kelly said"),
    ("LLM", "the llm"),
    ("LLM", "many LLMs"),
    ("Latex-Plugin1", "call Latex-Plugin1() here"),
    ("GPT-4", "GPT-4o and GPT-42"),
    ("GPT-4", "the GPT-4 Turbo"),
    ("知识管理", "知识与管理"),
    ("人工知能", "日本の人工知能学会に行く"),
    ("アルゴリズム", "このアルゴリズムズは"),
    ("アルゴリズム", "新アルゴリズムー"),
    ("인공지능이론", "그는 인공지능이론가를 안다"),
    ("인공지능이론", "신인공지능이론을 배운다"),
    ("ChatGPT", "ChatGPT팀 is at work"),
    ("मशीन लर्निंग", "मशीन लर्निंगी"),
    ("Москва", "в москва"),
]


@pytest.mark.parametrize(("name", "text"), STANDS)
def test_where_a_name_stands(name: str, text: str) -> None:
    assert stands(name, text)


@pytest.mark.parametrize(("name", "text"), STANDS_NOT)
def test_where_it_does_not(name: str, text: str) -> None:
    assert not stands(name, text)


def test_capitals_in_a_text_of_german_nouns_tell_nothing() -> None:
    german = "Im alten Haus der kleinen Stadt steht ein Tisch mit einem Buch und einer Lampe aus dem Dorf. " * 5
    english = "In the old house of that small town stands a table with a book and one lamp from the village. " * 5
    assert not capitals_tell(Running(german))
    assert capitals_tell(Running(english))
    assert capitals_tell(Running("可在 Obsidian 中阅读，也可以用 Git 对比。" * 20))


def test_an_entity_keeps_its_capitals() -> None:
    name = name_of("Blade Runner", proper=True)
    assert name is not None
    assert list(mentions(name, Running("saw Blade Runner and BLADE RUNNER"))) == [4, 21]
    assert list(mentions(name, Running("as a blade runner"))) == []


def test_a_name_is_told_by_how_it_is_written() -> None:
    assert name_of("Obsidian") == Name("Obsidian", exact=True, by_capital=True)
    assert name_of("LaTeX") == Name("LaTeX", exact=True)
    assert name_of("Alan  Turing") == Name("Alan Turing")


TURING = {"wiki/entities/alan-turing.md": "---\ntitle: Alan Turing\naliases: [Turing machine]\n---\nAlan Turing.\n"}


def test_one_finding_a_page(vault_folder: VaultFolder) -> None:
    files = {
        "b.md": "It was Alan Turing.",
        "a.md": "A TURING machine.",
        "c.md": "It was [[alan-turing|he]], Alan Turing.",
        "d.md": "Nobody.",
        "wiki/log.md": "Alan Turing",
        "Templates/e.md": "Alan Turing",
        **TURING,
    }
    (finding,) = found(UnlinkedMention(), vault_folder, files)
    assert about([finding]) == ["wiki/entities/alan-turing.md"]
    assert places(finding) == ["a.md", "b.md"]
    assert finding.rank == 2
    assert finding.title == "“Alan Turing” is named in 2 pages that do not link to it"
    assert len(finding.evidence) == 2
    assert len(finding.rests_on) == 3


def test_a_page_named_by_its_alias(vault_folder: VaultFolder) -> None:
    (finding,) = found(UnlinkedMention(), vault_folder, {"a.md": "A Turing machine.", **TURING})
    assert finding.title == "“Alan Turing” is named (as “Turing machine”) in 1 page that does not link to it"


LINKED = {
    "a link": "[[alan-turing]] and Alan Turing",
    "a link in another case": "[[ALAN-TURING]] and Alan Turing",
    "a property": '---\nabout: "[[alan-turing]]"\n---\nAlan Turing',
    "a Markdown link": "[x](wiki/entities/alan-turing.md) and Alan Turing",
    "an embed": "![[alan-turing]] by Alan Turing",
    "a link with his name to another page": "[[other|Alan Turing]] and Alan Turing",
    "a link to a source": "[[raw/sources/t.pdf|Alan Turing]] and Alan Turing",
}


@pytest.mark.parametrize("case", LINKED)
def test_who_links_once_may_name_as_often_as_he_likes(vault_folder: VaultFolder, case: str) -> None:
    files = {"a.md": LINKED[case], "other.md": "x", "raw/sources/t.pdf": "x", **TURING}
    assert found(UnlinkedMention(), vault_folder, files) == []


NOT_MEANT = {
    "reserved": {"wiki/overview.md": "---\ntitle: Alan Turing\n---\nx"},
    "a template": {"Templates/Alan Turing.md": "x"},
    "a daily note": {"Daily/2024-05-17.md": "---\ntitle: 2024-05-17\n---\nx"},
    "the listing of a tag": {"tags/turing.md": "---\ntitle: Alan Turing\n---\nx"},
    "an index": {"turing/index.md": "---\ntitle: Alan Turing\n---\nx"},
}


@pytest.mark.parametrize("case", NOT_MEANT)
def test_what_is_never_meant(vault_folder: VaultFolder, case: str) -> None:
    assert found(UnlinkedMention(), vault_folder, {"a.md": "Alan Turing on 2024-05-17.", **NOT_MEANT[case]}) == []


def test_nouns_in_german(vault_folder: VaultFolder) -> None:
    text = "Wir sahen im Garten einen alten Baum."
    files = {
        "Garten.md": "x",
        "de.md": f"---\nlang: de\n---\n{text}",
        "long.md": "Es steht ein Tisch mit einem Buch und einer Lampe aus dem alten Dorf im Garten. " * 8,
    }
    assert found(UnlinkedMention(), vault_folder, files) == []
    assert len(found(UnlinkedMention(), vault_folder, {"en.md": "---\nlang: en\n---\nWe went to Garten once."})) == 1


def test_chinese_pages(vault_folder: VaultFolder) -> None:
    files = {
        "概念/知识管理.md": "关于它的一切。",
        "甲.md": "我们谈谈知识管理的方法。",
        "乙.md": "`知识管理` 与 [[知识管理]]，还有知识管理。",
        "丙.md": "知识与管理。",
    }
    (finding,) = found(UnlinkedMention(), vault_folder, files)
    assert places(finding) == ["甲.md"]


def test_so_many_places_are_enough(vault_folder: VaultFolder) -> None:
    files = {f"{number:03}.md": "It was Alan Turing." for number in range(PLACES_AT_MOST + 5)}
    (finding,) = found(UnlinkedMention(), vault_folder, {**files, **TURING})
    assert finding.rank == PLACES_AT_MOST
    assert "at least 50 pages" in finding.title
    assert places(finding)[0] == "000.md"
    (again,) = UnlinkedMention().find([finding.target])
    assert places(again) == places(finding)
    assert again.title == finding.title


def test_excluded_pages_have_no_say(vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_EXCLUDE = ["Archive"]
    assert found(UnlinkedMention(), vault_folder, {"Archive/a.md": "It was Alan Turing.", **TURING}) == []
