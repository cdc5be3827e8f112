"""What agents file: checked item by item, found again, and refused for a reason that can be acted on."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.models import ReviewItem
from reviews.services import parse_items, propose, resolve
from reviews.services.proposals import FIELDS, page_named
from tests.conftest import VaultFolder
from tests.indexed import indexed
from tests.reviews.queue import ALICE, CLAUDE
from vault.errors import ErrorCode, SynapseError
from wiki.models import Page
from wiki.sync import scan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]

LEAST = {"item_type": "contradiction", "title": "Two dates of birth"}
SOURCES: dict[str, Any] = {"proposed_frontmatter": {"sources": ["raw/sources/a.md"]}}
MISSING = {"item_type": "missing-page", "title": "Who was she?", "proposed_title": "Ada"}


def written(folder: VaultFolder, title: str) -> Page:
    """A page that can be edited, in the vault and in the index."""
    folder.write(f"wiki/{title}.md", f"---\ntitle: {title}\ntype: concept\nsources: [x]\nlang: en\n---\nWho?\n")
    scan()
    return Page.objects.get(title=title)


def outcomes(*items: Any) -> list[tuple[str, str | None]]:
    """What became of each, and the code of a refusal."""
    answer = propose(items=items, author=CLAUDE)
    assert [entry["index"] for entry in answer["result"]] == list(range(len(items)))
    for what in ("filed", "refreshed", "unchanged", "refused"):
        assert answer[what] == sum(entry["outcome"] == what for entry in answer["result"])
    return [(entry["outcome"], entry.get("error_code")) for entry in answer["result"]]


def refusal(item: Any) -> dict[str, Any]:
    """The one refusal of an item, which has left nothing behind."""
    (entry,) = propose(items=[item], author=CLAUDE)["result"]
    assert entry["outcome"] == "refused", entry
    assert not ReviewItem.objects.exists()
    return dict(entry)


def test_all_that_can_be_given(vault_folder: VaultFolder) -> None:
    ada, bob = written(vault_folder, "Ada"), indexed("Bob")
    item = {
        "item_type": "suggestion",
        "title": "  Say when she was born ",
        "rationale": "The source says so.\n\nTwice.",
        "page": str(ada.uid),
        "proposed_title": "",
        "proposed_page_type": "entity",
        "proposed_frontmatter": {"tags": ["a"], "n": 1.5, "deep": {"x": None}},
        "proposed_body": "Body.\n",
        "base_hash": "A" * 64,
        "referenced_pages": [bob.path, "Ada", str(bob.uid)],
        "search_queries": ["ada birth", "ada birth"],
    }
    assert set(item) == set(FIELDS)
    (entry,) = propose(items=[item], author=CLAUDE)["result"]
    stored = ReviewItem.objects.get()
    assert entry == {"index": 0, "outcome": "filed", "id": str(stored.pk), "status": "pending"}
    assert (stored.origin, stored.rule, stored.filed_by, stored.filed_via) == (
        "agent",
        "agent",
        "agent:claude",
        "mcp-stdio",
    )
    assert (stored.title, stored.page, stored.base_hash) == ("Say when she was born", ada, "a" * 64)
    assert [page["title"] for page in stored.referenced_pages] == ["Bob", "Ada"]
    assert (stored.search_queries, stored.proposed_frontmatter) == (["ada birth"], item["proposed_frontmatter"])


@pytest.mark.parametrize("items", [None, {}, "x", 7, {"items": []}])
def test_what_is_no_list(items: Any) -> None:
    with pytest.raises(SynapseError) as refused:
        propose(items=items, author=CLAUDE)
    assert refused.value.code is ErrorCode.INVALID_PARAM_TYPE


@pytest.mark.parametrize("count", [0, 21, 500])
def test_a_call_holds_1_to_20_items(count: int) -> None:
    with pytest.raises(SynapseError) as refused:
        propose(items=[LEAST] * count, author=CLAUDE)
    assert (refused.value.code, refused.value.repair["limit"]) == (ErrorCode.INVALID_PARAM_VALUE, 20)
    assert not ReviewItem.objects.exists()


def test_one_mistake_hides_no_other_item() -> None:
    good = [{**LEAST, "title": f"Question {number}"} for number in range(3)]
    assert outcomes(good[0], {}, good[1], 7, {**LEAST, "page": "nobody"}, good[2], good[0]) == [
        ("filed", None),
        ("refused", "missing_required_params"),
        ("filed", None),
        ("refused", "invalid_param_type"),
        ("refused", "page_not_found"),
        ("filed", None),
        ("filed", None),
    ]
    assert ReviewItem.objects.count() == 3


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"status": "created"}, "invalid_param_value"),
        ({"id": "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"}, "invalid_param_value"),
        ({"created_by": 1}, "invalid_param_value"),
        ({"rank": 5}, "invalid_param_value"),
        ({"rule": "orphan"}, "invalid_param_value"),
        ({"origin": "rule"}, "invalid_param_value"),
        ({"\0": 1}, "invalid_param_value"),
        ({"item_type": "stub"}, "invalid_param_value"),
        ({"item_type": None}, "missing_required_params"),
        ({"item_type": ["confirm"]}, "invalid_param_type"),
        ({"title": ""}, "missing_required_params"),
        ({"title": "   "}, "missing_required_params"),
        ({"title": 5}, "invalid_param_type"),
        ({"title": "t" * 201}, "invalid_param_value"),
        ({"title": "two\nlines"}, "invalid_param_value"),
        ({"title": "a\0b"}, "invalid_content"),
        ({"title": "\ud800"}, "invalid_content"),
        ({"rationale": "r" * 4_001}, "invalid_param_value"),
        ({"rationale": "a\0b"}, "invalid_content"),
        ({"rationale": True}, "invalid_param_type"),
        ({"page": "nobody"}, "page_not_found"),
        ({"page": "../../etc/passwd"}, "page_not_found"),
        ({"page": "wiki/nothing.md"}, "page_not_found"),
        ({"page": "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"}, "page_not_found"),
        ({"page": "a\0b"}, "invalid_content"),
        ({"page": "p" * 1_001}, "invalid_param_value"),
        ({"page": 7}, "invalid_param_type"),
        ({"proposed_title": "t" * 501}, "invalid_param_value"),
        ({"proposed_title": "a\tb"}, "invalid_param_value"),
        ({"proposed_page_type": "stub"}, "invalid_param_value"),
        ({"proposed_frontmatter": []}, "invalid_param_type"),
        ({"proposed_frontmatter": "type: entity"}, "invalid_param_type"),
        ({"proposed_frontmatter": {"n": float("nan")}}, "invalid_param_value"),
        ({"proposed_frontmatter": {"n": float("inf")}}, "invalid_param_value"),
        ({"proposed_frontmatter": {"n": 10**5_000}}, "invalid_param_value"),
        ({"proposed_frontmatter": {"d": date(2026, 1, 1)}}, "invalid_param_value"),
        ({"proposed_frontmatter": {"a": "\0"}}, "invalid_content"),
        ({"proposed_frontmatter": {"\ud800": 1}}, "invalid_content"),
        ({"proposed_body": 5, "proposed_title": "T"}, "invalid_param_type"),
        ({"proposed_body": "a\0b", "proposed_title": "T"}, "invalid_content"),
        ({"proposed_body": "x" * 6_000_000, "proposed_title": "T"}, "payload_too_large"),
        ({"proposed_body": "of nothing"}, "missing_required_params"),
        ({"base_hash": "abc"}, "invalid_param_value"),
        ({"base_hash": "g" * 64}, "invalid_param_value"),
        ({"referenced_pages": "Ada"}, "invalid_param_type"),
        ({"referenced_pages": ["x"] * 9}, "invalid_param_value"),
        ({"referenced_pages": [""]}, "invalid_param_value"),
        ({"referenced_pages": [None]}, "invalid_param_value"),
        ({"referenced_pages": [{"id": 1}]}, "invalid_param_type"),
        ({"referenced_pages": ["nobody"]}, "page_not_found"),
        ({"search_queries": ["q"] * 4}, "invalid_param_value"),
        ({"search_queries": ["q" * 201]}, "invalid_param_value"),
        ({"search_queries": [" "]}, "invalid_param_value"),
        ({"search_queries": "q"}, "invalid_param_type"),
    ],
)
def test_what_is_wrong_with_an_item_is_said(change: dict[str, Any], code: str) -> None:
    told = refusal({**LEAST, **change})
    assert told["error_code"] == code
    assert told["error"].isprintable()


def test_frontmatter_that_is_nested_too_deeply() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"a": deep}
    assert refusal({**LEAST, "proposed_frontmatter": deep})["error_code"] == "invalid_frontmatter"


def test_null_is_left_out() -> None:
    nothing = {name: None for name in FIELDS if name not in LEAST}
    assert outcomes({**LEAST, **nothing}, LEAST) == [("filed", None), ("filed", None)]
    assert ReviewItem.objects.count() == 1


# --- parts that go together ------------------------------------------------------------------------


def test_a_missing_page_has_a_title_to_be_made_under_and_no_page() -> None:
    indexed("Bob")
    assert refusal({**MISSING, "proposed_title": None})["error_code"] == "missing_required_params"
    assert refusal({**MISSING, "page": "Bob"})["error_code"] == "invalid_param_value"
    assert outcomes({**MISSING, "referenced_pages": ["Bob"]}) == [("filed", None)]
    assert ReviewItem.objects.get().target == "ada"


def test_an_edit_names_its_version(vault_folder: VaultFolder) -> None:
    page = written(vault_folder, "Bob")
    edit = {**LEAST, "page": "Bob", "proposed_body": "Other."}
    told = refusal(edit)
    assert (told["error_code"], told["content_hash"]) == ("base_required", page.content_hash)
    assert refusal({**edit, "proposed_title": "Bob"})["error_code"] == "base_required"
    assert outcomes({**edit, "base_hash": page.content_hash}, {**edit, "proposed_title": "A page of its own"}) == [
        ("filed", None),
        ("filed", None),
    ]


def test_a_version_beside_another_title_is_refused_as_it_would_make_a_second_page(
    vault_folder: VaultFolder,
) -> None:
    page = written(vault_folder, "Bob")
    both = {**LEAST, "page": "Bob", "proposed_body": "Other.", "base_hash": page.content_hash, "proposed_title": "Rob"}
    told = refusal(both)
    assert (told["error_code"], told["field"]) == ("invalid_param_value", "proposed_title")
    assert outcomes({**both, "proposed_title": "Bob"}) == [("filed", None)]


def test_a_version_without_a_page_is_refused_as_nothing_could_be_out_of_date() -> None:
    new = {**LEAST, "proposed_title": "Rob", "proposed_body": "He.", "base_hash": "1" * 64, **SOURCES}
    told = refusal(new)
    assert (told["error_code"], told["field"]) == ("invalid_param_value", "base_hash")


def test_a_version_without_a_text_is_not_kept(vault_folder: VaultFolder) -> None:
    """What proposes nothing stays as it is when the page changes, and is the same question about each version."""
    page = written(vault_folder, "Bob")
    assert outcomes({**LEAST, "page": "Bob", "base_hash": page.content_hash}) == [("filed", None)]
    assert ReviewItem.objects.get().base_hash == ""
    assert outcomes({**LEAST, "page": "Bob", "base_hash": "1" * 64}) == [("unchanged", None)]


@pytest.mark.parametrize("title", ["Ada Lovelace", "ADA LOVELACE", "Countess", "ada-l"])
def test_a_page_that_is_there_is_not_missing(title: str, vault_folder: VaultFolder) -> None:
    """By its title in whatever spelling, an alias, or the name of its file: links by that name lead to it."""
    vault_folder.write("wiki/ada-l.md", "---\ntitle: Ada Lovelace\naliases: [Countess]\n---\nShe.\n")
    scan()
    told = refusal({**MISSING, "proposed_title": title, **SOURCES})
    assert (told["error_code"], told["path"], told["title"]) == ("conflict", "wiki/ada-l.md", "Ada Lovelace")
    assert outcomes({**LEAST, "proposed_title": title, **SOURCES}) == [("filed", None)], "it may be a proposal"


# --- what create could never write -------------------------------------------------------------------


def test_a_missing_page_needs_something_to_rest_on() -> None:
    told = refusal(MISSING)
    assert (told["error_code"], list(told["fields"])) == ("invalid_frontmatter", ["sources"])
    assert "referenced_pages" in told["error"]
    asks = indexed("Bob")
    assert outcomes({**MISSING, **SOURCES}, {**MISSING, "referenced_pages": [asks.path]}) == [("filed", None)] * 2


def test_a_missing_page_that_is_linked_to_already_rests_on_that(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/bob.md", "He knew [[Ada]].")
    scan()
    assert outcomes(MISSING) == [("filed", None)]


@pytest.mark.parametrize(
    ("frontmatter", "named"),
    [
        ({"id": "8d3f5a1c-5f0e-4f3b-9a51-2f6f0d1b7c01"}, "id"),
        ({"content_hash": "0" * 64}, "content_hash"),
        ({"title": "Another"}, "title"),
        ({"type": "stub"}, "type"),
        ({"lang": "klingon"}, "lang"),
        ({"sources": []}, "sources"),
    ],
)
def test_frontmatter_that_no_page_may_have(frontmatter: dict[str, Any], named: str) -> None:
    indexed("Bob")
    told = refusal({**MISSING, "referenced_pages": ["Bob"], "proposed_frontmatter": frontmatter})
    assert (told["error_code"], list(told["fields"])) == ("invalid_frontmatter", [named])


@pytest.mark.parametrize("title", ["index", "log", "Log"])
def test_a_title_that_is_not_free(title: str) -> None:
    assert refusal({**MISSING, "proposed_title": title, **SOURCES})["error_code"] == "path_not_allowed"


@pytest.mark.parametrize("path", ["notes/bob.md", "schema.md", "wiki/overview.md"])
def test_a_page_that_may_not_be_written(vault_folder: VaultFolder, path: str) -> None:
    vault_folder.write(path, "---\ntitle: Bob\ntype: concept\nsources: [x]\nlang: en\n---\nHe.\n")
    scan()
    page = Page.objects.get(path=path)
    edit = {**LEAST, "page": path, "proposed_body": "She.\n", "base_hash": page.content_hash}
    assert refusal(edit)["error_code"] == "path_not_allowed"
    assert outcomes({**LEAST, "page": path}) == [("filed", None)], "it can be asked about all the same"


def test_a_new_page_outside_of_the_folders_that_may_be_written(settings: Any) -> None:
    settings.SYNAPSE_WRITE_DIRS = ["drafts"]
    assert refusal({**MISSING, **SOURCES})["error_code"] == "path_not_allowed"


def test_what_may_be_otherwise_by_then_is_filed(vault_folder: VaultFolder) -> None:
    written(vault_folder, "Ada")
    stale = {**LEAST, "page": "Ada", "proposed_body": "Who.\n", "base_hash": "1" * 64}
    assert outcomes({**LEAST, "proposed_title": "Ada", **SOURCES}, stale) == [("filed", None)] * 2
    assert not ReviewItem.objects.exclude(failure="").exists()


def test_frontmatter_alone_is_no_edit() -> None:
    page = indexed("Bob")
    for change in (
        {},
        {"page": "Bob"},
        {"page": "Bob", "proposed_title": "Bob"},
        {"page": "Bob", "base_hash": "1" * 64},
    ):
        told = refusal({**LEAST, **change, "proposed_frontmatter": {"tags": ["a"]}})
        assert (told["error_code"], told["missing"]) == ("missing_required_params", ["proposed_body"])
    new = {**LEAST, "page": str(page.uid), "proposed_title": "Rob", "proposed_frontmatter": {"tags": ["a"]}}
    assert outcomes(new) == [("filed", None)]


# --- which page is meant ---------------------------------------------------------------------------


def test_a_page_is_named_by_id_path_or_title() -> None:
    page = indexed("Ada é", path="wiki/Ada é.md")
    for text in (str(page.uid), str(page.uid).upper(), "wiki/Ada é.md", "wiki/Ada e\u0301.md", "Ada é", "Ada e\u0301"):
        assert page_named(text) == page
    odd = indexed("notes/a.md", path="wiki/b.md")
    assert page_named("notes/a.md") == odd, "a title that looks like a path"
    at = indexed("Other", path="notes/a.md")
    assert page_named("notes/a.md") == at, "a path goes first"


def test_a_title_of_two_pages_is_refused_with_their_paths() -> None:
    indexed("Ada", path="wiki/a.md")
    indexed("Ada", path="wiki/b.md")
    told = refusal({**LEAST, "page": "Ada"})
    assert (told["error_code"], told["paths"]) == ("ambiguous_title", ["wiki/a.md", "wiki/b.md"])


# --- filing again ----------------------------------------------------------------------------------


def test_the_same_proposal_again_and_after_a_decision() -> None:
    page = indexed("Bob")
    item = {**LEAST, "page": "Bob"}
    assert outcomes(item) == [("filed", None)]
    assert outcomes({**item, "title": " TWO  dates of birth"}) == [("refreshed", None)]
    assert outcomes({**item, "title": " TWO  dates of birth"}) == [("unchanged", None)]
    stored = ReviewItem.objects.get()
    resolve(item_id=stored.pk, action="skip", author=ALICE)
    (entry,) = propose(items=[item], author=CLAUDE)["result"]
    assert (entry["outcome"], entry["error_code"], entry["id"], entry["status"]) == (
        "refused",
        "review_terminal",
        str(stored.pk),
        "skipped",
    )
    Page.objects.filter(pk=page.pk).update(content_hash="1" * 64)
    assert outcomes(item) == [("filed", None)], "the page has changed since"
    resolve(item_id=ReviewItem.objects.get(status="pending").pk, action="dismiss", author=ALICE)
    assert outcomes({**item, "referenced_pages": ["Bob"]}) == [("refused", "review_terminal")]


def test_another_text_is_another_proposal() -> None:
    new = {**LEAST, "item_type": "suggestion", "proposed_title": "T", "proposed_body": "one", **SOURCES}
    assert outcomes(new, {**new, "proposed_body": "two"}, {**new, "proposed_title": "U"}) == [("filed", None)] * 3
    assert ReviewItem.objects.count() == 3


def test_nothing_is_filed_while_the_vault_is_read_only(settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    with pytest.raises(SynapseError) as refused:
        propose(items=[{}], author=CLAUDE)
    assert refused.value.code is ErrorCode.READ_ONLY


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*FIELDS, "status"]), JSON, max_size=6), st.booleans())
def test_whatever_comes_is_a_finding_or_a_refusal(item: dict[str, Any], completed: bool) -> None:
    parsed = parse_items([{**item, **LEAST} if completed else item], author=CLAUDE)
    assert len(parsed.findings) + len(parsed.refused) == 1
    assert all(entry["error_code"] in list(ErrorCode) for entry in parsed.refused)
