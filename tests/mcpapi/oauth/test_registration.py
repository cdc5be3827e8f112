"""Registration of clients: open, and bounded."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, Grant, RefreshToken

from mcpapi.oauth import clients
from mcpapi.oauth.upkeep import run_job
from tests.mcpapi.oauth.flow import CLAUDE
from wiki import jobs
from wiki.models import Job
from wiki.throttling import limits


def age(**since: float) -> None:
    Application.objects.update(updated=timezone.now() - timedelta(**since))


@pytest.mark.django_db
def test_the_same_client_may_register_twice(agent):
    first, second = agent.register(), agent.register()
    assert first["client_id"] != second["client_id"]
    assert {key: first[key] for key in first if not key.startswith("client_id")} == {
        "client_name": "Claude",
        "redirect_uris": [CLAUDE],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    assert Application.objects.filter(registration_source="dcr", client_type="public").count() == 2


@pytest.mark.django_db
def test_what_other_servers_have_and_this_one_not_does_no_harm(agent):
    kinds = ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]
    made = agent.register(grant_types=kinds, client_uri="https://x.example", logo_uri=None, scope="read admin", foo=[1])
    assert made["grant_types"] == ["authorization_code", "refresh_token"]
    assert agent.register(client_name=None, token_endpoint_auth_method=None)["client_secret"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({"redirect_uris": None}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://x.example/"}, "invalid_redirect_uri"),
        ({"redirect_uris": [CLAUDE, 1]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CLAUDE] * 11}, "invalid_redirect_uri"),
        *(
            ({"redirect_uris": [CLAUDE, address]}, "invalid_redirect_uri")
            for address in [
                "http://x.example/callback",
                "http://127.0.0.1.evil.example/",
                "http://localhost.evil.example/",
                "javascript:alert(1)",
                "data:text/html,x",
                "myapp://callback",
                "https:///callback",
                "https://x.example/#part",
                "https://*.example/",
                "https://u:p@x.example/",
                "https://x.example/ https://y.example/",
                "https://x.example:port/",
                "https://x.example\\@y.example/",
                "//x.example/",
                "/callback",
                "",
                "https://x.example/" + "a" * 1_000,
            ]
        ),
        ({"client_name": "x" * 81}, "invalid_client_metadata"),
        ({"client_name": "a\u202eb"}, "invalid_client_metadata"),
        ({"client_name": {"a": 1}}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": ["none"]}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": "x", "padding": "x" * 17_000}, "invalid_client_metadata"),
    ],
)
def test_what_no_client_can_be_is_refused(agent, metadata, error):
    answer = agent.post_json("/register", {"redirect_uris": [CLAUDE], "token_endpoint_auth_method": "none", **metadata})
    assert (answer.status, answer.json()["error"]) == (400, error)
    assert answer.json()["error_description"]
    assert not Application.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("body", [[], "x", 1, None])
def test_only_an_object_registers(agent, body):
    assert agent.post_json("/register", body).status == 400
    assert agent.browser.ask("POST", "/register", {"client_name": "x"}).status == 400
    assert agent.browser.ask("GET", "/register").status == 405
    assert not Application.objects.exists()


@pytest.mark.django_db
def test_one_address_may_register_so_many_in_a_minute(agent, settings):
    settings.SYNAPSE_REGISTRATIONS_PER_MINUTE = 2
    limits.forget()
    try:
        agent.register()
        agent.register()
        answer = agent.post_json("/register", {"redirect_uris": [CLAUDE]})
        assert answer.status == 429
        assert int(answer.headers["Retry-After"]) >= 1
    finally:
        limits.forget()


def test_the_oldest_unused_clients_make_room_and_young_ones_are_spared(agent, reader, monkeypatch):
    monkeypatch.setattr(clients, "UNUSED_LIMIT", 3)
    used = agent.register()["client_id"]
    agent.tokens("rita")
    waiting = [agent.register()["client_id"] for _ in range(3)]
    full = agent.post_json("/register", {"redirect_uris": [CLAUDE], "token_endpoint_auth_method": "none"})
    assert full.status == 429
    age(minutes=20)
    Application.objects.filter(client_id=waiting[1]).update(updated=timezone.now() - timedelta(hours=1))
    newest = agent.register()["client_id"]
    left = set(Application.objects.values_list("client_id", flat=True))
    assert left == {used, newest, waiting[0], waiting[2]}


def test_every_hour_the_expired_and_the_unused_go(agent, reader):
    agent.register(client_name="unused")
    gone = agent.client_id
    agent.register(client_name="used")
    kept = agent.client_id
    agent.tokens("rita")
    agent.code("rita")
    Application.objects.create(name="by hand", redirect_uris=CLAUDE, client_type="public", hash_client_secret=False)
    age(days=6)
    assert run_job({}) == {"clients_forgotten": 0}
    age(days=8)
    Grant.objects.update(expires=timezone.now() - timedelta(seconds=1))
    assert run_job({}) == {"clients_forgotten": 1}
    assert not Grant.objects.exists()
    assert not Application.objects.filter(client_id=gone).exists()
    assert AccessToken.objects.count() == RefreshToken.objects.count() == 1
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=61))
    assert run_job({}) == {"clients_forgotten": 1}
    assert not Application.objects.filter(client_id=kept).exists()
    assert Application.objects.get().name == "by hand"
    assert run_job({}) == {"clients_forgotten": 0}


@pytest.mark.django_db
def test_an_hourly_job_sees_to_it(agent, vault_folder):
    Job.objects.all().delete()
    jobs.ask_for_upkeep()
    jobs.ask_for_upkeep()
    waiting = Job.objects.get(kind="oauth_upkeep")
    agent.register()
    age(days=8)
    jobs.run_due(now=True)
    waiting.refresh_from_db()
    assert waiting.outcome == {"clients_forgotten": 1}
    assert not Application.objects.exists()
