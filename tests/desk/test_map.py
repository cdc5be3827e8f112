"""The map's page and what it is drawn from: rows read, nothing computed, sent once."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from tests.conftest import VaultFolder
from wiki import jobs
from wiki.graph.layout import make_map
from wiki.sync import scan


@pytest.fixture
def mapped(wiki: VaultFolder) -> VaultFolder:
    """The vault of :func:`wiki` with two pages tied, and its map."""
    wiki.write("notes/Near.md", "---\ntype: concept\n---\nAbout [[Alan]].\n")
    scan()
    make_map()
    return wiki


def drawn(client: Client) -> dict[str, Any]:
    return json.loads(gzip.decompress(client.get("/map/drawn", headers={"Accept-Encoding": "gzip"}).content))


def ties(found: dict[str, Any]) -> set[frozenset[str]]:
    """The ties by the pages' paths, first ends added up again."""
    told, before = set(), 0
    for step, other in zip(found["ties"][::2], found["ties"][1::2], strict=True):
        before += step
        told.add(frozenset([found["paths"][before], found["paths"][other]]))
    return told


def test_it_is_told_in_columns(reader: Client, mapped: VaultFolder) -> None:
    found = drawn(reader)
    columns = [found[name] for name in ("titles", "paths", "type", "community", "x", "y")]
    assert {len(column) for column in columns} == {4}
    at = found["paths"].index("notes/Near.md")
    assert (found["titles"][at], found["types"][found["type"][at]], found["community"][at]) == ("Near", "concept", 0)
    assert found["community"][found["paths"].index("a/Twin.md")] == -1
    assert ties(found) == {frozenset(["notes/Near.md", "notes/Alan.md"])}
    assert all(abs(place) <= found["scale"] for place in found["x"] + found["y"])


def test_it_is_sent_once(reader: Client, mapped: VaultFolder) -> None:
    first = reader.get("/map/drawn", headers={"Accept-Encoding": "gzip"})
    assert first["Content-Encoding"] == "gzip" and "Accept-Encoding" in first["Vary"]
    again = reader.get("/map/drawn", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    make_map(anew=True)
    assert reader.get("/map/drawn", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_who_reads_no_gzip_gets_it_plain(reader: Client, mapped: VaultFolder) -> None:
    answer = reader.get("/map/drawn")
    assert "Content-Encoding" not in answer and json.loads(answer.content) == drawn(reader)


def test_it_is_read_in_few_rows(reader: Client, mapped: VaultFolder, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(4):  # session, person, state, picture
        reader.get("/map/drawn")


def test_strangers_get_none_of_it(client: Client, mapped: VaultFolder) -> None:
    assert client.get("/map/drawn").status_code == 302


def test_before_the_first_map_there_is_nothing_to_draw(reader: Client, wiki: VaultFolder) -> None:
    assert reader.get("/map/drawn").status_code == 404
    html = reader.get("/map").content.decode()
    assert "manage.py layout" in html and "data-map" not in html


def test_a_look_asks_for_what_is_missing_and_computes_nothing(reader: Client, mapped: VaultFolder) -> None:
    before = drawn(reader)
    mapped.write("notes/New.md", "Of [[Near]].\n")
    scan()
    html = reader.get("/map").content.decode()
    assert "data-stale" in html and jobs.is_waiting("layout")
    assert drawn(reader) == before
    jobs.run_due()
    assert "data-stale" not in reader.get("/map").content.decode()
    assert frozenset(["notes/New.md", "notes/Near.md"]) in ties(drawn(reader))


def test_a_title_is_text_and_never_markup(reader: Client, wiki: VaultFolder) -> None:
    wiki.write("notes/Evil.md", "---\ntitle: '</script><img src=x onerror=alert(1)>'\n---\n[[Alan]]\n")
    scan()
    make_map()
    answer = reader.get("/map/drawn")
    assert answer["Content-Type"] == "application/json" and "<img src=x" not in reader.get("/map").content.decode()
