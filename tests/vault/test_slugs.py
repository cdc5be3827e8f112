"""Slugs: readable in every script, safe everywhere, and never two answers for one name."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault.errors import ErrorCode, SynapseError
from vault.paths import check_writable_name
from vault.slugs import MAX_BYTES, MAX_CHARACTERS, TYPE_FOLDERS, page_path, slugify, type_of_folder

ANY = st.text(st.characters(), max_size=120)
MARKED = st.text(
    st.sampled_from("aİIßΣ ώ日本한हिन्दी\u0301\u0327\u093f\u200d\u200c\ufe0f\u20e3-_.½ﬁ１²\u3164\U0001f600"),
    max_size=120,
)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Alan Turing", "alan-turing"),
        ("  A/B — C:  D?  ", "a-b-c-d"),
        ("A_B", "a-b"),
        ("C++", "c"),
        ("naïve Café", "naïve-café"),
        ("nai\u0308ve", "naïve"),
        ("日本語 ノート", "日本語-ノート"),
        ("Ελλάς ΣΊΣΥΦΟΣ", "ελλάς-σίσυφος"),
        ("हिन्दी विकि", "हिन्दी-विकि"),
        ("தமிழ்", "தமிழ்"),
        ("한국어", "한국어"),
        ("می\u200cخواهم", "میخواهم"),
        ("İstanbul", "istanbul"),
        ("Straße", "straße"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full-width"),
        ("x² ½", "x2-1-2"),
        ("co\u00adop\u200b", "coop"),
        ("1\ufe0f\u20e3 One ❤\ufe0f", "1-one"),
        ("../../etc/passwd", "etc-passwd"),
        ("index", "index"),
        ("CON", "con-page"),
        ("com1", "com1-page"),
        ("COM¹", "com1-page"),
        ("Console", "console"),
        ("Claude", "claude-page"),
        ("AGENTS", "agents-page"),
    ],
)
def test_a_title_becomes_a_name(title: str, slug: str) -> None:
    assert slugify(title) == slug


@given(ANY | MARKED)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_every_title_has_a_short_writable_name_that_is_its_own(title: str) -> None:
    slug = slugify(title)
    assert 0 < len(slug) <= MAX_CHARACTERS
    assert len(slug.encode()) <= MAX_BYTES
    assert slugify(slug) == slug
    assert slug == slug.lower() == unicodedata.normalize("NFKC", slug)
    assert slug.strip("-") == slug
    assert "--" not in slug
    assert all(character == "-" or unicodedata.category(character)[0] in "LNM" for character in slug)
    assert check_writable_name(f"wiki/entities/{slug}.md")


def test_every_character_is_settled_at_once() -> None:
    points = [*range(0x3400), *range(0xA000, 0xAC00), *range(0xD7A0, 0xD800), *range(0xE000, 0xE100)]
    points += [*range(0xF900, 0x10000), *range(0x10000, 0x20000, 3), *range(0xE0000, 0xE0200)]
    unsettled = [point for point in points if slugify(slug := slugify(f"a{chr(point)}b")) != slug]
    assert unsettled == []


def test_titles_without_letters_get_different_names() -> None:
    names = {slugify(title) for title in ("", "!", "?", "❤", "...", "\ufe0f", "\u3164", "\u0301")}
    assert len(names) == 8
    assert all(name.startswith("page-") for name in names)


def test_a_name_that_looks_like_a_conflict_copy_is_replaced() -> None:
    assert slugify("notes conflict 20260818 173636").startswith("page-")


@pytest.mark.parametrize("unit", ["x", "日", "é", "a\u0328\u0301", "क्षि", "word ", "𝒜", "𐐷"])
def test_long_titles_are_cut_between_characters(unit: str) -> None:
    slug = slugify(unit * 300)
    assert len(slug) <= MAX_CHARACTERS
    assert len(slug.encode()) <= MAX_BYTES
    whole = unicodedata.normalize("NFKC", unit * 300).lower().replace(" ", "-")
    assert whole.startswith(slug)
    # What would come next does not belong to the last character kept.
    assert not unicodedata.category(whole[len(slug)]).startswith("M")


def test_paths_follow_the_type_and_the_type_follows_the_path() -> None:
    for page_type, folder in TYPE_FOLDERS.items():
        path = page_path(page_type, "A Title")
        assert path == f"wiki/{folder}/a-title.md"
        assert type_of_folder(path) == page_type
        assert type_of_folder(f"wiki/{folder}/deep/er.md") == page_type
    for path in ("wiki/index.md", "entities/x.md", "wiki/other/x.md", "raw/entities/x.md", "wiki/entities", "x.md"):
        assert type_of_folder(path) is None


@pytest.mark.parametrize("page_type", ["", "person", "Entity", "../x"])
def test_an_unknown_type_has_no_folder(page_type: str) -> None:
    with pytest.raises(SynapseError) as refused:
        page_path(page_type, "T")
    assert refused.value.code is ErrorCode.INVALID_FRONTMATTER
    assert "type" in refused.value.repair["fields"]
