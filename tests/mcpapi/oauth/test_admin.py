"""Clients and tokens in the admin: seen by whoever may, ended, and never shown with a secret."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from tests.mcpapi.oauth.flow import CLAUDE, Agent, DjangoBrowser

KINDS = {"application": Application, "accesstoken": AccessToken, "refreshtoken": RefreshToken, "grant": Grant}


@pytest.fixture
def boss(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", password="x"))
    return client


@pytest.fixture
def watcher(db) -> Client:
    """Staff who may look, and no more."""
    user = User.objects.create_user("watcher", is_staff=True)
    user.user_permissions.set(
        Permission.objects.filter(content_type__app_label="oauth2_provider", codename__startswith="view_")
    )
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def held(agent: Agent, reader: User) -> tuple[Agent, dict[str, str], str]:
    agent.register(token_endpoint_auth_method="client_secret_post")
    tokens = agent.exchange(agent.code("rita"), client_secret=agent.secret).json()
    return agent, tokens, agent.code("rita")


def page(client: Client, name: str, *args: object) -> str:
    answer = client.get(reverse(f"admin:oauth2_provider_{name}", args=args))
    assert answer.status_code == 200
    return answer.content.decode()


def revoke(client: Client, kind: str, **more: str) -> int:
    row = KINDS[kind].objects.latest("pk")
    data = {"action": "revoke_selected", "_selected_action": str(row.pk), "confirmed": "yes", **more}
    return client.post(reverse(f"admin:oauth2_provider_{kind}_changelist"), data).status_code


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_listed_and_shown_without_a_secret(boss, watcher, held, kind):
    agent, tokens, code = held
    row = KINDS[kind].objects.latest("pk")
    kept = Application.objects.get().client_secret
    digests = [token.token_checksum for token in (*AccessToken.objects.all(), *RefreshToken.objects.all())]
    for client in (boss, watcher):
        for text in (page(client, f"{kind}_changelist"), page(client, f"{kind}_change", row.pk)):
            assert "Claude" in text
            for secret in (agent.secret, kept, code, *digests, *tokens.values()):
                assert len(str(secret)) < 20 or str(secret) not in text


@pytest.mark.parametrize("kind", ["accesstoken", "refreshtoken", "application"])
def test_to_revoke_one_ends_the_pair(boss, held, kind):
    agent, tokens, code = held
    assert revoke(boss, kind) == 302
    assert not AccessToken.objects.exists()
    answer = agent.refresh(tokens["refresh_token"], client_secret=agent.secret)
    assert answer.json()["error"] == "invalid_grant"
    assert Application.objects.exists()
    again = agent.exchange(code, client_secret=agent.secret)
    assert again.status == (400 if kind == "application" else 200)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_to_end_is_named_first_and_no_more_than_that_ends(boss, held, kind):
    agent, tokens, code = held
    before = {name: model.objects.count() for name, model in KINDS.items()}
    row = KINDS[kind].objects.latest("pk")
    across = {"action": "revoke_selected", "_selected_action": str(row.pk), "select_across": "1"}
    ways = [boss.post(reverse(f"admin:oauth2_provider_{kind}_changelist"), across)]
    link = re.search(r'href="([^"]*revoke_one[^"]*)"', page(boss, f"{kind}_changelist"))
    ways.append(boss.get(link[1]))
    for asked in ways:
        text = asked.content.decode()
        assert asked.status_code == 200 and "Claude" in text and "Revoke 1" in text
        assert re.findall(r'name="_selected_action" value="(\d+)"', text) == [str(row.pk)]
        assert all(
            secret not in text for secret in (agent.secret, code, *map(str, tokens.values())) if len(secret) > 20
        )
    assert {name: model.objects.count() for name, model in KINDS.items()} == before


def test_a_code_can_be_ended_before_it_is_used(boss, held):
    agent, _, code = held
    revoke(boss, "grant")
    assert agent.exchange(code, client_secret=agent.secret).json()["error"] == "invalid_grant"


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_may_only_look_ends_nothing(watcher, held, kind):
    before = {name: model.objects.count() for name, model in KINDS.items()}
    revoke(watcher, kind)
    row = KINDS[kind].objects.latest("pk")
    assert (
        watcher.post(reverse(f"admin:oauth2_provider_{kind}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    )
    assert watcher.get(reverse(f"admin:oauth2_provider_{kind}_add")).status_code == 403
    assert {name: model.objects.count() for name, model in KINDS.items()} == before
    assert RefreshToken.objects.get().revoked is None


@pytest.mark.parametrize("kind", ["accesstoken", "refreshtoken", "grant"])
def test_tokens_are_neither_made_nor_changed_by_hand(boss, held, kind):
    assert boss.get(reverse(f"admin:oauth2_provider_{kind}_add")).status_code == 403
    row = KINDS[kind].objects.latest("pk")
    assert boss.post(reverse(f"admin:oauth2_provider_{kind}_change", args=[row.pk]), {}).status_code == 403


def test_to_delete_a_client_ends_all_that_it_holds(boss, held):
    row = Application.objects.get()
    assert (
        boss.post(reverse("admin:oauth2_provider_application_delete", args=[row.pk]), {"post": "yes"}).status_code
        == 302
    )
    assert not any(model.objects.exists() for model in KINDS.values())


def test_tokens_go_with_their_person(boss, held, reader):
    assert boss.post(reverse("admin:auth_user_delete", args=[reader.pk]), {"post": "yes"}).status_code == 302
    assert not any(model.objects.exists() for model in (AccessToken, RefreshToken, Grant))
    assert Application.objects.exists()


@pytest.mark.parametrize("kind", ["public", "confidential"])
def test_a_client_made_by_hand_signs_in_with_the_secret_that_is_shown_once(boss, reader, kind):
    given = {"name": "By hand", "redirect_uris": CLAUDE, "client_type": kind}
    made = boss.post(reverse("admin:oauth2_provider_application_add"), given, follow=True).content.decode()
    found = re.findall(r"shown once: <code>([^<]+)</code>", made)
    assert len(found) == (1 if kind == "confidential" else 0)
    client = Application.objects.get()
    assert client.registration_source == "manual"
    agent = Agent(DjangoBrowser(), client_id=client.client_id)
    code = agent.code("rita")
    assert agent.exchange(code, client_secret=found[0] if found else None).status == 200
    assert not found or found[0] not in page(boss, "application_change", client.pk)


@pytest.mark.parametrize(
    "changed", [{"redirect_uris": "http://x.example/"}, {"redirect_uris": ""}, {"name": "x" * 81}, {"client_type": "x"}]
)
def test_a_client_made_by_hand_is_held_to_the_same(boss, changed):
    given = {"name": "By hand", "redirect_uris": CLAUDE, "client_type": "public", **changed}
    assert boss.post(reverse("admin:oauth2_provider_application_add"), given).status_code == 200
    assert not Application.objects.exists()


def test_the_sidebar_leads_there(boss):
    text = page(boss, "application_changelist")
    for kind in ("application", "accesstoken", "refreshtoken"):
        assert reverse(f"admin:oauth2_provider_{kind}_changelist") in text
    assert reverse("admin:oauth2_provider_idtoken_changelist") not in text
