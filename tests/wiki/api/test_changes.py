"""History, restore, move and retitle over REST."""

from __future__ import annotations

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, page, refused
from wiki.models import Page

OTHER = f'"{"0" * 64}"'


def test_every_version_can_be_brought_back(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    url, first = f"/pages/{turing.uid}", vault.read(turing.path)
    wanda.put(url, {"text": "Second.\n"}, If_Match="*")
    versions = wanda.get(f"{url}/history").json()["result"]
    assert [version["number"] for version in versions] == [2, 1]
    assert len(wanda.get(f"{url}/history?limit=1").json()["result"]) == 1
    done = wanda.post(f"{url}/restore", {"version": 1})
    assert done.status_code == 200
    assert vault.read(turing.path) == first
    assert done["ETag"] == wanda.get(url)["ETag"]
    assert wanda.get(f"{url}/history").json()["result"][0]["action"] == "restore"
    refused(wanda.post(f"{url}/restore", {"version": 99}), 404, "not_found")


def test_a_deleted_page_comes_back_under_its_id(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    url, text = f"/pages/{turing.uid}", vault.read(turing.path)
    wanda.delete(url, If_Match="*")
    assert [version["action"] for version in wanda.get(f"{url}/history").json()["result"]] == ["delete", "create"]
    refused(wanda.put(url, {"text": "x"}, If_Match="*"), 404, "page_not_found")
    refused(wanda.delete(url, If_Match="*"), 404, "page_not_found")
    refused(wanda.post(f"{url}/move", {"path": "wiki/x.md"}), 404, "page_not_found")
    refused(wanda.post(f"{url}/restore", {"version": 1}, If_Match="*"), 412, "stale_base")
    assert wanda.post(f"{url}/restore", {"version": 1}).json()["created"] is True
    assert vault.read(turing.path) == text
    assert wanda.get(url).json()["id"] == str(turing.uid)


def test_a_restore_does_not_overwrite_what_nobody_has_seen(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    url = f"/pages/{turing.uid}"
    wanda.put(url, {"text": "Second.\n"}, If_Match="*")
    vault.write(turing.path, "By hand.\n")
    refused(wanda.post(f"{url}/restore", {"version": 1}), 428, "base_required")
    refused(wanda.post(f"{url}/restore", {"version": 1}, If_Match=OTHER), 412, "stale_base")
    assert vault.read(turing.path) == b"By hand.\n"
    etag = wanda.get(url)["ETag"]
    assert wanda.post(f"{url}/restore", {"version": 1}, If_Match=etag).status_code == 200


def test_a_move_keeps_id_and_links(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    linking = page("Enigma", "Broken by [[Alan Turing]].\n")
    body = {"path": "wiki/entities/people/turing.md"}
    preview = wanda.post(f"/pages/{turing.uid}/move", {**body, "preview": True}).json()
    assert preview["preview"] is True
    assert [file["title"] for file in preview["files"]] == ["Enigma"]
    assert turing.path in vault.files()
    done = wanda.post(f"/pages/{turing.uid}/move/", body)
    assert done.status_code == 200
    assert done.json()["page"]["path"] == body["path"]
    assert wanda.get(f"/pages/{turing.uid}").json()["path"] == body["path"]
    assert b"[[turing|" in vault.read(linking.path)
    refused(wanda.post(f"/pages/{turing.uid}/move", {"path": linking.path}), 409, "conflict")
    refused(wanda.post(f"/pages/{turing.uid}/move", {"path": "wiki/y.md"}, If_Match=OTHER), 412, "stale_base")


def test_a_new_title_is_previewed_then_written(wanda: Rest, turing: Page, vault: VaultFolder) -> None:
    linking = page("Enigma", "Broken by [[Alan Turing]].\n")
    url, body = f"/pages/{turing.uid}/retitle", {"title": "A. M. Turing", "rename": True}
    before = {path: vault.read(path) for path in vault.files()}
    preview = wanda.post(url, {**body, "preview": True}).json()
    assert [line["after"] for file in preview["files"] for line in file["lines"]]
    assert {path: vault.read(path) for path in vault.files()} == before
    done = wanda.post(f"{url}/", body).json()
    assert (done["page"]["title"], done["failed"]) == ("A. M. Turing", [])
    assert b"a-m-turing" in vault.read(linking.path)
    refused(wanda.post(url, {"title": "Enigma"}), 409, "conflict")
    refused(wanda.post(url, {"title": "two\nlines"}), 422, "invalid_frontmatter")
    refused(wanda.post(url, {"title": "B"}, If_Match=OTHER), 412, "stale_base")
