"""Lists by cursor: complete, without repeats, whatever is written meanwhile."""

from __future__ import annotations

import pytest

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, page, refused
from wiki.sync import scan


@pytest.fixture
def many(vault: VaultFolder) -> list[str]:
    """Pages of which several bear one title."""
    titles = [f"Page {number % 7}" for number in range(23)]
    for number, title in enumerate(titles):
        vault.write(f"notes/{number:02}.md", f"---\ntitle: {title}\ntype: concept\n---\nText.\n")
    scan()
    return sorted(titles)


def test_every_page_comes_once(rita: Rest, many: list[str]) -> None:
    titles, ids, cursor = [], set(), ""
    while cursor is not None:
        part = rita.get(f"/pages?limit=4{cursor and '&cursor=' + cursor}").json()
        assert len(part["result"]) <= 4
        assert part["total"] == 23
        titles += [row["title"] for row in part["result"]]
        ids |= {row["id"] for row in part["result"]}
        cursor = part["next_cursor"]
    assert titles == many
    assert len(ids) == 23


def test_pages_made_or_deleted_meanwhile_neither_repeat_nor_hide_others(
    rita: Rest, many: list[str], vault: VaultFolder
) -> None:
    first = rita.get("/pages?limit=10").json()
    seen = {row["id"] for row in first["result"]}
    page("A new one, before all others")
    for name in ("00", "07"):
        (vault.root / f"notes/{name}.md").unlink()
    scan(allow_deletions=True)
    rest = rita.get(f"/pages?limit=500&cursor={first['next_cursor']}").json()
    later = [row["id"] for row in rest["result"]]
    assert len(later) == 13
    assert not seen & set(later)


@pytest.mark.parametrize(("limit", "shown"), [("0", 1), ("-5", 1), ("501", 23), ("99999999999999999999", 23)])
def test_the_limit_is_clamped(rita: Rest, many: list[str], limit: str, shown: int) -> None:
    assert len(rita.get(f"/pages?limit={limit}").json()["result"]) == shown


def test_by_type_and_without_reserved_pages(rita: Rest, many: list[str], vault: VaultFolder) -> None:
    vault.write("schema.md", "---\ntype: concept\n---\nRules.\n")
    vault.write("wiki/entities/x.md", "---\ntitle: X\n---\nText.\n")
    scan()
    assert rita.get("/pages?type=entity").json()["total"] == 1
    assert rita.get("/pages?type=concept").json()["total"] == 23
    assert rita.get("/pages").json()["total"] == 24


def test_a_cursor_serves_only_the_list_that_gave_it(rita: Rest, many: list[str]) -> None:
    cursor = rita.get("/pages?limit=2").json()["next_cursor"]
    for bad in (cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), cursor[:-5], "null", "", cursor * 50):
        answer = rita.get(f"/pages?cursor={bad}")
        if bad:
            refused(answer, 400, "invalid_cursor")
        else:
            assert answer.status_code == 400
    refused(rita.get(f"/pages?type=concept&cursor={cursor}"), 400, "invalid_cursor")
