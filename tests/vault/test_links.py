"""Obsidian's rule of what a link leads to, where Synapse goes on, and what the write path writes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.links import (
    Resolution,
    Targets,
    link_keys,
    link_text,
    name_key,
    path_key,
    render_wikilink,
    resolve,
    text_key,
    writable_target,
)
from vault.markdown import parse_body


def build(*paths: str, titles: dict[str, str] | None = None, aliases: dict[str, list[str]] | None = None) -> Targets:
    targets = Targets()
    for path in paths:
        targets.add_file(path, page=path.endswith(".md"))
    for path, title in (titles or {}).items():
        targets.add_title(title, path)
    for path, names in (aliases or {}).items():
        for name in names:
            targets.add_alias(name, path)
    return targets


@pytest.mark.parametrize(
    ("target", "source", "paths", "path"),
    [
        # 1: exactly that vault path, even beside another
        ("Note", "b/s.md", ["Note.md", "b/Note.md"], "Note.md"),
        ("b/Note", "a/b/s.md", ["b/Note.md", "a/b/Note.md"], "b/Note.md"),
        # 2: the note's own folder; ancestors do not count
        ("Note", "zzzz/s.md", ["zzzz/Note.md", "b/Note.md"], "zzzz/Note.md"),
        ("Note", "zzzz/deep/s.md", ["zzzz/Note.md", "b/Note.md"], "b/Note.md"),
        # 3: the shortest path string, not the fewest folders
        ("Note", "s.md", ["zzzz/Note.md", "a/b/Note.md"], "a/b/Note.md"),
        # a namesake in raw/ has the shorter path
        ("simdiff", "index.md", ["raw/simdiff.md", "wiki/simdiff.md"], "raw/simdiff.md"),
        ("simdiff", "wiki/o.md", ["raw/simdiff.md", "wiki/simdiff.md"], "wiki/simdiff.md"),
        # suffixes match at a slash
        ("b/Note", "s.md", ["a/b/Note.md"], "a/b/Note.md"),
        ("otes/Note", "s.md", ["notes/Note.md"], None),
        # dot segments start from the note's folder and are looked up nowhere else
        ("./Note", "a/s.md", ["a/Note.md", "Note.md"], "a/Note.md"),
        ("../Note", "a/b/s.md", ["a/Note.md", "Note.md"], "a/Note.md"),
        ("./Note", "a/s.md", ["b/Note.md"], None),
        ("a/../Note", "s.md", ["Note.md"], "Note.md"),
        ("../Note", "s.md", ["Note.md"], None),
        ("a/../../Note", "s.md", ["Note.md"], None),
        ("../..", "a/s.md", ["a.md"], None),
        # a leading slash is the root
        ("/a/Note", "b/s.md", ["a/Note.md"], "a/Note.md"),
        ("/Note", "b/s.md", ["a/Note.md"], None),
        # case, extensions
        ("LOG", "s.md", ["Log.md"], "Log.md"),
        ("Ext.MD", "s.md", ["Ext.md"], "Ext.md"),
        ("ext", "s.md", ["a/Ext.MD"], "a/Ext.MD"),
        ("v1.2", "s.md", ["v1.2.md", "v1.md"], "v1.2.md"),
        ("Figure 1.PNG", "s.md", ["Figure 1.png"], "Figure 1.png"),
        ("Figure 1", "s.md", ["Figure 1.png"], None),
        ("X", "s.md", ["X.canvas", "X.base", "X.md", "X.png"], "X.md"),
        ("LICENSE", "s.md", ["LICENSE"], "LICENSE"),
        ("LICENSE", "s.md", ["LICENSE", "a/LICENSE.md"], "a/LICENSE.md"),
        ("LICENSE.md", "s.md", ["LICENSE"], None),
        # Unicode: the path keeps its bytes
        ("Caf\u00e9", "s.md", ["Cafe\u0301.md"], "Cafe\u0301.md"),
        ("Cafe\u0301", "s.md", ["Caf\u00e9.md"], "Caf\u00e9.md"),
        ("My\u00a0Note", "s.md", ["My Note.md"], "My Note.md"),
        (" Note ", "s.md", ["Note.md"], "Note.md"),
        # what is hidden is nobody's target
        ("A", "s.md", [".trash/A.md", "x/.git/A.md"], None),
        (".hidden", "s.md", [".hidden.md"], None),
        # not names
        ("advanced/", "s.md", ["advanced/x.md"], None),
        ("https://example.com", "s.md", ["example.com.md"], None),
        ("/", "s.md", ["a.md"], None),
        (".md", "s.md", ["a.md"], None),
    ],
)
def test_a_path_is_found_as_obsidian_finds_it(target: str, source: str, paths: list[str], path: str | None) -> None:
    expected = Resolution("resolved", path) if path else Resolution("broken", None)
    assert resolve(target, source=source, targets=build(*paths)) == expected


def test_the_case_as_written_goes_first() -> None:
    targets = build("Foo.md", "foo.md", "a/Bar.md", "b/bar.md")
    for name in ("Foo", "foo"):
        assert resolve(name, source="s.md", targets=targets) == Resolution("resolved", f"{name}.md")
    assert resolve("FOO", source="s.md", targets=targets) == Resolution("ambiguous", "Foo.md")
    assert resolve("bar", source="s.md", targets=targets) == Resolution("resolved", "b/bar.md")


def test_the_characters_as_written_go_first_among_forms_of_one_name() -> None:
    composed, decomposed = "Caf\u00e9", "Cafe\u0301"
    targets = build(f"{composed}.md", f"{decomposed}.md", "no\u00a0break.md", "no break.md")
    for name in (composed, decomposed, "no\u00a0break", "no break"):
        assert resolve(name, source="s.md", targets=targets) == Resolution("resolved", f"{name}.md")
    assert resolve(composed.upper(), source="s.md", targets=targets) == Resolution("ambiguous", f"{decomposed}.md")


def test_paths_of_one_length_are_ambiguous_and_lead_to_the_first() -> None:
    targets = build("b/Note.md", "a/Note.md", "ccc/Note.md")
    assert resolve("Note", source="s.md", targets=targets) == Resolution("ambiguous", "a/Note.md")
    assert resolve("Note", source="b/s.md", targets=targets) == Resolution("resolved", "b/Note.md")


def test_an_empty_target_is_the_note_itself() -> None:
    assert resolve("", source="a/s.md", targets=Targets()) == Resolution("self", "a/s.md")
    assert resolve("s", source="a/s.md", targets=build("a/s.md")) == Resolution("resolved", "a/s.md")


def test_a_title_and_then_an_alias_is_found_where_no_file_is() -> None:
    targets = build(
        "wiki/turing.md",
        "wiki/b.md",
        "AI.md",
        titles={"wiki/turing.md": "Alan Turing", "wiki/b.md": "Shared"},
        aliases={"wiki/turing.md": ["A. M. Turing", "Shared", "AI"], "wiki/b.md": ["Both"], "AI.md": ["both"]},
    )

    def answer(target: str, *, markdown: bool = False) -> Resolution:
        return resolve(target, source="s.md", targets=targets, markdown=markdown)

    assert answer("alan turing") == Resolution("by_title", "wiki/turing.md")
    assert answer("a. m. turing") == Resolution("by_alias", "wiki/turing.md")
    assert answer("Shared") == Resolution("by_title", "wiki/b.md")
    assert answer("AI") == Resolution("resolved", "AI.md")
    assert answer("Both") == Resolution("by_alias", "wiki/b.md")
    assert answer("BOTH") == Resolution("ambiguous", None)
    assert answer("Alan Turing", markdown=True) == Resolution("broken", None)


def test_two_pages_of_one_title_are_ambiguous_and_lead_nowhere() -> None:
    targets = build(titles={"a.md": "T", "b.md": "T"})
    assert resolve("T", source="s.md", targets=targets) == Resolution("ambiguous", None)
    targets.remove_title("T", "a.md")
    assert resolve("T", source="s.md", targets=targets) == Resolution("by_title", "b.md")
    targets.remove_title("T", "b.md")
    targets.add_alias("T", "c.md")
    targets.add_alias("T", "c.md")
    assert resolve("T", source="s.md", targets=targets) == Resolution("by_alias", "c.md")
    targets.remove_alias("T", "c.md")
    targets.remove_alias("T", "c.md")
    assert resolve("T", source="s.md", targets=targets) == Resolution("broken", None)


def test_a_removed_file_is_forgotten() -> None:
    targets = build("a/Note.md", "ccc/Note.md")
    targets.remove_file("a/Note.md")
    targets.remove_file("a/Note.md")
    assert resolve("Note", source="s.md", targets=targets) == Resolution("resolved", "ccc/Note.md")


# --- the same answer from a part of the vault ---------------------------------------------------

_segment = st.sampled_from(
    ["a", "b", "Note", "note", "v1.2", "Caf\u00e9", "Cafe\u0301", "x y", "x\u00a0y", "i.png", "ß", "SS"]
)
_folders = st.lists(st.sampled_from(["a", "b", "zz", "A"]), max_size=3)
_paths = st.builds(
    lambda folders, name, end: "/".join([*folders, name + end]), _folders, _segment, st.sampled_from([".md", ".MD", ""])
)
_targets = st.builds(
    lambda start, folders, name, end: start + "/".join([*folders, name + end]),
    st.sampled_from(["", "", "./", "../", "../../", "/", " "]),
    st.lists(st.sampled_from(["a", "b", "zz", ".."]), max_size=2),
    _segment,
    st.sampled_from(["", ".md", ".MD", " "]),
)
_names = st.lists(st.tuples(_segment, _paths), max_size=4)


@given(st.lists(_paths, max_size=12, unique=True), _names, _names, _targets, _paths)
def test_the_rows_with_a_links_keys_decide_its_answer(
    paths: list[str], titles: list[tuple[str, str]], aliases: list[tuple[str, str]], target: str, source: str
) -> None:
    whole, part = Targets(), Targets()
    name, text = link_keys(target, source)
    for path in paths:
        whole.add_file(path, page=True)
        if name_key(path) == name:
            part.add_file(path, page=True)
    for title, path in titles:
        whole.add_title(title, path)
        if text_key(title) == text:
            part.add_title(title, path)
    for alias, path in aliases:
        whole.add_alias(alias, path)
        if text_key(alias) == text:
            part.add_alias(alias, path)
    for markdown in (False, True):
        answer = resolve(target, source=source, targets=whole, markdown=markdown)
        assert resolve(target, source=source, targets=part, markdown=markdown) == answer


@given(st.lists(_paths, max_size=12, unique=True), _targets, _paths, st.randoms())
def test_the_order_of_files_does_not_matter(paths: list[str], target: str, source: str, random: object) -> None:
    answer = resolve(target, source=source, targets=build(*paths))
    assert resolve(target, source=source, targets=build(*reversed(paths))) == answer
    assert answer.path is None or answer.path in paths


@given(st.lists(_paths, min_size=1, max_size=12, unique_by=path_key), _paths)
def test_what_the_write_path_writes_leads_to_the_page(paths: list[str], source: str) -> None:
    targets = build(*paths)
    for path in paths:
        if path.lower().endswith(".md"):
            text = link_text(page_path=path, title="", source=source, targets=targets)
            assert resolve(text, source=source, targets=targets) == Resolution("resolved", path)
            assert "/" not in text or text in (path, path[:-3])


@given(st.text())
def test_keys_are_their_own_keys(text: str) -> None:
    assert text_key(text_key(text)) == text_key(text)
    assert name_key(text) == path_key(text).rpartition("/")[2]
    assert path_key(text + ".MD") == path_key(text + ".md")


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_target_raises(target: str, source: str) -> None:
    assert resolve(target, source=source, targets=build("a.md", "b/a.md")).state in {
        "resolved",
        "broken",
        "self",
        "ambiguous",
    }


# --- what the write path writes -----------------------------------------------------------------


def test_the_stem_is_written_where_obsidian_finds_the_page_by_it() -> None:
    def text(source: str, *paths: str) -> str:
        return link_text(
            page_path="wiki/entities/alan-turing.md", title="Alan Turing", source=source, targets=build(*paths)
        )

    page = "wiki/entities/alan-turing.md"
    assert text("wiki/concepts/x.md", page) == "alan-turing"
    assert text("wiki/concepts/x.md", page, "raw/alan-turing.md") == "wiki/entities/alan-turing"
    assert text("wiki/entities/x.md", page, "raw/alan-turing.md") == "alan-turing"
    assert text("wiki/concepts/x.md", page, "wiki/concepts/alan-turing.md") == "wiki/entities/alan-turing"
    assert text("wiki/concepts/x.md", page, "a/bb/concepts/alan-turing.md") == "wiki/entities/alan-turing"


def test_a_name_that_ends_like_an_extension_is_written_whole() -> None:
    targets = build("a/v1.md.md", "v1.md")
    assert link_text(page_path="a/v1.md.md", title="", source="s.md", targets=targets) == "a/v1.md.md"


def test_targets_that_no_wikilink_can_hold() -> None:
    assert [name for name in ("C#", "a|b", "a]]b", "a[[b", "a\nb", "", " ", "a\\") if writable_target(name)] == []
    assert writable_target("wiki/a [b] ^c")
    assert link_text(page_path="a/C#.md", title="", source="s.md", targets=build("a/C#.md")) == "a/C#"


def test_a_link_is_rendered_as_written() -> None:
    assert render_wikilink("a") == "[[a]]"
    assert render_wikilink("a", "#H", "b") == "[[a#H|b]]"
    assert render_wikilink("i.png", "", "100x145", embed=True) == "![[i.png|100x145]]"
    assert render_wikilink("a", alias="b", in_table=True) == "[[a\\|b]]"
    assert render_wikilink("a", alias="  ") == "[[a]]"


@given(st.text(max_size=40))
def test_every_alias_can_be_rendered(alias: str) -> None:
    text = render_wikilink("target", "#sub", alias)
    links = parse_body(f"before {text} after").links
    assert [(link.target, link.subpath) for link in links] == [("target", "#sub")]
    assert links[0].end - links[0].start == len(text)
    shown = " ".join(alias.split())
    if "[[" not in alias and "]]" not in alias:
        assert (links[0].alias or "") == shown


def test_ten_thousand_files_are_built_and_asked_quickly() -> None:
    paths = [f"wiki/concepts/Some Page {number}.md" for number in range(10_000)]
    started = time.process_time()
    targets = build(*paths)
    built = time.process_time() - started
    for number in range(10_000):
        assert resolve(f"some page {number}", source="wiki/s.md", targets=targets).path == paths[number]
    asked = time.process_time() - started - built
    assert built < 5, built  # measured 0.012 s; a pass that looks at every other file would take minutes
    assert asked < 5, asked
