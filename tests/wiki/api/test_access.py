"""Who may do what: tokens by scope, sessions by permission, nobody anonymous."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, refused
from wiki.models import Page, Scope, Token
from wiki.tokens import create_token, last_used, revoke_token

GUARDED = [
    ("GET", "/pages"),
    ("POST", "/pages"),
    ("GET", "/pages/by-title?title=x"),
    ("GET", "/pages/00000000-0000-0000-0000-000000000000"),
    ("PUT", "/pages/00000000-0000-0000-0000-000000000000"),
    ("DELETE", "/pages/00000000-0000-0000-0000-000000000000"),
    ("GET", "/pages/00000000-0000-0000-0000-000000000000/history"),
    ("POST", "/pages/00000000-0000-0000-0000-000000000000/restore"),
    ("POST", "/pages/00000000-0000-0000-0000-000000000000/move"),
    ("POST", "/pages/00000000-0000-0000-0000-000000000000/retitle"),
    ("GET", "/search?q=x"),
    ("GET", "/graph/neighborhood?title=x"),
    ("GET", "/sources"),
    ("GET", "/sources/a.md"),
    ("POST", "/sources/rescan"),
    ("GET", "/status"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("OPTIONS", "/pages"),
]


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_nobody_gets_anything_without_a_token(nobody: Rest, method: str, path: str) -> None:
    answer = nobody.call(method, path)
    refused(answer, 401, "unauthenticated")
    assert answer["WWW-Authenticate"] == 'Bearer realm="synapse"'


@pytest.mark.parametrize(("method", "path"), [row for row in GUARDED if row[0] in ("POST", "PUT", "DELETE")])
def test_a_token_that_reads_changes_nothing(rita: Rest, method: str, path: str) -> None:
    refused(rita.call(method, path, {}), 403, "forbidden")


def test_proposing_is_not_writing(vault: VaultFolder) -> None:
    proposer = Rest(create_token(name="paula", scope=Scope.PROPOSE)[1])
    assert proposer.get("/status").status_code == 200
    refused(proposer.post("/sources/rescan"), 403, "forbidden")


def test_health_needs_no_token(nobody: Rest) -> None:
    assert nobody.get("/health/live").json() == {"ok": True}
    ready = nobody.get("/health/ready/").json()
    assert ready == {"ok": True, "checks": {"database": True, "vault": True}, "problems": []}


def test_a_wrong_token_is_refused_even_where_a_session_would_do(vault: VaultFolder) -> None:
    rest = Rest("syn_" + "x" * 43)
    rest.client.force_login(User.objects.create_user("sam"))
    refused(rest.get("/status"), 401, "unauthenticated")


def _expired() -> str:
    token, raw = create_token(name="old")
    Token.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    return raw


def _revoked() -> str:
    raw = create_token(name="lost")[1]
    revoke_token(name="lost")
    return raw


def _of_an_inactive_person() -> str:
    return create_token(name="gone", user=User.objects.create_user("gone", is_active=False))[1]


@pytest.mark.parametrize("make", [_expired, _revoked, _of_an_inactive_person])
def test_tokens_that_are_no_longer_good(vault: VaultFolder, make: Any) -> None:
    refused(Rest(make()).get("/status"), 401, "unauthenticated")


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer tök", "Bearer a b", "Basic eDp5", "Bearer \xff"])
def test_what_is_no_token_is_refused(vault: VaultFolder, header: str) -> None:
    refused(Rest().get("/status", Authorization=header), 401, "unauthenticated")


def test_a_token_in_the_address_is_never_looked_at(vault: VaultFolder) -> None:
    raw = create_token(name="t")[1]
    for name in ("token", "access_token", "key"):
        refused(Rest().get(f"/status?{name}={raw}"), 401, "unauthenticated")


def test_the_word_bearer_in_any_case(vault: VaultFolder) -> None:
    raw = create_token(name="t")[1]
    assert Rest().get("/status", Authorization=f"bearer {raw}").status_code == 200


def test_the_last_use_is_noted_and_written_later(vault: VaultFolder) -> None:
    token, raw = create_token(name="t")
    Rest(raw).get("/status")
    token.refresh_from_db()
    assert token.last_used_at is None
    last_used.flush()
    token.refresh_from_db()
    assert token.last_used_at is not None


class Session:
    """A person who is logged in, with a browser that checks CSRF as a real one is checked."""

    def __init__(self, user: User) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.client.force_login(user)

    def put(self, page: Page, *, csrf: bool) -> Any:
        headers = {"If-Match": "*"}
        if csrf:
            self.client.cookies["csrftoken"] = "c" * 32
            headers["X-CSRFToken"] = "c" * 32
        body = b'{"content": "By a person.\\n"}'
        return self.client.put(f"/pages/{page.uid}", body, content_type="application/json", headers=headers)


def _editor() -> User:
    editor = User.objects.create_user("eva", is_staff=True)
    editor.user_permissions.set(Permission.objects.filter(codename__in=["change_page", "change_reviewitem"]))
    return editor


def test_any_active_person_reads_in_a_session(vault: VaultFolder) -> None:
    sam = Session(User.objects.create_user("sam"))
    assert sam.client.get("/status").status_code == 200
    User.objects.update(is_active=False)
    refused(sam.client.get("/status"), 401, "unauthenticated")


def test_staff_with_the_permission_write_and_are_named(turing: Page) -> None:
    answer = Session(_editor()).put(turing, csrf=True)
    assert answer.status_code == 200
    history = Rest(create_token(name="t")[1]).get(f"/pages/{turing.uid}/history").json()
    assert history["result"][0]["author"] == "user:eva"


def test_others_do_not_write_in_a_session(turing: Page) -> None:
    with_permission_only = _editor()
    User.objects.update(is_staff=False)
    refused(Session(with_permission_only).put(turing, csrf=True), 403, "forbidden")
    refused(Session(User.objects.create_user("sid", is_staff=True)).put(turing, csrf=True), 403, "forbidden")


def test_another_site_can_not_use_a_session(turing: Page) -> None:
    envelope = refused(Session(_editor()).put(turing, csrf=False), 403, "forbidden")
    assert "CSRF" in envelope["error"]


def test_a_token_needs_no_csrf(turing: Page) -> None:
    raw = create_token(name="w", scope=Scope.WRITE)[1]
    client = Client(enforce_csrf_checks=True)
    headers = {"If-Match": "*", "Authorization": f"Bearer {raw}"}
    answer = client.put(f"/pages/{turing.uid}", b'{"content": "x"}', content_type="application/json", headers=headers)
    assert answer.status_code == 200


def test_no_other_site_is_let_in(rita: Rest) -> None:
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    for answer in (rita.get("/pages", **preflight), Rest().call("OPTIONS", "/pages", **preflight)):
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_a_vault_that_is_served_read_only_refuses_every_change(wanda: Rest, turing: Page, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    url = f"/pages/{turing.uid}"
    refused(wanda.put(url, {"content": "x"}, If_Match="*"), 403, "read_only")
    refused(wanda.delete(url, If_Match="*"), 403, "read_only")
    refused(wanda.post(f"{url}/move", {"path": "wiki/entities/b.md"}), 403, "read_only")
    refused(wanda.post(f"{url}/retitle", {"title": "B"}), 403, "read_only")
    refused(wanda.post(f"{url}/restore", {"version": 1}), 403, "read_only")
    assert wanda.get("/status").json()["read_only"] is True


def test_a_token_writes_no_longer_than_its_person_may(vault: VaultFolder) -> None:
    person = User.objects.create_superuser("ada")
    rest = Rest(create_token(name="ada's", scope=Scope.WRITE, user=person)[1])
    assert rest.post("/sources/rescan").status_code == 202
    User.objects.update(is_superuser=False)
    refused(rest.post("/sources/rescan"), 403, "forbidden")
    assert rest.get("/status").status_code == 200
