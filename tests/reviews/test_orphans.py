"""Pages that nothing links to and pages that lead nowhere: what counts as a link, and what stands apart by nature."""

from __future__ import annotations

import pytest

from reviews.producers import roles
from reviews.producers.orphans import DeadEnd, Orphan
from tests.conftest import VaultFolder
from tests.reviews.found import about, found

pytestmark = pytest.mark.django_db

TEXT = "Some words about a matter, enough of them to say something of it to whoever comes by, and then a few more.\n"
A = {"a.md": f"{TEXT} [[b]]", "b.md": TEXT}


def test_the_page_that_nothing_links_to(vault_folder: VaultFolder) -> None:
    (finding,) = found(Orphan(), vault_folder, A)
    assert about([finding]) == ["a.md"]
    assert finding.title == "No page links to “a”"
    assert finding.page is not None
    assert finding.target == str(finding.page.uid)


def test_the_page_that_links_to_nothing(vault_folder: VaultFolder) -> None:
    (finding,) = found(DeadEnd(), vault_folder, A)
    assert about([finding]) == ["b.md"]
    assert finding.title == "“b” links to no page"


def test_one_item_a_page(vault_folder: VaultFolder) -> None:
    """A page alone is an orphan, and not a dead end as well."""
    assert about(found(Orphan(), vault_folder, {"alone.md": TEXT})) == ["alone.md"]
    assert found(DeadEnd(), vault_folder, {}) == []


LINKS_IN = {
    "a wikilink in another case": {"x.md": "See [[PAGE]]."},
    "a path": {"x.md": "See [[deep/page]]."},
    "an embed": {"x.md": "![[page]]"},
    "a Markdown link": {"deep/x.md": "See [it](page.md)."},
    "a title": {"x.md": "See [[The page itself]]."},
    "a property": {"x.md": '---\nrelated:\n  - "[[page]]"\n---\nText.'},
    "a link to a heading": {"x.md": "See [[page#Part]]."},
    "a link in a table": {"x.md": "| a | b |\n|---|---|\n| [[page\\|it]] | x |"},
    "a daily note": {"Daily/2024-05-17.md": "Read [[page]]."},
}
NO_LINKS_IN = {
    "nothing": {"x.md": "See nothing."},
    "a link in code": {"x.md": "See `[[page]]`."},
    "plain text": {"x.md": "See page."},
    "itself": {"deep/page2.md": "x"},
    "index": {"wiki/index.md": "[[page]]"},
    "log": {"wiki/log.md": "[[page]]"},
    "a raw source": {"raw/sources/x.md": "[[page]]"},
}
PAGE = f"---\ntitle: The page itself\n---\n{TEXT} [[page]] [[#Part]]\n# Part\n"


@pytest.mark.parametrize("case", LINKS_IN)
def test_what_links_to_a_page(vault_folder: VaultFolder, case: str) -> None:
    assert "deep/page.md" not in about(found(Orphan(), vault_folder, {"deep/page.md": PAGE, **LINKS_IN[case]}))


@pytest.mark.parametrize("case", NO_LINKS_IN)
def test_what_does_not_link_to_a_page(vault_folder: VaultFolder, case: str) -> None:
    assert "deep/page.md" in about(found(Orphan(), vault_folder, {"deep/page.md": PAGE, **NO_LINKS_IN[case]}))


LINKS_OUT = {
    "a wikilink": "[[a]]",
    "a Markdown link": "[it](a.md)",
    "a page that nobody has written yet": "[[Nobody wrote this]]",
    "a base": "![[Books.base]]",
    "a canvas": "![[map.canvas]]",
    "a query": "```dataview\nLIST FROM #book\n```",
}
NO_LINKS_OUT = {
    "nothing": "",
    "itself": "[[b]] and [[#Part]]",
    "index": "[[wiki/index]]",
    "a source": "[[raw/sources/s.pdf]]",
    "an address": "[it](https://example.org/a)",
    "a picture": "![[photo.png]]",
    "a link in code": "`[[a]]`",
    "code of another kind": "```sql\nSELECT 1\n```",
}
OTHERS = {"wiki/index.md": "x", "raw/sources/s.pdf": "x", "photo.png": "x"}


@pytest.mark.parametrize("case", LINKS_OUT)
def test_what_leads_on(vault_folder: VaultFolder, case: str) -> None:
    files = {"a.md": "[[b]]", "b.md": f"{TEXT}\n{LINKS_OUT[case]}\n", **OTHERS}
    assert found(DeadEnd(), vault_folder, files) == []


@pytest.mark.parametrize("case", NO_LINKS_OUT)
def test_what_leads_nowhere(vault_folder: VaultFolder, case: str) -> None:
    files = {"a.md": "[[b]]", "b.md": f"{TEXT}\n{NO_LINKS_OUT[case]}\n", **OTHERS}
    assert about(found(DeadEnd(), vault_folder, files)) == ["b.md"]


def test_a_page_without_words_is_no_dead_end(vault_folder: VaultFolder) -> None:
    files = {"a.md": "[[b]] [[c]]", "b.md": "A word.", "c.md": "---\nauthor: Ada\n---\n"}
    assert about(found(DeadEnd(), vault_folder, files)) == ["b.md"]


APART_BY_NATURE = {
    "a README": "README.md",
    "a README in another language": "docs/README.ru.md",
    "an index": "plugins/index.md",
    "a log": "knowledge/log.md",
    "a folder's note": "Projects/Projects.md",
    "a license": "LICENSE.md",
    "a daily note": "Daily/2024-05-17.md",
    "a week": "2024-W20.md",
    "a month": "Journal/2024-05.md",
    "a day in words": "May 17th, 2024.md",
    "a day in Chinese": "日记/2024年5月17日.md",
    "a template": "Templates/Person.md",
    "a template in German": "Vorlagen/Person.md",
    "a template's own folder": "projects/_template/state.md",
    "the listing of a tag": "tags/plugin.md",
    "the index": "wiki/index.md",
    "purpose": "purpose.md",
}


@pytest.mark.parametrize("case", APART_BY_NATURE)
def test_what_stands_apart_by_nature(vault_folder: VaultFolder, case: str) -> None:
    assert found(Orphan(), vault_folder, {APART_BY_NATURE[case]: TEXT}) == []
    linked = {"x.md": f"[[{APART_BY_NATURE[case][:-3]}]]"}
    assert APART_BY_NATURE[case] not in about(found(DeadEnd(), vault_folder, linked))


def test_a_log_of_its_own_is_no_orphan_once_synapse_keeps_one(vault_folder: VaultFolder) -> None:
    """From the first write on, links by that name lead to wiki/log.md, which lies higher."""
    files = {"notes/deep/log.md": TEXT, "x.md": "See [[log]]. [[x]]"}
    assert about(found(Orphan(), vault_folder, files)) == ["x.md"]
    assert about(found(Orphan(), vault_folder, {"wiki/log.md": "Kept by Synapse.\n"})) == ["x.md"]


@pytest.mark.parametrize(
    "path",
    [
        "notes/a readme for all.md",
        "Meetings/2024-05-17 with Ada.md",
        "2024 in review.md",
        "1984 (novel).md",
        "wiki/concepts/template-method.md",
        "People/Templeton.md",
        "tagsoup/a.md",
        "indexes.md",
        "log of the voyage.md",
    ],
)
def test_pages_with_names_like_those(path: str) -> None:
    assert not roles.serves(path, roles.stem(path))


def test_other_things_that_are_no_orphans(vault_folder: VaultFolder) -> None:
    files = {
        "empty.md": "",
        "data only.md": "---\nauthor: Ada\n---\n",
        "rules/files.md": f"---\ntype: rule\n---\n{TEXT}",
        "view.md": "![[Books.base]]",
    }
    assert found(Orphan(), vault_folder, files) == []


def test_what_is_filed_under_a_view_is_found_there(vault_folder: VaultFolder) -> None:
    files = {
        "Categories/Books.md": "![[Books.base]]",
        "Categories/Films.md": "```dataview\nLIST\n```",
        "Categories/Songs.md": "Only text.",
        "dune.md": f'---\ncategories:\n  - "[[Books]]"\n---\n{TEXT}',
        "alien.md": f'---\nkind: "[[Films]]"\n---\n{TEXT}',
        "help.md": f'---\nkind: "[[Songs]]"\n---\n{TEXT}',
        "said.md": f"{TEXT} A book, see [[Books]].",
    }
    assert about(found(Orphan(), vault_folder, files)) == ["help.md", "said.md"]


def test_excluded_pages_neither_link_nor_are_found(vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_EXCLUDE = ["Archive"]
    files = {"Archive/x.md": f"{TEXT} [[a]]", "a.md": TEXT}
    assert about(found(Orphan(), vault_folder, files)) == ["a.md"]
