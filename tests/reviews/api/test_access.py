"""Who may look, file, decide and research: tokens by scope, people by their permissions, nobody without either."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from reviews.models import ResearchRun, ReviewItem, Status
from tests.reviews.api.conftest import UNKNOWN, Rest, asked, refused
from wiki.models import Scope
from wiki.tokens import create_token, revoke_token

READING = [
    ("GET", "/review/queue", None),
    ("GET", f"/review/queue/{UNKNOWN}", None),
    ("GET", "/research/runs", None),
]
PROPOSING = [
    ("POST", "/review/queue", {"items": [{"item_type": "confirm", "title": "Is it so?"}]}),
    ("POST", f"/research/runs/{UNKNOWN}/claim", {}),
    ("POST", f"/research/runs/{UNKNOWN}/complete", {"title": "x"}),
    ("POST", f"/research/runs/{UNKNOWN}/fail", {}),
]
DECIDING = [
    ("PATCH", f"/review/queue/{UNKNOWN}", {"action": "skip"}),
    *[
        ("POST", f"/review/queue/{UNKNOWN}/{verb}", {})
        for verb in ("skip", "dismiss", "create", "approve", "deep-research", "mark-resolved", "reopen")
    ],
    ("POST", "/review/queue/bulk", {"action": "skip", "ids": [UNKNOWN]}),
    ("POST", "/review/queue/bulk-resolve", {"action": "skip", "ids": [UNKNOWN]}),
    ("POST", "/review/queue/sweep", {}),
]
EVERYTHING = [*READING, *PROPOSING, *DECIDING]


def call(rest: Rest, row: tuple[str, str, Any], slash: str = "") -> Any:
    method, path, body = row
    return rest.call(method, path + slash, body)


@pytest.mark.parametrize("row", EVERYTHING, ids=lambda row: f"{row[0]} {row[1]}")
def test_nobody_gets_anything_without_a_token(nobody: Rest, row: Any) -> None:
    for slash in ("", "/"):
        answer = call(nobody, row, slash)
        refused(answer, 401, "unauthenticated")
        assert answer["WWW-Authenticate"] == 'Bearer realm="synapse"'
    assert not ReviewItem.objects.exists()


@pytest.mark.parametrize("scope", list(Scope))
def test_what_each_scope_may(vault: Any, scope: Scope) -> None:
    rest = Rest(create_token(name="t", scope=scope)[1])
    allowed = {Scope.READ: READING, Scope.PROPOSE: [*READING, *PROPOSING], Scope.WRITE: EVERYTHING}[scope]
    for row in EVERYTHING:
        answer = call(rest, row)
        if row in allowed:
            assert answer.status_code not in (401, 403), (row, answer.content)
        else:
            refused(answer, 403, "forbidden")
            refused(call(rest, row, "/"), 403, "forbidden")


@pytest.mark.parametrize("header", ["Bearer x", "Bearer tök", "Basic eDp5", "Bearer ", "syn_" + "a" * 43])
def test_what_is_no_token(vault: Any, header: str) -> None:
    item = asked()
    for method, path in (("GET", "/review/queue"), ("POST", f"/review/queue/{item.pk}/dismiss")):
        refused(Rest().call(method, path, Authorization=header), 401, "unauthenticated")
    raw = create_token(name="w", scope=Scope.WRITE)[1]
    refused(Rest().post(f"/review/queue/{item.pk}/dismiss?token={raw}"), 401, "unauthenticated")
    revoke_token(name="w")
    refused(Rest(raw).post(f"/review/queue/{item.pk}/dismiss"), 401, "unauthenticated")
    item.refresh_from_db()
    assert item.status == Status.PENDING


class Person:
    """Somebody who is logged in, with a browser that checks CSRF as a real one is checked."""

    def __init__(self, *permissions: str, **fields: Any) -> None:
        self.user = User.objects.create_user(f"person{User.objects.count()}", **fields)
        self.user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        self.client = Client(enforce_csrf_checks=True)
        self.client.force_login(self.user)

    def call(self, method: str, path: str, body: Any = None, *, csrf: bool = True) -> Any:
        headers = {}
        if csrf:
            self.client.cookies["csrftoken"] = "c" * 32
            headers["X-CSRFToken"] = "c" * 32
        data = b"" if body is None else json.dumps(body).encode()
        return self.client.generic(method, path, data, content_type="application/json", headers=headers)


BOTH = ("change_page", "change_reviewitem")


def test_staff_who_may_change_pages_and_reviews_decide_and_are_named(vault: Any) -> None:
    item = asked()
    eva = Person(*BOTH, is_staff=True)
    answer = eva.call("PATCH", f"/review/queue/{item.pk}", {"action": "dismiss"})
    assert answer.json()["item"]["reviewed_by"] == f"user:{eva.user.username}"
    assert answer.json()["item"]["reviewed_via"] == "rest"


@pytest.mark.parametrize(
    ("permissions", "fields"),
    [
        ((), {}),
        (BOTH, {}),
        ((), {"is_staff": True}),
        (BOTH[:1], {"is_staff": True}),
        (BOTH[1:], {"is_staff": True}),
        (("view_reviewitem", "add_reviewitem", "delete_reviewitem", "change_page"), {"is_staff": True}),
    ],
)
def test_other_people_only_look(vault: Any, permissions: Any, fields: Any) -> None:
    person = Person(*permissions, **fields)
    for method, path, _ in READING:
        assert person.call(method, path).status_code in (200, 404)
    for method, path, body in (*PROPOSING, *DECIDING):
        refused(person.call(method, path, body), 403, "forbidden")
    assert not ReviewItem.objects.exists()


def test_a_superuser_may_all_and_an_account_that_is_closed_nothing(vault: Any) -> None:
    boss = Person(is_staff=True, is_superuser=True)
    for method, path, body in EVERYTHING:
        assert boss.call(method, path, body).status_code not in (401, 403)
    User.objects.update(is_active=False)
    for method, path, body in EVERYTHING:
        refused(boss.call(method, path, body), 401, "unauthenticated")


def test_another_site_can_not_use_a_session(vault: Any) -> None:
    eva = Person(*BOTH, is_staff=True)
    item = asked()
    for method, path, body in (*PROPOSING, *DECIDING):
        envelope = refused(eva.call(method, path.replace(UNKNOWN, str(item.pk)), body, csrf=False), 403, "forbidden")
        assert "CSRF" in envelope["error"]
    item.refresh_from_db()
    assert item.status == Status.PENDING
    assert ReviewItem.objects.count() == 1


def test_a_token_decides_no_longer_than_its_person_may(vault: Any) -> None:
    eva = Person(*BOTH, is_staff=True)
    rest = Rest(create_token(name="eva's", scope=Scope.WRITE, user=eva.user)[1])
    first, second = asked("First?"), asked("Second?")
    assert rest.post(f"/review/queue/{first.pk}/skip").status_code == 200
    eva.user.user_permissions.remove(Permission.objects.get(codename="change_reviewitem"))
    refused(rest.post(f"/review/queue/{second.pk}/skip"), 403, "forbidden")
    assert rest.get("/review/queue").status_code == 200


def test_where_decisions_are_peoples_tokens_are_refused_and_people_are_not(vault: Any, settings: Any) -> None:
    settings.SYNAPSE_AGENT_MAY_DECIDE = False
    first, second = asked("First?"), asked("Second?")
    wanda = Rest(create_token(name="wanda", scope=Scope.WRITE)[1])
    eva = Person(*BOTH, is_staff=True)
    for method, path, body in (
        ("PATCH", f"/review/queue/{first.pk}", {"action": "skip"}),
        ("POST", f"/review/queue/{first.pk}/dismiss", {}),
        ("POST", f"/review/queue/{first.pk}/reopen", {}),
        ("POST", "/review/queue/bulk", {"action": "skip", "ids": [str(first.pk)]}),
        ("POST", "/review/queue/bulk-resolve", {"action": "skip", "ids": [str(first.pk)]}),
    ):
        refused(wanda.call(method, path, body), 403, "forbidden")
    hers = Rest(create_token(name="eva's", scope=Scope.WRITE, user=eva.user)[1])
    refused(hers.post(f"/review/queue/{first.pk}/skip"), 403, "forbidden")
    assert eva.call("POST", f"/review/queue/{first.pk}/skip", {}).status_code == 200
    bulk = eva.call("POST", "/review/queue/bulk", {"action": "skip", "ids": [str(second.pk)]})
    assert bulk.json()["updated"] == [str(second.pk)]


def test_no_other_site_is_let_in(rita: Rest) -> None:
    preflight = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PATCH"}
    for answer in (rita.get("/review/queue", **preflight), Rest().call("OPTIONS", "/review/queue", **preflight)):
        assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_a_request_that_may_not_opens_no_run(paula: Rest, vault: Any, settings: Any) -> None:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    item = asked()
    refused(paula.post(f"/review/queue/{item.pk}/deep-research"), 403, "forbidden")
    assert not ResearchRun.objects.exists()
