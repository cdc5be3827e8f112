"""GET, POST, PUT and DELETE of pages, and the conditions that keep two writers apart."""

from __future__ import annotations

import hashlib
from uuid import uuid4

import pytest

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, frontmatter, page, refused
from wiki.models import Audit, Page
from wiki.services import draft_list

OTHER = f'"{"0" * 64}"'


def url(page: Page, rest: str = "") -> str:
    return f"/pages/{page.uid}{rest}"


def test_a_page_is_created_read_replaced_and_deleted(wanda: Rest, vault: VaultFolder) -> None:
    body = {"title": "Ada", "content": "She wrote [[Notes]].\n", "frontmatter": frontmatter("Ada", "entity")}
    made = wanda.post("/pages", body)
    assert made.status_code == 201
    address = made["Location"]
    assert made.json()["path"] == "wiki/entities/ada.md"
    read = wanda.get(address)
    assert read.status_code == 200
    assert read["ETag"] == made["ETag"] == f'"{hashlib.sha256(vault.read("wiki/entities/ada.md")).hexdigest()}"'
    assert "[[notes|Notes]]" in read.json()["content"]
    put = wanda.put(address, {"text": "---\ntitle: Ada\n---\nShort.\n"}, If_Match=read["ETag"])
    assert put.status_code == 200
    assert vault.read("wiki/entities/ada.md") == b"---\ntitle: Ada\n---\nShort.\n"
    gone = wanda.delete(address, If_Match=put["ETag"])
    assert gone.status_code == 200
    assert gone.json()["linked_from"] == []
    refused(wanda.get(address), 404, "page_not_found")
    assert vault.files() == ["wiki/index.md", "wiki/log.md"] or "wiki/entities/ada.md" not in vault.files()


def test_a_change_is_recorded_under_the_token_and_its_door(wanda: Rest, turing: Page) -> None:
    etag = wanda.get(url(turing))["ETag"]
    wanda.put(url(turing), {"content": "New.\n"}, If_Match=etag)
    by_rest = Audit.objects.filter(door="rest").values_list("actor", "action")
    assert list(by_rest) == [("token:wanda", "write")]
    newest = wanda.get(url(turing, "/history")).json()["result"][0]
    assert (newest["author"], newest["door"]) == ("token:wanda", "rest")


@pytest.mark.parametrize("path", ["", "/"])
def test_a_slash_at_the_end_changes_nothing_and_never_redirects(wanda: Rest, turing: Page, path: str) -> None:
    assert wanda.get(url(turing, path)).status_code == 200
    assert wanda.get(f"/pages{path}").status_code == 200
    assert wanda.get(f"/pages/by-title{path}?title=Alan%20Turing").status_code == 200
    assert wanda.get(url(turing, f"/history{path}")).status_code == 200


def test_no_line_break_or_second_slash_passes_for_the_end_of_an_address(wanda: Rest, turing: Page) -> None:
    refused(wanda.get("/pages%0A"), 404, "not_found")
    refused(wanda.get("/pages//"), 404, "not_found")


def test_a_title_that_a_live_page_bears_is_refused(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    before = vault.read(turing.path)
    body = {"title": "Alan Turing", "content": "Other.\n", "frontmatter": frontmatter("Alan Turing")}
    refused(wanda.post("/pages", body), 409, "conflict")
    assert vault.read(turing.path) == before


def test_the_rules_of_writing_hold(wanda: Rest) -> None:
    lacking = {"title": "Ada", "content": "Text.\n", "frontmatter": {"type": "entity"}}
    assert "fields" in refused(wanda.post("/pages", lacking), 422, "invalid_frontmatter")
    empty = {"title": "Ada", "content": "", "frontmatter": frontmatter("Ada")}
    refused(wanda.post("/pages", empty), 422, "invalid_content")
    index = {"title": "index", "content": "Text.\n", "frontmatter": frontmatter("index")}
    refused(wanda.post("/pages", index), 403, "path_not_allowed")


def test_if_none_match_spares_the_body(rita: Rest, turing: Page) -> None:
    etag = rita.get(url(turing))["ETag"]
    for header in (etag, f"W/{etag}", f"{OTHER}, {etag}", "*"):
        again = rita.get(url(turing), If_None_Match=header)
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", etag)
    for header in (OTHER, "nonsense", etag.strip('"')):
        assert rita.get(url(turing), If_None_Match=header).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_without_if_match_nothing_is_changed(wanda: Rest, turing: Page, vault: VaultFolder, method: str) -> None:
    before = vault.read(turing.path)
    answer = wanda.call(method, url(turing), {"content": "New.\n"} if method == "PUT" else None)
    assert refused(answer, 428, "base_required")["content_hash"] == turing.content_hash
    assert vault.read(turing.path) == before


@pytest.mark.parametrize("header", [OTHER, f"{OTHER}, {OTHER}", "W/{etag}", "W/{etag}, " + OTHER])
def test_a_stale_or_weak_tag_keeps_the_text_as_a_draft(
    wanda: Rest, turing: Page, vault: VaultFolder, header: str
) -> None:
    before = vault.read(turing.path)
    etag = wanda.get(url(turing))["ETag"]
    envelope = refused(
        wanda.put(url(turing), {"text": "Mine.\n"}, If_Match=header.format(etag=etag)), 412, "stale_base"
    )
    assert envelope["content_hash"] == turing.content_hash
    assert [draft["id"] for draft in draft_list()] == [envelope["draft"]]
    assert vault.read(turing.path) == before


@pytest.mark.parametrize("header", ["{etag}", "*", OTHER + ", {etag}", "W/" + OTHER + " ,{etag}"])
def test_a_tag_that_matches_lets_the_change_through(wanda: Rest, turing: Page, header: str) -> None:
    etag = wanda.get(url(turing))["ETag"]
    assert wanda.put(url(turing), {"text": "Mine.\n"}, If_Match=header.format(etag=etag)).status_code == 200


@pytest.mark.parametrize("header", ["{hash}", "'{hash}'", '"{hash}', "*, *"])
def test_what_is_no_list_of_tags_is_refused(wanda: Rest, turing: Page, header: str) -> None:
    answer = wanda.put(url(turing), {"text": "x"}, If_Match=header.format(hash=turing.content_hash))
    refused(answer, 400, "invalid_param_value")


def test_an_edit_made_outside_is_seen_before_any_scan(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    etag = wanda.get(url(turing))["ETag"]
    vault.write(turing.path, "---\ntitle: Alan Turing\n---\nBy hand.\n")
    refused(wanda.put(url(turing), {"text": "Mine.\n"}, If_Match=etag), 412, "stale_base")
    refused(wanda.delete(url(turing), If_Match=etag), 412, "stale_base")
    fresh = wanda.get(url(turing))
    assert fresh["ETag"] != etag
    assert fresh.json()["content"] == "By hand.\n"


def test_put_takes_the_whole_text_or_its_parts(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    both = wanda.put(url(turing), {"text": "x", "content": "y"}, If_Match="*")
    refused(both, 400, "invalid_param_value")
    refused(wanda.put(url(turing), {}, If_Match="*"), 400, "missing_required_params")
    assert wanda.put(url(turing), {"content": "Other.\n"}, If_Match="*").status_code == 200
    text = vault.read(turing.path).decode()
    assert text.endswith("Other.\n")
    assert "title: Alan Turing" in text


def test_put_refuses_frontmatter_that_does_not_parse(wanda: Rest, turing: Page) -> None:
    answer = wanda.put(url(turing), {"text": "---\na: [\n---\n"}, If_Match="*")
    refused(answer, 422, "invalid_frontmatter")


def test_titles_are_exact_and_namesakes_are_told_apart_by_path(rita: Rest, vault: VaultFolder, turing: Page) -> None:
    from wiki.sync import scan

    vault.write("notes/Alan Turing.md", "A namesake.\n")
    scan()
    envelope = refused(rita.get("/pages/by-title?title=Alan Turing"), 409, "ambiguous_title")
    assert sorted(envelope["paths"]) == ["notes/Alan Turing.md", turing.path]
    found = rita.get("/pages/by-title?title=Alan Turing&path=notes/Alan Turing.md")
    assert found.json()["content"] == "A namesake.\n"
    refused(rita.get("/pages/by-title?title=alan turing"), 404, "page_not_found")
    refused(rita.get("/pages/by-title"), 400, "missing_required_params")


def test_ids_that_are_none_are_not_found(rita: Rest) -> None:
    refused(rita.get(f"/pages/{uuid4()}"), 404, "page_not_found")
    refused(rita.get("/pages/1"), 404, "not_found")


def test_backlinks_and_what_a_deletion_leaves_behind(wanda: Rest, turing: Page) -> None:
    page("Enigma", "Broken by [[Alan Turing]].\n")
    shown = wanda.get(url(turing)).json()
    assert [link["title"] for link in shown["backlinks"]] == ["Enigma"]
    gone = wanda.delete(url(turing), If_Match="*").json()
    assert [link["title"] for link in gone["linked_from"]] == ["Enigma"]


def test_a_page_over_the_limit_is_never_shown_in_part(rita: Rest, turing: Page, settings) -> None:  # type: ignore[no-untyped-def]
    settings.SYNAPSE_MAX_PAGE_BYTES = 10
    refused(rita.get(url(turing)), 413, "payload_too_large")
