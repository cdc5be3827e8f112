"""A query made once gives what the query set gives, whatever its parameters."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from wiki.models import Page, Token
from wiki.prepared import Prepared
from wiki.services import reading
from wiki.sync import scan
from wiki.tokens import create_token, find_token

pytestmark = pytest.mark.django_db
TITLES = ["Moon", "100%", "a'b\"c", "?", "%s", "Ünï 中", "\x1f the title", "none such", ""]


@pytest.fixture
def pages(vault_folder):
    for number, title in enumerate(TITLES[:-2]):
        shown = title.replace("\x1f", "").strip()
        vault_folder.write(f"wiki/{number}.md", f"---\ntitle: {shown!r}\nlist: [1, {{a: null}}]\n---\n[[0]] [[1]]\n")
    vault_folder.write("wiki/twin/0.md", "---\ntitle: Moon\n---\n[[wiki/0]]\n")
    vault_folder.write("schema.md", "[[wiki/0]]\n")
    scan()
    return vault_folder


def values(page: Page) -> dict[str, Any]:
    return {field.attname: getattr(page, field.attname) for field in page._meta.concrete_fields}


@pytest.mark.parametrize("title", TITLES)
def test_pages_by_title(pages, title):
    prepared = Prepared[Page](lambda title: reading.titled(title)[:21], title="\x1f the title")
    given = prepared.rows(title=title)
    assert [values(page) for page in given] == [values(page) for page in reading.titled(title)]
    assert all(page._state.db == "default" and not page._state.adding for page in given)


def test_pages_that_link_to_a_page(pages):
    for page in Page.objects.all():
        few = reading.backlinks(page, limit=1)
        every = reading.backlinks(page)
        assert every["backlinks"][:1] == few["backlinks"]
        assert every["backlinks_total"] == few["backlinks_total"] == len(every["backlinks"])
    moon = Page.objects.get(path="wiki/0.md")
    assert reading.backlinks(moon)["backlinks_total"] == len(TITLES) - 2


def test_a_parameter_that_is_not_in_the_sql_is_noticed():
    with pytest.raises(ValueError, match="day"):
        Prepared[Page](lambda day: Page.objects.all(), day="2026-01-01").rows(day="2027-01-01")


def test_it_runs_one_query_and_makes_its_sql_once(django_assert_num_queries, monkeypatch):
    made = []

    def build(title: str) -> Any:
        made.append(title)
        return reading.titled(title)

    prepared = Prepared[Page](build, title="\x1f")
    for title in ("a", "b"):
        with django_assert_num_queries(1):
            assert prepared.rows(title=title) == []
    assert made == ["\x1f"]


@pytest.mark.django_db(transaction=True)
def test_each_thread_has_its_own():
    create_token(name="laptop")
    prepared = Prepared[Token](lambda name: Token.objects.filter(name=name), name="\x1f")
    assert [token.name for token in prepared.rows(name="laptop")] == ["laptop"]
    found: list[Any] = []

    def look() -> None:
        found.extend(prepared.rows(name="laptop"))
        connection.close()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert [token.name for token in found] == ["laptop"]


def test_a_token_is_found_as_long_as_it_is_good_and_not_a_moment_longer(django_assert_num_queries):
    user = User.objects.create_user("someone")
    token, raw = create_token(name="laptop", user=user, expires=timezone.now() + timedelta(hours=1))
    with django_assert_num_queries(1):
        assert find_token(raw) == token
    Token.objects.update(expires_at=timezone.now())
    assert find_token(raw) is None
    Token.objects.update(expires_at=None)
    assert find_token(raw) == token
    User.objects.update(is_active=False)
    assert find_token(raw) is None
    User.objects.update(is_active=True)
    Token.objects.update(revoked_at=timezone.now())
    assert find_token(raw) is None
