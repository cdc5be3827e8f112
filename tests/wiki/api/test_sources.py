"""Sources over REST: listed, read in parts, and nothing beside them."""

from __future__ import annotations

import os
from urllib.parse import quote

import pytest

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, refused
from wiki.models import Job
from wiki.sync import scan


def test_a_source_is_read_by_either_path(rita: Rest, vault: VaultFolder) -> None:
    vault.write("raw/sources/2026/Übung 1.md", "Grüße\n")
    for path in ("2026/Übung 1.md", "raw/sources/2026/Übung 1.md"):
        for slash in ("", "/"):
            answer = rita.get(f"/sources/{quote(path)}{slash}")
            assert answer.status_code == 200
            body = answer.json()
            assert (body["path"], body["content"]) == ("raw/sources/2026/Übung 1.md", "Grüße\n")
            assert (body["truncated"], body["next_offset"]) == (False, None)


def test_a_long_source_is_read_part_by_part(rita: Rest, vault: VaultFolder) -> None:
    text = "".join(chr(0x4E00 + number % 500) for number in range(250_000))
    vault.write("raw/sources/long.txt", text)
    read, offset = "", 0
    while offset is not None:
        part = rita.get(f"/sources/long.txt?offset={offset}").json()
        assert len(part["content"]) <= 100_000
        read, offset = read + part["content"], part["next_offset"]
    assert read == text
    assert rita.get("/sources/long.txt?offset=999999999999999999999").json()["content"] == ""
    refused(rita.get("/sources/long.txt?offset=-1"), 400, "invalid_param_value")
    refused(rita.get("/sources/long.txt?offset=a"), 400, "invalid_param_type")


@pytest.mark.parametrize(
    "path",
    [
        "../wiki/index.md",
        "..%2Fwiki%2Findex.md",
        "%2e%2e/%2e%2e/etc/passwd",
        "raw/sources/../../wiki/a.md",
        "raw/assets/a.png",
        "wiki/a.md",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "C:%5CWindows",
        "a%5C..%5Cb",
        "file:///etc/passwd",
        ".synapse/vault-id",
        "raw/sources/.hidden",
        "a%00.md",
        "a%0A.md",
        "a%0a",
        "./a.md",
        "a//b.md",
        "a.md//",
        "raw/sources//a.md",
        "%ED%A0%80.md/..",
        "x" * 256,
        "a/" * 2_100 + "b",
        "%C3%A9" * 127 + ".md",
        ".",
        "%20",
        "raw/a.md/",
        "/proc/self/root/etc/passwd",
        "%5C%5C%5C%5Chost%5Cshare",
        ".OBSIDIAN/app.json",
        "sub/.git/config",
        "raw/sources/.env",
    ],
)
def test_paths_that_lead_elsewhere(rita: Rest, path: str) -> None:
    refused(rita.get(f"/sources/{path}"), 403, "path_not_allowed")


def test_a_refusal_does_not_tell_whether_anything_is_there(rita: Rest, vault: VaultFolder) -> None:
    vault.write("wiki/real.md", "Text.\n")
    there, absent = (rita.get(f"/sources/wiki/{name}.md") for name in ("real", "none"))
    assert there.content == absent.content


def test_a_path_is_decoded_once(rita: Rest, vault: VaultFolder) -> None:
    vault.write("raw/sources/%2e%2e.md", "literal\n")
    assert rita.get("/sources/%252e%252e.md").json()["content"] == "literal\n"
    refused(rita.get("/sources/%252e%252e%252f%252e%252e%252fetc"), 404, "source_not_found")
    refused(rita.get("/sources/%25252e.md"), 404, "source_not_found")


@pytest.mark.parametrize(
    "path", ["%EF%BC%8E%EF%BC%8E%EF%BC%8Fetc", "%E2%80%A4%E2%80%A4/x", "OBSIDI~1/app.json", "CON.md", "a%E2%80%8B.md"]
)
def test_names_that_only_look_like_ways_out_are_names(rita: Rest, path: str) -> None:
    refused(rita.get(f"/sources/{path}"), 404, "source_not_found")


def test_symlinks_folders_and_bytes(rita: Rest, vault: VaultFolder) -> None:
    vault.write("raw/sources/folder/a.md", "x")
    vault.write("raw/sources/image.png", b"\x89PNG\x00")
    vault.write("secret.md", "no")
    (vault.root / "raw/sources/link.md").symlink_to(vault.root / "secret.md")
    (vault.root / "raw/sources/dirlink").symlink_to("/etc")
    os.mkfifo(vault.root / "raw/sources/pipe")
    refused(rita.get("/sources/link.md"), 403, "path_not_allowed")
    refused(rita.get("/sources/dirlink/passwd"), 403, "path_not_allowed")
    refused(rita.get("/sources/folder"), 415, "not_a_file")
    refused(rita.get("/sources/raw"), 415, "not_a_file")
    refused(rita.get("/sources/pipe"), 415, "not_a_file")
    refused(rita.get("/sources/image.png"), 415, "not_a_text_file")
    refused(rita.get("/sources/none.md"), 404, "source_not_found")


def test_a_source_named_like_an_address(rita: Rest, vault: VaultFolder) -> None:
    vault.write("raw/sources/rescan", "text\n")
    refused(rita.get("/sources/rescan"), 405, "method_not_allowed")
    assert rita.get("/sources/raw/sources/rescan").json()["content"] == "text\n"


def test_sources_are_listed_by_path(rita: Rest, vault: VaultFolder) -> None:
    for name in ("b.md", "a/1.md", "a/2.pdf"):
        vault.write(f"raw/sources/{name}", name)
    vault.write("raw/assets/x.png", b"x")
    scan()
    first = rita.get("/sources?limit=2").json()
    assert [row["path"] for row in first["result"]] == ["raw/sources/a/1.md", "raw/sources/a/2.pdf"]
    assert first["total"] == 3
    rest = rita.get(f"/sources?limit=2&cursor={first['next_cursor']}").json()
    assert [row["path"] for row in rest["result"]] == ["raw/sources/b.md"]
    assert rest["next_cursor"] is None
    assert rita.get("/sources?prefix=raw/sources/a/").json()["total"] == 2
    refused(rita.get(f"/sources?prefix=raw&cursor={first['next_cursor']}"), 400, "invalid_cursor")
    refused(rita.get(f"/pages?cursor={first['next_cursor']}"), 400, "invalid_cursor")


@pytest.mark.parametrize("path", ["/sources/rescan", "/sources/rescan/"])
def test_a_scan_is_asked_for_once(wanda: Rest, path: str) -> None:
    first = wanda.post(path)
    assert first.status_code == 202
    assert first.json()["started"] is True
    again = wanda.post(path).json()
    assert again == {"started": False, "job": first.json()["job"], "running": False}
    assert Job.objects.filter(kind="rescan").count() == 1
