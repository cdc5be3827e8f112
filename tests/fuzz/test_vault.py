"""The rules of pages under any text: nothing raises but the typed error, and what is written is read back."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profiles import examples
from tests.fuzz.texts import BYTES, CORPUS, PIECES, SOUP, TEXTS, VALUES
from vault import frontmatter
from vault.errors import SynapseError
from vault.links import Targets, link_text, render_wikilink, resolve, writable_target
from vault.markdown import parse_body, prose, rewrite_links
from vault.pages import parse_page
from vault.paths import check_writable_name, is_allowed
from vault.slugs import slugify

STATES = {"resolved", "by_title", "by_alias", "ambiguous", "broken", "self"}


def read_page(data: bytes) -> None:
    """A page of any bytes is read, its properties are JSON, and its parts lie where they are said to."""
    page = parse_page("wiki/concepts/a.md", data)
    assert json.loads(json.dumps(page.frontmatter, allow_nan=False)) == page.frontmatter
    assert page.title
    assert page.title == unicodedata.normalize("NFC", page.title)
    assert parse_page("wiki/concepts/a.md", data) == page


@pytest.mark.parametrize("kept", CORPUS, ids=lambda path: path.stem)
def test_what_once_failed_is_read(kept: Path) -> None:
    data = kept.read_bytes()
    read_page(data)
    text = data.decode("utf-8", "surrogateescape")
    parts = frontmatter.split(text)
    frontmatter.load(text)
    assert rewrite_links(parts.body, lambda _: None) == parts.body
    slugify(text)


@given(BYTES)
@examples(80, 20_000)
def test_any_bytes_are_a_page(data: bytes) -> None:
    read_page(data)


@given(TEXTS)
@examples(80, 20_000)
def test_any_text_is_a_body(text: str) -> None:
    body = parse_body(text)
    for link in body.links:
        assert 0 <= link.start < link.end <= len(text)
    assert rewrite_links(text, lambda _: None) == text
    assert len(prose(text)) == len(text)


@given(TEXTS)
@examples(80, 20_000)
def test_any_text_is_split_and_put_together(text: str) -> None:
    parts = frontmatter.split(text)
    assert text.endswith(parts.body)
    loaded = frontmatter.load(parts.raw) if parts.raw is not None else None
    if loaded is not None:
        assert json.loads(json.dumps(loaded.data, allow_nan=False)) == loaded.data


@given(data=st.dictionaries(st.text(max_size=8) | st.sampled_from(PIECES), VALUES, max_size=4), body=TEXTS)
@examples(80, 10_000)
def test_what_is_composed_is_read_back(data: dict[str, Any], body: str) -> None:
    try:
        text = frontmatter.compose(data, body)
    except SynapseError:
        return
    parts = frontmatter.split(text)
    assert parts.body == body
    loaded = frontmatter.load(parts.raw or "")
    assert not loaded.flags
    assert frontmatter.compose(loaded.data, body) == text


@given(text=TEXTS, changes=st.dictionaries(st.sampled_from(["title", "a", "tags", "new", "x y"]), VALUES, max_size=3))
@examples(80, 10_000)
def test_a_change_keeps_the_body_and_can_be_made_again(text: str, changes: dict[str, Any]) -> None:
    try:
        changed = frontmatter.update(text, changes)
        again = frontmatter.update(changed, changes)
    except SynapseError:
        return
    assert again == changed
    if frontmatter.split(text).raw is not None:
        assert frontmatter.split(changed).body == frontmatter.split(text).body


_NAMES = st.lists(
    st.sampled_from(["a", "b", "A", "é", "e\u0301", "x y", "日本", "a.b", "index"]), min_size=1, max_size=3
).map("/".join)


@given(
    paths=st.lists(_NAMES.map("{}.md".format), max_size=8, unique=True),
    names=st.lists(st.text(max_size=8), max_size=4),
    target=st.one_of(SOUP, st.text(max_size=20), _NAMES),
    source=_NAMES.map("{}.md".format),
    markdown=st.booleans(),
)
@examples(80, 20_000)
def test_any_target_is_resolved(paths: list[str], names: list[str], target: str, source: str, markdown: bool) -> None:
    targets = Targets()
    for path in paths:
        targets.add_file(path, page=True)
    for name, path in zip(names, paths, strict=False):
        targets.add_title(name, path)
        targets.add_alias(name[::-1], path)
    found = resolve(target, source=source, targets=targets, markdown=markdown)
    assert found.state in STATES
    assert found.path is None or found.path in {*paths, source}
    for path in paths:
        written = link_text(page_path=path, title="", source=source, targets=targets)
        if writable_target(written):
            assert [link.target for link in parse_body(render_wikilink(written, "", target)).links] == [written]


@given(st.one_of(SOUP, st.text(max_size=200)))
@examples(80, 20_000)
def test_any_title_has_one_slug_that_can_be_written(title: str) -> None:
    slug = slugify(title)
    assert slug
    assert len(slug) <= 80
    assert len(slug.encode()) <= 200
    assert is_allowed(f"wiki/concepts/{slug}.md")
    check_writable_name(f"wiki/concepts/{slug}.md")
    assert slugify(slug) == slug
