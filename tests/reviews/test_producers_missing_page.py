"""Missing pages: what broken links ask for, as a person would count it, and nothing that no page is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.models import ReviewItem
from reviews.producers.asking import asked_for, folded
from reviews.producers.missing_page import MissingPage
from reviews.producers.runner import run, run_everything
from reviews.services import Finding, resolve
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE
from vault.current import forget_vault
from wiki.models import LinkState, Page
from wiki.sync import scan

pytestmark = pytest.mark.django_db


def found(folder: VaultFolder | None = None, **pages: str) -> dict[str, Finding]:
    """What is missing, by target."""
    if folder is not None:
        for name, text in pages.items():
            folder.write(f"wiki/{name}.md", text)
    scan(allow_deletions=True)
    return {finding.target: finding for finding in MissingPage().find(None)}


def asks(text: str, alias: str | None = None, *, source: str = "wiki/a.md", embed: bool = False) -> str | None:
    asked = asked_for(text, alias, source, embed=embed)
    return asked.question if asked else None


# --- what is asked for -----------------------------------------------------------------------------


def test_it_works(vault_folder: VaultFolder) -> None:
    missing = found(vault_folder, a="[[Alan Turing]]", b="![[alan turing#Life]] [[Alan Turing|him]]", c="[[a]]")
    assert list(missing) == ["alan-turing"]
    finding = missing["alan-turing"]
    a, b = Page.objects.get(path="wiki/a.md"), Page.objects.get(path="wiki/b.md")
    assert finding.title == "Missing page: Alan Turing (asked for by 2 pages)"
    assert finding.proposed_title == "Alan Turing"
    assert finding.search_queries == ["Alan Turing"]
    assert [page.path for page in finding.references] == ["wiki/a.md", "wiki/b.md"]
    assert set(finding.evidence) == {str(a.uid), str(b.uid)}
    assert set(finding.rests_on) == {a.pk, b.pk}
    assert finding.rank == 2 and finding.page is None


def test_one_asking_page_is_told_so(vault_folder: VaultFolder) -> None:
    (finding,) = found(vault_folder, a="[[X]] and [[X]] again").values()
    assert finding.title == "Missing page: X (asked for by 1 page)"
    assert finding.rank == 1


def test_all_askers_count_and_eight_are_named(vault_folder: VaultFolder) -> None:
    (finding,) = found(vault_folder, **{f"p{number:02}": "[[Hub]]" for number in range(12)}).values()
    assert finding.rank == len(finding.rests_on) == len(finding.evidence) == 12
    assert [page.path for page in finding.references] == [f"wiki/p{number:02}.md" for number in range(8)]


def test_a_property_asks_too(vault_folder: VaultFolder) -> None:
    assert list(found(vault_folder, a='---\nrelated: "[[Japan]]"\n---\n')) == ["japan"]


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["[[alan-turing|Alan Turing]]", "[[Alan Turing]]", "[[alan-turing]]"], "Alan Turing"),
        (["[[alan turing]]", "[[ALAN TURING]]", "[[ALAN TURING]]"], "ALAN TURING"),
        (["[[Caf\u00e9]]", "[[Cafe\u0301]]"], "Caf\u00e9"),
        (["[[Self-Attention]]", "[[self attention]]", "[[Self-Attention.md]]"], "Self-Attention"),
        (["[[wiki/entities/alan-turing|Alan Turing]]", "[[Alan Turing]]"], "Alan Turing"),
        (["[[claude-page|Claude]]", "[[Claude]]"], "Claude"),
        (["[[/X]]", "[[X]]", "[[../X]]"], "X"),
    ],
)
def test_spellings_of_one_name_are_one_question(vault_folder: VaultFolder, texts: list[str], title: str) -> None:
    (finding,) = found(vault_folder, **{f"p{number}": text for number, text in enumerate(texts)}).values()
    assert finding.rank == len(texts)
    assert finding.proposed_title == title


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("C++", "C#1"), ("2022/January", "2021/January"), ("R&D", "RD"), ("Ada", "Adas")]
)
def test_other_names_are_other_questions(one: str, other: str) -> None:
    assert asks(one) != asks(other)


def test_one_name_in_two_places_is_told_apart(vault_folder: VaultFolder) -> None:
    missing = found(vault_folder, a="[[Plan]] [[Projects/Plan]] [[wiki/concepts/Plan]]")
    assert {question: (finding.title, finding.proposed_title) for question, finding in missing.items()} == {
        "plan": ("Missing page: Plan (asked for by 1 page)", "Plan"),
        "projects/plan": ("Missing page: Plan in projects (asked for by 1 page)", "Plan"),
    }
    assert missing["projects/plan"].rationale.startswith("1 page links to Plan in projects, which is not there.")


def test_what_a_slug_stands_for_is_asked_for(vault_folder: VaultFolder) -> None:
    missing = found(vault_folder, a="[[c|C++]] [[d|shown otherwise]]", b="[[C++]]")
    assert {target: finding.proposed_title for target, finding in missing.items()} == {"c++": "C++", "d": "d"}
    assert missing["c++"].rank == 2


def test_the_type_is_that_of_the_folder(vault_folder: VaultFolder) -> None:
    (finding,) = found(vault_folder, a="[[wiki/entities/ada|Ada]]").values()
    assert (finding.proposed_title, finding.proposed_page_type) == ("Ada", "entity")


def test_a_page_of_nearly_that_name_is_pointed_out(vault_folder: VaultFolder) -> None:
    missing = found(vault_folder, a="[[alan_turing]] [[Nobody]]", **{"alan turing": "he"})
    assert "alan turing (wiki/alan turing.md) has nearly that name" in missing["alan-turing"].rationale
    assert "nearly" not in missing["nobody"].rationale


# --- what is not -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "`[[A]]`",
        "```\n[[A]]\n```",
        "<!-- [[A]] -->",
        "\\[\\[A]]",
        "![[picture.png]]",
        "![[recording.webm|800]]",
        "[[Budget.xlsx]]",
        "[[board.canvas]]",
        "![[unknown.zzz]]",
        "[[https://example.org/a]]",
        "[[www.example.org]]",
        "[[mailto:a@example.org]]",
        "[[#Heading]]",
        "[[^block]]",
        "[[A^block]]",
        "[[1]]",
        "[[1]](https://example.org)",
        "text[^1]\n\n[^1]: note",
        "[a](missing.md)",
        "[a](./features)",
        "[[folder/]]",
        "[[tags/plugin]]",
        "[[2024-05-17]]",
        "[[daily/2024-05-17]]",
        "[[2024-W20]]",
        "[[2022-04]]",
        "[[{{title}}]]",
        "[[<% tp.file.title %>]]",
        "if [[ -f file ]]; then",
        'if [[ "$a" == "b" ]]; then',
        "x[['col']]",
        "[[:alpha:]]",
        "[[1, 2], [3, 4]]",
        "[[...]]",
        "[[raw/sources/a]]",
        "[[wiki/overview]]",
        "[[schema]]",
        "[[.hidden]]",
        "[[../../above]]",
        "[[" + "a" * 300 + "]]",
        "[[!!!]]",
    ],
)
def test_no_page_is_asked_for(vault_folder: VaultFolder, text: str) -> None:
    assert not found(vault_folder, a=text)


@pytest.mark.parametrize(
    "text",
    ["Node.js", "GPT-3.5", "St. John", "U.S.", "1984", "v1.2", "$100M Offers", "机器", "Ж", "A&B"],
)
def test_names_that_look_like_something_else_are_asked_for(vault_folder: VaultFolder, text: str) -> None:
    assert len(found(vault_folder, a=f"[[{text}]]")) == 1


def test_a_table_keeps_its_pipe(vault_folder: VaultFolder) -> None:
    (finding,) = found(vault_folder, a="| a | b |\n|---|---|\n| [[Ada\\|her]] | x |").values()
    assert finding.proposed_title == "Ada"


def test_what_leads_somewhere_is_not_missing(vault_folder: VaultFolder) -> None:
    """Case, NFD names, titles, aliases, files that are no pages, namesakes in raw/: all of them are there."""
    vault_folder.write("raw/sources/Namesake.md", "raw")
    vault_folder.write("raw/assets/paper.pdf", "pdf")
    vault_folder.write("wiki/Cafe\u0301.md", "---\ntitle: A title\naliases: [An alias]\n---\n")
    text = "[[namesake]] [[paper.pdf]] [[CAF\u00c9]] [[a title]] [[an alias]] [[A]]"
    assert not found(vault_folder, a=text)


def test_reserved_pages_and_templates_ask_for_nothing(vault_folder: VaultFolder) -> None:
    for path in ("wiki/overview.md", "schema.md", "Templates/Person.md", "deep/templates/x.md"):
        vault_folder.write(path, "[[Nobody]]")
    assert not found()


def test_what_is_excluded_neither_asks_nor_is_missed(vault_folder: VaultFolder, settings: Any) -> None:
    settings.SYNAPSE_EXCLUDE = ["Archive"]
    forget_vault()
    vault_folder.write("Archive/Old note.md", "[[Nobody]]")
    missing = found(vault_folder, a="[[Archive/Anything]] [[old note]] [[Archive/Old note]] [[Really missing]]")
    assert list(missing) == ["really-missing"]


def test_a_wrong_folder_is_not_a_missing_page(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/new/Note.md", "here")
    assert list(found(vault_folder, a="[[old/Note]] [[old/Other]]")) == ["old/other"]


# --- keys ------------------------------------------------------------------------------------------


def test_folding_is_stable() -> None:
    for name in ("Alan  Turing", "ALAN-TURING", "alan_turing", "“Alan” Turing", "C++", "Straße", "ﬁne", "机器 学习"):
        assert folded(folded(name)) == folded(name)


def test_a_few_questions_are_found_as_all_are(vault_folder: VaultFolder) -> None:
    texts = ["[[Alan Turing]] [[c|C++]]", "[[alan-turing]] [[C]]", "[[sub/Alan Turing]]", "[[Straße|x]]", "[[STRASSE]]"]
    everything = found(vault_folder, **{f"p{number}": text for number, text in enumerate(texts)})
    assert len(everything) == 5
    for target, finding in everything.items():
        (one,) = MissingPage().find({target})
        assert one == finding
    assert {finding.target: finding for finding in MissingPage().find(set(everything))} == everything
    assert not list(MissingPage().find({"something else"}))


# --- in the queue ----------------------------------------------------------------------------------


def titles(status: str = "pending") -> list[str]:
    return sorted(ReviewItem.objects.filter(status=status, rule="missing-page").values_list("title", flat=True))


def test_it_comes_grows_and_goes(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[Ada]] [[Bob]]")
    scan()
    run()
    item = ReviewItem.objects.get(target="ada")
    vault_folder.write("wiki/b.md", "[[ada]]")
    scan()
    run()
    assert titles() == ["Missing page: Ada (asked for by 2 pages)", "Missing page: Bob (asked for by 1 page)"]
    assert ReviewItem.objects.get(target="ada").pk == item.pk
    vault_folder.write("wiki/Ada.md", "She is here.")
    vault_folder.write("wiki/a.md", "Nobody asks for him.")
    scan()
    run()
    assert titles() == []
    assert len(titles("auto_resolved")) == 2
    assert set(ReviewItem.objects.filter(rule="missing-page").values_list("reviewed_via", "reviewed_by")) == {
        ("sweep", "synapse")
    }


def test_dismissed_stays_dismissed(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[Ada]]")
    scan()
    run()
    resolve(item_id=ReviewItem.objects.get(rule="missing-page").pk, action="dismiss", author=ALICE)
    vault_folder.write("wiki/b.md", "[[Ada]]")
    scan()
    run()
    run_everything()
    assert ReviewItem.objects.filter(rule="missing-page").count() == 1


def test_skipped_comes_back_when_others_ask(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[Ada]]")
    vault_folder.write("wiki/b.md", "[[Ada]]")
    scan()
    run()
    resolve(item_id=ReviewItem.objects.get(rule="missing-page").pk, action="skip", author=ALICE)
    run_everything()
    assert titles() == []
    vault_folder.write("wiki/b.md", "no more")
    scan()
    run()
    assert titles() == ["Missing page: Ada (asked for by 1 page)"]


def test_what_it_asks_for_is_what_links_are_broken_over(vault_folder: VaultFolder) -> None:
    from wiki.models import Link

    vault_folder.write("wiki/a.md", "[[One]] [[Two|2]] ![[Three]]")
    scan()
    run()
    assert Link.objects.filter(state=LinkState.BROKEN).count() == len(titles()) == 3
