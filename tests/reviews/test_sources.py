"""Which sources have changed since the pages that cite them were written: told in the admin, in few queries."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reviews.producers.runner import run
from reviews.services.outdated import changed_sources, pages_behind
from tests.conftest import VaultFolder
from wiki.models import File, Page
from wiki.sync import scan

LIST = "/admin/wiki/file/"
CITING = "---\nsources: [{}]\n---\n{}\n"


@pytest.fixture
def boss(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


@pytest.fixture
def changed(vault_folder: VaultFolder, db: None) -> VaultFolder:
    """A source that changed under two pages, of which one was rewritten since; and one that did not change."""
    vault_folder.write("raw/sources/old.txt", "as it was")
    vault_folder.write("raw/sources/same.txt", "as it is")
    for name in ("Behind", "Follows"):
        vault_folder.write(f"notes/{name}.md", CITING.format("raw/sources/old.txt, raw/sources/same.txt", name))
    _look()
    vault_folder.write("raw/sources/old.txt", "as it has become")
    _look()
    vault_folder.write("notes/Follows.md", CITING.format("raw/sources/old.txt, raw/sources/same.txt", "rewritten"))
    _look()
    return vault_folder


def _look() -> None:
    scan()
    run(rescanned=True)


def _row(client: Client, path: str) -> str:
    rows = re.findall(r"<tr.*?</tr>", client.get(LIST).content.decode(), re.DOTALL)
    (row,) = [re.sub(r"<[^>]+>|\s+", " ", row) for row in rows if path in row]
    return " ".join(row.split())


def test_pages_behind_are_told(changed: VaultFolder) -> None:
    old, same = File.objects.get(path="raw/sources/old.txt"), File.objects.get(path="raw/sources/same.txt")
    assert pages_behind([old, same]) == {old.pk: {Page.objects.get(title="Behind").pk}}
    assert changed_sources() == [old.pk]


def test_the_list_says_how_many_cite_a_source_and_how_many_are_behind(changed: VaultFolder, boss: Client) -> None:
    assert "Source 16 2 1" in _row(boss, "raw/sources/old.txt")
    assert "Source 8 2 -" in _row(boss, "raw/sources/same.txt")
    assert len(boss.get(f"{LIST}?changed=yes").context["cl"].result_list) == 1


def test_a_source_says_of_each_page_whether_it_is_behind(changed: VaultFolder, boss: Client) -> None:
    source = File.objects.get(path="raw/sources/old.txt")
    shown = boss.get(f"{LIST}{source.pk}/change/").content.decode()
    assert shown.count("not rewritten") == 1 and "Follows" in shown and "Behind" in shown


def test_the_reader_says_so_on_both_sides(changed: VaultFolder, boss: Client) -> None:
    source = boss.get("/read/raw/sources/old.txt").content.decode()
    assert source.count("not rewritten since it changed") == 1
    told = "changed since this page was written"
    assert boss.get("/read/notes/Behind.md").content.decode().count(told) == 1
    assert told not in boss.get("/read/notes/Follows.md").content.decode()


def test_nobody_is_behind_once_all_have_followed(changed: VaultFolder) -> None:
    changed.write("notes/Behind.md", CITING.format("raw/sources/old.txt", "rewritten too"))
    _look()
    assert changed_sources() == [] and pages_behind(list(File.objects.all())) == {}


def test_more_sources_cost_no_more_queries(changed: VaultFolder, boss: Client) -> None:
    with CaptureQueriesContext(
        connection,
    ) as few:
        boss.get(LIST)
    for number in range(40):
        changed.write(f"raw/sources/{number}.txt", "x")
        changed.write(f"notes/{number}.md", CITING.format(f"raw/sources/{number}.txt", number))
    _look()
    with CaptureQueriesContext(connection) as many:
        boss.get(LIST)
    assert len(many) == len(few) <= 12
