"""Links as agents write them become links that Obsidian resolves, and what is right already keeps its bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from vault.links import resolve
from vault.markdown import parse_body
from wiki.models import Link
from wiki.services import page_by_title
from wiki.services.normalise import Normaliser
from wiki.sync import scan
from wiki.sync.links import whole_places

pytestmark = pytest.mark.django_db

HERE = "wiki/concepts/here.md"
FILES = {
    "wiki/entities/alan-turing.md": "---\ntitle: Alan Turing\naliases: [Prof]\n---\n",
    "wiki/entities/ada.md": "---\ntitle: Ada Lovelace\n---\n",
    "raw/sources/ada.md": "A source of the same name.\n",
    "wiki/concepts/enigma.md": "---\ntitle: Enigma\n---\n",
    "wiki/concepts/a-b.md": "---\ntitle: A/B\n---\n",
    "wiki/entities/twin.md": "---\ntitle: Twins\n---\n",
    "wiki/concepts/twins.md": "---\ntitle: Twins\n---\n",
    "notes/Plan B.md": "A note of the person's.\n",
    "raw/assets/machine.png": "",
}


@pytest.fixture
def filled(vault_folder: VaultFolder) -> VaultFolder:
    for path, text in FILES.items():
        vault_folder.write(path, text)
    scan()
    return vault_folder


def normalised(body: str, *, path: str = HERE, title: str = "Here", properties: dict[str, Any] | None = None) -> str:
    return Normaliser(path=path, title=title, body=body, properties=properties or {}).body()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # a title: the file's stem, shown as written
        ("[[Alan Turing]]", "[[alan-turing|Alan Turing]]"),
        ("[[alan turing]]", "[[alan-turing|alan turing]]"),
        ("[[Alan Turing|him]]", "[[alan-turing|him]]"),
        ("[[Alan Turing#Life]]", "[[alan-turing#Life|Alan Turing]]"),
        ("[[Alan Turing#^b1|that]]", "[[alan-turing#^b1|that]]"),
        ("![[Alan Turing]]", "![[alan-turing]]"),
        ("![[Alan Turing#Life|300]]", "![[alan-turing#Life|300]]"),
        # an alias alone does not resolve in Obsidian
        ("[[Prof]]", "[[alan-turing|Prof]]"),
        # raw/ has a namesake with a shorter path: the whole path
        ("[[Ada Lovelace]]", "[[wiki/entities/ada|Ada Lovelace]]"),
        # a title that is the name of the page's file, in any case
        ("[[Enigma]]", "[[Enigma]]"),
        ("[[enigma]]", "[[enigma]]"),
        ("[[A/B]]", "[[a-b|A/B]]"),
        # the page itself
        ("[[Here]]", "[[Here]]"),
        ("[[#A heading]]", "[[#A heading]]"),
        # right already, or Obsidian's own answer
        ("[[alan-turing|Turing]]", "[[alan-turing|Turing]]"),
        ("[[wiki/entities/ada|Ada]]", "[[wiki/entities/ada|Ada]]"),
        ("[[ada]]", "[[ada]]"),
        ("[[Plan B]] and ![[machine.png|100]]", "[[Plan B]] and ![[machine.png|100]]"),
        # nothing matches: the slug, so that it works once the page exists
        ("[[Bletchley Park]]", "[[bletchley-park|Bletchley Park]]"),
        ("[[Bletchley Park#Huts|huts]]", "[[bletchley-park#Huts|huts]]"),
        ("![[Bletchley Park]]", "![[bletchley-park|Bletchley Park]]"),
        ("[[bletchley]]", "[[bletchley]]"),
        ("[[Node.js]]", "[[node-js|Node.js]]"),
        ("[[TCP/IP]]", "[[tcp-ip|TCP/IP]]"),
        ("[[图灵 机]]", "[[图灵-机|图灵 机]]"),
        # ... unless the slug is another page's, or the target is no title
        ("[[A B]]", "[[A B]]"),
        ("![[later.png]]", "![[later.png]]"),
        ("[[Report.pdf]]", "[[Report.pdf]]"),
        ("[[https://example.org]]", "[[https://example.org]]"),
        ("[[wiki/concepts/Later]]", "[[wiki/concepts/Later]]"),
        ("[[../Later]]", "[[../Later]]"),
        # two pages of one title: nobody can tell which; the file of that name is Obsidian's answer
        ("[[Twins]]", "[[Twins]]"),
        # no links
        ("`[[Alan Turing]]`", "`[[Alan Turing]]`"),
        ("\n\n```\n[[Alan Turing]]\n```\n\n", "\n\n```\n[[Alan Turing]]\n```\n\n"),
        ("\\[[Alan Turing]]", "\\[[Alan Turing]]"),
        ("<!-- [[Alan Turing]] -->", "<!-- [[Alan Turing]] -->"),
        ("[Alan](Alan%20Turing.md)", "[Alan](Alan%20Turing.md)"),
    ],
)
def test_each_kind_of_link(filled: VaultFolder, written: str, expected: str) -> None:
    assert normalised(f"Before {written} after.\n") == f"Before {expected} after.\n"


def test_bars_are_escaped_in_tables_only(filled: VaultFolder) -> None:
    body = "| who | what |\n|---|:-:|\n| [[Alan Turing]] | [[Prof\\|him]] |\n\nThen [[Alan Turing]] \\| [[Prof]].\n"
    assert normalised(body) == (
        "| who | what |\n|---|:-:|\n| [[alan-turing\\|Alan Turing]] | [[alan-turing\\|him]] |\n"
        "\nThen [[alan-turing|Alan Turing]] \\| [[alan-turing|Prof]].\n"
    )


def test_a_table_in_a_callout(filled: VaultFolder) -> None:
    body = "> [!note]\n> a | b\n> -- | --\n> [[Alan Turing]] | x\n"
    assert "[[alan-turing\\|Alan Turing]]" in normalised(body)


def test_windows_line_ends_and_everything_around_links_stay(filled: VaultFolder) -> None:
    body = "A [[Alan Turing]]\r\n\r\n\tB\u2028C  \r\n[[Prof]]"
    assert normalised(body) == "A [[alan-turing|Alan Turing]]\r\n\r\n\tB\u2028C  \r\n[[alan-turing|Prof]]"


def test_where_the_link_stands_decides(filled: VaultFolder) -> None:
    # Beside the page, Obsidian prefers the file in the same folder: there the stem is enough.
    assert normalised("[[Ada Lovelace]]", path="wiki/entities/here.md") == "[[ada|Ada Lovelace]]"


def test_links_in_properties_are_links_too(filled: VaultFolder) -> None:
    given = {
        "title": "[[Alan Turing]]",
        "sources": ["[[Alan Turing]]"],
        "related": ["[[Alan Turing]]", "about [[Alan Turing]]", {"deep": "[[Prof|P]]"}],
        "up": "[[Nobody Yet]]",
    }
    links = Normaliser(path=HERE, title="Here", body="", properties=given)
    assert links.properties() == {
        "title": "[[Alan Turing]]",
        "sources": ["[[Alan Turing]]"],
        "related": ["[[alan-turing|Alan Turing]]", "about [[Alan Turing]]", {"deep": "[[alan-turing|P]]"}],
        "up": "[[nobody-yet|Nobody Yet]]",
    }


def test_a_link_made_for_later_works_once_the_page_exists(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", "With [[Charles Babbage]].\n")
    assert Link.objects.get().state == "broken"
    claude.write("Charles Babbage", type="entity")
    link = Link.objects.get()
    assert (link.state, link.target_path, link.alias) == (
        "resolved",
        "wiki/entities/charles-babbage.md",
        "Charles Babbage",
    )
    assert link.target == page_by_title("Charles Babbage")


def test_what_was_written_is_right_and_stays(filled: VaultFolder, claude: Writer) -> None:
    first = claude.write("Here", "[[Alan Turing]] [[Ada Lovelace]] [[Nobody]] [[Here]]\n")
    body = filled.read(first.page.path).decode().split("---\n")[2]
    again = claude.write("Here", body)
    assert again.content_hash == first.content_hash


TARGETS = st.sampled_from(
    [
        *("Alan Turing", "alan-turing", "Prof", "Ada Lovelace", "ada", "ADA", "Enigma", "A/B", "Twins", "twins"),
        *("Plan B", "plan b", "Nobody", "wiki/entities/ada", "entities/ada", "./enigma", "../entities/ada", "Here"),
        "machine.png",
    ]
)
LINKS = st.builds(
    lambda mark, target, sub, alias: f"{mark}[[{target}{sub}{alias}]]",
    st.sampled_from(["", "!"]),
    TARGETS,
    st.sampled_from(["", "#H", "#^b"]),
    st.sampled_from(["", "|shown", "\\|shown"]),
)
TEXT = st.sampled_from([" ", "\n", "\n\n", "| ", "`", "a", "\n|--|--|\n", "- ", "[x](y.md)", "$", "<!--", "\r\n"])


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINKS | TEXT, max_size=12).map("".join))
def test_any_text_gets_links_that_obsidian_resolves_and_stays_then(filled: VaultFolder, body: str) -> None:
    once = normalised(body)
    places = whole_places()
    places.targets.add_file(HERE, page=True)
    before, after = parse_body(body).links, parse_body(once).links
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert (old.kind, old.embed, old.subpath) == (new.kind, new.embed, new.subpath)
        if old.kind == "markdown":
            assert new.target == old.target
            continue
        answer = resolve(new.target, source=HERE, targets=places.targets)
        assert answer.state in ("resolved", "self") or new.target == "nobody"
        assert new.alias in (old.alias, old.target) or (old.embed and new.alias is None)
    assert normalised(once) == once
