"""Bearer tokens: shown once, kept as a digest, useless once revoked or expired."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.utils import timezone

from vault.errors import ErrorCode, SynapseError
from wiki.management.commands.token import expiry
from wiki.models import Scope, Token
from wiki.tokens import (
    LastUsed,
    any_usable,
    create_token,
    find_token,
    includes,
    revoke_token,
    scope_in_force,
    scope_of_person,
)

pytestmark = pytest.mark.django_db


def test_a_token_is_found_by_its_text_and_only_its_digest_is_kept():
    token, raw = create_token(name="laptop", scope=Scope.WRITE)
    assert re.fullmatch(r"syn_[A-Za-z0-9_-]{43}", raw)
    assert find_token(raw) == token
    kept = json.dumps(list(Token.objects.values()), default=str)
    assert raw not in kept
    assert raw[12:] not in kept


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw + "x", str.upper, str.strip, lambda raw: ""])
def test_nothing_but_the_exact_text_is_accepted(change):
    _, raw = create_token(name="laptop")
    tried = change(f" {raw}" if change is str.strip else raw)
    assert (find_token(tried) is not None) is (tried == raw)


@pytest.mark.parametrize("text", ["syn_" + "\0" * 43, "syn_" + "é" * 43, "syn_" + "\ud800" * 43, "x" * 10**6, "syn_"])
def test_text_that_is_no_token_is_simply_not_found(text):
    assert find_token(text) is None


def test_a_revoked_token_is_useless_at_once():
    _, raw = create_token(name="laptop")
    assert revoke_token(name="laptop") == 1
    assert find_token(raw) is None
    assert revoke_token(name="laptop") == 0
    assert not any_usable()


def test_namesakes_are_told_apart_by_their_first_characters():
    first, raw_first = create_token(name="laptop")
    _, raw_second = create_token(name="laptop")
    assert revoke_token(name=first.prefix) == 1
    assert find_token(raw_first) is None
    assert find_token(raw_second) is not None


def test_an_expired_token_is_useless():
    token, raw = create_token(name="laptop", expires=timezone.now() + timedelta(hours=1))
    assert find_token(raw) == token
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert find_token(raw) is None


def test_a_token_ends_with_its_person():
    user = User.objects.create_user("ada")
    _, raw = create_token(name="laptop", user=user)
    assert find_token(raw) is not None
    User.objects.update(is_active=False)
    assert find_token(raw) is None


@pytest.mark.parametrize("scope", list(Scope))
def test_a_token_does_not_outlast_the_rights_of_its_person(scope):
    ada = User.objects.create_user("ada", is_staff=True)
    ada.user_permissions.set(Permission.objects.filter(codename__in=["change_page", "change_reviewitem"]))
    _, raw = create_token(name="laptop", scope=scope, user=ada)
    assert scope_in_force(find_token(raw)) == scope
    User.objects.update(is_staff=False)
    assert scope_in_force(find_token(raw)) == Scope.READ
    User.objects.update(is_superuser=True, is_staff=True)
    assert scope_in_force(find_token(raw)) == scope


@pytest.mark.parametrize("only", [["change_page"], ["change_reviewitem"], ["view_page", "view_reviewitem"]])
def test_who_may_write_may_change_pages_and_decide_reviews(only):
    ada = User.objects.create_user("ada", is_staff=True)
    ada.user_permissions.set(Permission.objects.filter(codename__in=only))
    assert scope_of_person(ada) == Scope.READ


def test_a_token_of_nobody_keeps_its_scope():
    _, raw = create_token(name="laptop", scope=Scope.WRITE)
    assert scope_in_force(find_token(raw)) == Scope.WRITE


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": " "},
        {"name": "x" * 81},
        {"name": "a\nb"},
        {"name": "a", "scope": "admin"},
        {"name": "a", "expires": timezone.now() - timedelta(days=1)},
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(wrong):
    with pytest.raises(SynapseError) as caught:
        create_token(**wrong)
    assert caught.value.code is ErrorCode.INVALID_PARAM_VALUE
    assert not Token.objects.exists()


def test_each_scope_includes_those_before_it():
    order = ["read", "propose", "write"]
    table = {(has, wants): includes(has, wants) for has in [*order, "", "admin"] for wants in order}
    assert [pair for pair, allowed in table.items() if allowed] == [
        ("read", "read"),
        ("propose", "read"),
        ("propose", "propose"),
        ("write", "read"),
        ("write", "propose"),
        ("write", "write"),
    ]


def test_the_last_use_is_written_later_and_once_a_minute(django_assert_num_queries):
    token, _ = create_token(name="laptop")
    uses = LastUsed()
    with django_assert_num_queries(0):
        uses.note(token)
        uses.note(token)
    with django_assert_num_queries(1):
        assert uses.flush() == 1
    token.refresh_from_db()
    assert token.last_used_at is not None
    uses.note(token)
    assert uses.flush() == 0


def test_more_uses_than_memory_is_set_aside_for_are_dropped_and_counted():
    uses = LastUsed(limit=2)
    for number in range(5):
        uses.note(Token(pk=number))
    assert uses.dropped == 3


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("token", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_makes_lists_and_revokes(monkeypatch):
    for name in ("require_tables", "check_binding"):
        monkeypatch.setattr(f"wiki.management.base.{name}", lambda: None)
    made = json.loads(run("create", "laptop", "--scope", "write", "--expires", "30d", "--json"))
    assert find_token(made["token"]).scope == "write"
    plain = run("create", "phone")
    raw = plain.split()[0]
    assert find_token(raw).scope == "read"
    assert "Shown once" in plain
    rows = json.loads(run("list", "--json"))
    assert {(row["name"], row["scope"], row["state"]) for row in rows} == {
        ("laptop", "write", "usable"),
        ("phone", "read", "usable"),
    }
    assert made["token"] not in json.dumps(rows)
    assert raw not in run("list")
    assert json.loads(run("revoke", "phone", "--json")) == {"revoked": 1}
    assert find_token(raw) is None
    with pytest.raises(CommandError, match="No token in use"):
        run("revoke", "phone")


@pytest.mark.parametrize("text", ["30", "d", "0d", "yesterday", "2027-13-01", "30days", "99999999d"])
def test_an_expiry_that_can_not_be_read_is_refused(text):
    with pytest.raises(SynapseError):
        expiry(text)


def test_expiries_are_spans_dates_or_moments():
    now = timezone.now()
    assert timedelta(days=29) < expiry("30d") - now < timedelta(days=31)
    assert timedelta(hours=11) < expiry("12h") - now < timedelta(hours=13)
    assert expiry("2027-01-31").isoformat() == "2027-01-31T00:00:00+00:00"
    assert expiry("2027-01-31T10:00+02:00").isoformat() == "2027-01-31T10:00:00+02:00"
    assert expiry("") is None
