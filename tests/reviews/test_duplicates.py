"""Pages that may be one: which titles are the same to a person, which texts are, and what is told apart."""

from __future__ import annotations

import random

import pytest

from reviews.models import ReviewItem
from reviews.producers.duplicates import CONVENTION, DuplicateBody, DuplicateTitle
from reviews.producers.likeness import ALIKE, END_CHARS, Comparison, alike, shingles, text_keys
from reviews.producers.runner import run, sweep
from reviews.producers.titles import GENERIC, canonical_title, is_generic, title_key
from reviews.producers.words import text_words
from tests.conftest import VaultFolder
from tests.reviews.found import about, found, places
from wiki.search.text import SPACELESS, WORD
from wiki.sync import scan

pytestmark = pytest.mark.django_db

SAME = [
    [
        "Acme",
        "ACME",
        "acme",
        "Acme, Inc.",
        "Acme Inc",
        "Acme LLC",
        "ACME GmbH",
        "Acme S.p.A.",
        "Acme SpA",
        "Acme s.p.a.",
    ],
    ["Acme", "Acme Co., Ltd.", "Acme Corp.", "Acme PLC", "Acme S.A.", "Acme SA", "Acme AG", "Acme B.V.", "Acme Srl"],
    ["acme-inc", "Acme"],
    ["Alan Turing", "alan turing", "Alan  Turing", "Alan\u00a0Turing", "Alan-Turing", "alan_turing", "“Alan Turing”"],
    ["Node.js", "NodeJS", "nodejs"],
    ["U.S.A.", "USA"],
    ["Conway’s Game of Life", "Conway's Game of Life", "Conways game of life"],
    ["Straße", "STRASSE", "strasse"],
    ["Résumé", "RÉSUMÉ", "Re\u0301sume\u0301"],
    ["Ａｃｍｅ", "Acme"],
    ["ＡＩ入門", "AI入門"],
    ["トヨタ自動車", "トヨタ自動車株式会社", "株式会社トヨタ自動車"],
    ["华为技术", "华为技术有限公司"],
    ["삼성전자", "삼성전자 주식회사", "주식회사 삼성전자"],
    ["Москва", "МОСКВА"],
    ["cafe\u00adteria", "Cafeteria"],
]
DIFFERENT = [
    ["C", "C++", "C#"],
    [".NET", "Net"],
    ["Python 3.1", "Python 31"],
    ["Health Spa", "Health"],
    ["Silver", "Silver ag"],
    ["Mercury", "Mercury (planet)"],
    ["Résumé", "Resume"],
    ["AG", "Co", "SA", "Inc"],
    ["Part 1", "Part 2", "Part 12"],
    ["й", "и"],
    ["Tokyo", "東京"],
]


@pytest.mark.parametrize("titles", SAME)
def test_titles_that_are_one(titles: list[str]) -> None:
    assert len({canonical_title(title) for title in titles}) == 1, [canonical_title(title) for title in titles]


@pytest.mark.parametrize("titles", DIFFERENT)
def test_titles_that_are_several(titles: list[str]) -> None:
    assert len({canonical_title(title) for title in titles}) == len(titles)


@pytest.mark.parametrize("title", ["", "…", "—", "?!", "\u200b"])
def test_titles_that_say_nothing(title: str) -> None:
    assert canonical_title(title) == ""


def test_a_canonical_title_is_its_own() -> None:
    for title in [title for titles in SAME + DIFFERENT for title in titles]:
        assert canonical_title(canonical_title(title)) == canonical_title(title)


def test_keys_of_titles_fit_and_tell_long_ones_apart() -> None:
    long = "a word " * 40
    assert title_key("acme") == "acme"
    assert len(title_key(long)) <= 64
    assert title_key(long) != title_key(f"{long}more")


def test_generic_titles_are_canonical() -> None:
    assert "readme" in GENERIC
    assert all(canonical_title(title) == title for title in GENERIC)
    assert is_generic("chapter 3")
    assert is_generic("第3章")
    assert not is_generic("alan turing")


TURING = "---\ntitle: Alan Turing\n---\nHe asked whether machines can think.\n"


def titled(title: str, text: str = "Something.", **fields: str) -> str:
    lines = [f'title: "{title}"', *(f"{name}: {value}" for name, value in fields.items())]
    return "---\n" + "\n".join(lines) + f"\n---\n{text}\n"


def test_one_finding_a_title(vault_folder: VaultFolder) -> None:
    files = {
        "wiki/entities/acme.md": titled("Acme"),
        "wiki/concepts/acme-inc.md": titled("ACME, Inc."),
        "notes/acme.md": titled("acme GmbH"),
        "wiki/other.md": "Something else.",
    }
    (finding,) = found(DuplicateTitle(), vault_folder, files)
    assert finding.target == "acme"
    assert about([finding]) == ["notes/acme.md"]
    assert places(finding) == ["wiki/concepts/acme-inc.md", "wiki/entities/acme.md"]
    assert finding.rank == 3
    assert len(finding.rests_on) == 3
    assert finding.title == "3 pages with one title: “acme GmbH”, “ACME, Inc.”, “Acme”"


def test_the_same_title_word_for_word(vault_folder: VaultFolder) -> None:
    (finding,) = found(DuplicateTitle(), vault_folder, {"a.md": TURING, "b/c.md": TURING})
    assert finding.title == "2 pages titled “Alan Turing”"


TOLD_APART = {
    "READMEs": {"README.md": "One", "a/README.md": "Two", "b/readme.md": "Three"},
    "indexes": {"a/index.md": titled("Notes of A"), "b/_index.md": titled("Notes of A")},
    "notes named as their folders": {"work/Ideas/Ideas.md": titled("Ideas we had"), "x/y/y.md": titled("Ideas we had")},
    "daily notes": {"Daily/2024-05-17.md": "Rain.", "Work/2024-05-17.md": "Sun."},
    "weekly notes": {"a/2024-W20.md": "Rain.", "b/2024-W20.md": "Sun."},
    "templates": {"Templates/Person.md": "{{name}}", "People/Person.md": "Who."},
    "parts of things": {"one/Notes.md": "Of one.", "two/Notes.md": "Of two."},
    "numbered parts": {"one/Chapter 1.md": "Once.", "two/Chapter 1.md": "Upon."},
    "numbered parts in Chinese": {"甲/第1章.md": "从前。", "乙/第1章.md": "后来。"},
    "untitled notes": {"a/Untitled.md": "x", "b/Untitled.md": "y", "b/Untitled 1.md": "z"},
    "a convention": {f"p{number}/Architecture.md": f"Of {number}." for number in range(CONVENTION)},
    "translations": {"en/python.md": titled("Python", lang="en"), "ru/python.md": titled("Python", lang="ru")},
    "pages that name each other": {
        "features/latex.md": titled("LaTeX"),
        "plugins/latex.md": titled("Latex", "See [[features/latex|LaTeX]]."),
    },
    "index and log": {"wiki/index.md": titled("Alan Turing"), "wiki/entities/alan-turing.md": TURING},
    "punctuation alone": {"a.md": titled("!!"), "b.md": titled("??")},
}


@pytest.mark.parametrize("case", TOLD_APART)
def test_what_is_told_apart(vault_folder: VaultFolder, case: str) -> None:
    assert found(DuplicateTitle(), vault_folder, TOLD_APART[case]) == []


NOT_TOLD_APART = {
    "parts of one thing": {"one/a.md": titled("Notes"), "one/b.md": titled("notes")},
    "fewer than a convention": {f"p{number}/Architecture.md": f"Of {number}." for number in range(CONVENTION - 1)},
    "one language": {"en/python.md": titled("Python", lang="en"), "en/py.md": titled("Python", lang="en")},
    "a language that is not known": {"en/python.md": titled("Python", lang="en"), "py.md": titled("Python")},
    "three of which two know each other": {
        "a.md": titled("Latex"),
        "b.md": titled("Latex", "See [[a]]."),
        "c.md": titled("Latex"),
    },
}


@pytest.mark.parametrize("case", NOT_TOLD_APART)
def test_what_is_not_told_apart(vault_folder: VaultFolder, case: str) -> None:
    (finding,) = found(DuplicateTitle(), vault_folder, NOT_TOLD_APART[case])
    assert finding.rank == len(NOT_TOLD_APART[case])


def test_excluded_pages_have_no_say(vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_EXCLUDE = ["Archive"]
    assert found(DuplicateTitle(), vault_folder, {"a.md": TURING, "Archive/a.md": TURING}) == []


# --- texts -----------------------------------------------------------------------------------------

LATIN = [f"{start}{end}" for start in ("ba", "ke", "li", "mo", "nu", "pa") for end in ("ran", "sel", "tis", "von")]
HAN = "山水火木金土日月人口心手目耳書文字言語理論学知識系統模型数据网络方法结构索引概念"


def prose_of(words: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [f"{chance.choice(LATIN)}{chance.choice(LATIN)}" for _ in range(words)]


def han(characters: int, seed: int = 1) -> str:
    chance = random.Random(seed)
    return "".join(chance.choices(HAN, k=characters))


def test_words_are_the_same_however_they_are_found() -> None:
    """Texts with few and with many characters beyond ASCII take different ways to the same words."""
    chance = random.Random(5)
    signs = [*"abcXYZ 09 ,._-'’“”—éÉßİıŁΣσςשא山日本語ไทย한국ー\u0301½²①\n\t", *map(chr, range(0x400, 0x4B0))]
    for few in (True, False):
        for _ in range(500):
            text = "".join(chance.choices(signs[:60] if few else signs, k=80))
            runs = [word for word in WORD.findall(text.casefold()) if not SPACELESS.search(word)]
            assert set(text_words(text)) >= {run for run in runs if run.isascii()}
            alone = [part for word in text.split() for part in text_words(word)]
            assert text_words(text) == alone


def test_a_text_without_blanks_is_read_by_pairs() -> None:
    assert text_words("使用Python编程 and 水.") == ["使用", "python", "编程", "and", "水"]
    assert text_words("知識管理") == ["知識", "識管", "管理"]


@pytest.mark.parametrize(("changed", "expected"), [(0, True), (2, True), (4, False)])
def test_the_measure(changed: int, expected: bool) -> None:
    """Each word changed takes five of 196 shingles from both: two leave 0.90 and more, four do not."""
    words = prose_of(200)
    other = list(words)
    for number in range(changed):
        other[30 + 40 * number] = f"changed{number}"
    one, two = shingles(words), shingles(other)
    assert (len(one & two) / len(one | two) >= ALIKE) is expected
    assert alike(one, two) is expected


def test_short_texts_are_never_alike() -> None:
    assert not alike(shingles(prose_of(39)), shingles(prose_of(39)))
    assert alike(shingles(prose_of(40)), shingles(prose_of(40)))


def keys_of_ends(text: str) -> set[str]:
    return set(text_keys(f"{text[:END_CHARS]} {text[-END_CHARS:]}"))


def test_texts_that_are_alike_share_keys() -> None:
    """Whatever is changed, added or left out: 400 pairs that are nine tenths alike, and each has a key in common."""
    chance = random.Random(3)
    pairs = 0
    while pairs < 400:
        size = chance.choice([60, 150, 400, 1500])
        words = [f"{chance.choice(LATIN)}{chance.choice(LATIN)}{chance.choice(LATIN)}" for _ in range(size)]
        other = list(words)
        for _ in range(chance.randint(0, max(1, size // 90))):
            at = chance.randrange(len(other))
            other[at : at + chance.choice([0, 1, 2])] = ["changed"] * chance.choice([0, 1, 2])
        if chance.random() < 0.2:
            other = ["introduction"] * (size // 40) + other
        if alike(shingles(words), shingles(other)):
            pairs += 1
            ends = [keys_of_ends(" ".join(text)) for text in (words, other)]
            assert ends[0] & ends[1], size


def test_keys_do_not_depend_on_the_process() -> None:
    assert text_keys(" ".join(prose_of(60)))[:2] == ["e4ba8de0462c3182", "be1396ec6d650324"]


def paragraphs(words: list[str]) -> str:
    return "\n\n".join(" ".join(words[at : at + 30]).capitalize() + "." for at in range(0, len(words), 30))


def test_one_finding_a_copy(vault_folder: VaultFolder) -> None:
    words = prose_of(300)
    changed = [*words[:100], "otherwise", *words[101:]]
    files = {
        "Note.md": paragraphs(words),
        "Note (1).md": f"---\ntitle: Copied\n---\n{paragraphs(words)}",
        "deep/below/Note copy.md": paragraphs(changed),
        "Other.md": paragraphs(prose_of(300, seed=2)),
    }
    first, second = sorted(found(DuplicateBody(), vault_folder, files), key=lambda finding: finding.rank)
    assert about([first]) == ["Note (1).md"]
    assert places(first) == ["Note.md"]
    assert first.title == "“Copied” says nearly the same as “Note”"
    assert about([second]) == ["deep/below/Note copy.md"]
    assert places(second) == ["Note.md", "Note (1).md"]


def test_case_and_markup_of_blanks_do_not_count(vault_folder: VaultFolder) -> None:
    words = prose_of(120)
    files = {"a.md": " ".join(words).upper(), "b.md": "\n".join(f"- {word}," for word in words)}
    assert about(found(DuplicateBody(), vault_folder, files)) == ["b.md"]


def test_chinese_texts(vault_folder: VaultFolder) -> None:
    text = han(300)
    files = {"甲.md": text, "乙.md": text[:150] + "新" + text[150:], "丙.md": han(300, seed=2)}
    assert about(found(DuplicateBody(), vault_folder, files)) == ["甲.md"]


NO_COPIES = {
    "short texts": {"a.md": " ".join(prose_of(30)), "b.md": " ".join(prose_of(30))},
    "daily notes": {"2024-05-17.md": paragraphs(prose_of(90)), "2024-05-18.md": paragraphs(prose_of(90))},
    "a template and what was made by it": {
        "Templates/A.md": paragraphs(prose_of(90)),
        "A.md": paragraphs(prose_of(90)),
    },
    "a catalog": {"wiki/log.md": paragraphs(prose_of(90)), "A.md": paragraphs(prose_of(90))},
    "a footer": {
        f"{number}.md": paragraphs([*prose_of(300, seed=number), *prose_of(60, seed=99)]) for number in range(5)
    },
}


@pytest.mark.parametrize("case", NO_COPIES)
def test_what_is_no_copy(vault_folder: VaultFolder, case: str) -> None:
    assert found(DuplicateBody(), vault_folder, NO_COPIES[case]) == []


def test_a_copy_with_the_same_title_is_one_decision(vault_folder: VaultFolder) -> None:
    text = titled("Alan Turing", paragraphs(prose_of(100)))
    files = {"a.md": text, "b/a.md": text}
    assert found(DuplicateTitle(), vault_folder, files) == []
    assert about(found(DuplicateBody(), vault_folder, {})) == ["b/a.md"]


def test_copies_by_the_hundred_are_found_without_comparing_all(vault_folder: VaultFolder, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    text = paragraphs(prose_of(60))
    compared = []
    measure = Comparison.alike
    monkeypatch.setattr(Comparison, "alike", lambda *pair: compared.append(pair) or measure(*pair))
    findings = found(DuplicateBody(), vault_folder, {f"copy {number:03}.md": text for number in range(120)})
    assert len(findings) == 119
    assert all(places(finding)[0] == "copy 000.md" for finding in findings)
    assert len(compared) <= 119 * 20


def test_a_sweep_knows_what_no_run_has_seen_yet(vault_folder: VaultFolder) -> None:
    found(DuplicateTitle(), vault_folder, {"a.md": TURING, "b.md": TURING})
    run()
    (item,) = ReviewItem.objects.filter(rule="duplicate-title")
    found_now = {"b.md": "---\ntitle: Somebody else\n---\n", "c.md": TURING}
    for path, text in found_now.items():
        vault_folder.write(path, text)
    scan()
    sweep()
    item.refresh_from_db()
    assert item.status == "pending", "a and c have one title now"
    run()
    item.refresh_from_db()
    assert [page["path"] for page in item.referenced_pages] == ["c.md"]
