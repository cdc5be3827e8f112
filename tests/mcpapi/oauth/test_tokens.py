"""Codes for tokens, their rotation and their end."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from mcpapi.auth import authenticate
from mcpapi.oauth.token_endpoint import IssueToken
from tests.mcpapi.oauth.flow import BASE, CLAUDE, Agent, DjangoBrowser
from tests.mcpapi.oauth.test_authorize import FOREIGN, OURS
from vault.errors import SynapseError


def holds(tokens: dict) -> bool:
    try:
        authenticate(tokens["access_token"], BASE)
    except SynapseError as error:
        assert error.code == "unauthenticated"
        return False
    return True


def refused(answer, error: str, status: int = 400) -> None:
    assert (answer.status, answer.json()["error"]) == (status, error), answer.text
    assert "access_token" not in answer.text


def age_used_tokens(seconds: float) -> None:
    for token in RefreshToken.objects.filter(revoked__isnull=False):
        RefreshToken.objects.filter(pk=token.pk).update(revoked=token.revoked - timedelta(seconds=seconds))


def test_a_code_that_is_shown_again_ends_what_came_of_it(agent, reader):
    agent.register()
    code = agent.code("rita")
    tokens = agent.exchange(code).json()
    newer = agent.refresh(tokens["refresh_token"]).json()
    assert holds(newer)
    refused(agent.exchange(code), "invalid_grant")
    assert not holds(newer)
    refused(agent.refresh(newer["refresh_token"]), "invalid_grant")


def test_a_code_that_is_shown_again_while_its_tokens_are_answered_leaves_none(agent, reader, monkeypatch):
    agent.register()
    code = agent.code("rita")
    made = IssueToken.create_token_response
    inner = []

    def shown_again(self, request):
        answer = made(self, request)
        monkeypatch.setattr(IssueToken, "create_token_response", made)
        inner.append(agent.exchange(code))
        return answer

    monkeypatch.setattr(IssueToken, "create_token_response", shown_again)
    refused(agent.exchange(code), "invalid_grant")
    refused(inner[0], "invalid_grant")
    assert not AccessToken.objects.exists()


def test_of_a_code_a_digest_is_kept_which_is_no_code_itself(agent, reader):
    agent.register()
    code = agent.code("rita")
    kept = Grant.objects.get().code
    assert kept == hashlib.sha256(code.encode()).hexdigest()
    refused(agent.exchange(kept), "invalid_grant")
    assert agent.exchange(code).status == 200


def test_a_code_of_one_client_is_worth_nothing_to_another(agent, reader):
    agent.register()
    code = agent.code("rita")
    thief = Agent(agent.browser, verifier=agent.verifier)
    thief.register()
    refused(thief.exchange(code), "invalid_grant")
    assert agent.exchange(code).status == 200


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": "w" * 64}, "invalid_grant"),
        ({"code_verifier": ""}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"redirect_uri": "https://claude.com/api/mcp/auth_callback"}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"resource": ""}, "invalid_target"),
        ({"resource": [f"{BASE}/mcp", ""]}, "invalid_target"),
        *(({"resource": resource}, "invalid_target") for resource in FOREIGN),
    ],
)
def test_a_code_is_exchanged_as_it_was_asked_for_or_not_at_all(agent, reader, changed, error):
    agent.register()
    code = agent.code("rita")
    answer = agent.exchange(code, **changed)
    assert answer.status == 400, answer.text
    assert answer.json()["error"] == error
    assert not AccessToken.objects.exists()
    assert agent.exchange(code).status == 200


@pytest.mark.parametrize("path", OURS)
def test_the_spelling_of_the_resource_may_change_between_code_and_token(agent, reader, path):
    agent.register()
    tokens = agent.exchange(agent.code("rita"), resource=BASE + path).json()
    assert holds(tokens)
    assert agent.refresh(tokens["refresh_token"], resource=BASE + path).status == 200


def test_a_code_lasts_a_minute(agent, reader):
    agent.register()
    code = agent.code("rita")
    assert Grant.objects.get().expires <= timezone.now() + timedelta(seconds=60)
    Grant.objects.update(expires=timezone.now())
    refused(agent.exchange(code), "invalid_grant")


def test_a_client_that_is_not_known_is_told_how_it_becomes_so(agent, db):
    agent.client_id = "never-registered"
    answer = agent.exchange("x")
    refused(answer, "invalid_client", 401)
    assert answer.json()["registration_endpoint"] == f"{BASE}/register"
    refused(
        agent.browser.ask("POST", "/revoke", {"token": "x", "client_id": "never-registered"}), "invalid_client", 401
    )


def basic(client_id: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic", "none"])
def test_a_client_says_who_it_is_in_the_way_it_registered(agent, reader, method):
    registered = agent.register(token_endpoint_auth_method=method)
    assert registered["token_endpoint_auth_method"] == method
    code = agent.code("rita")
    if method == "none":
        assert "client_secret" not in registered
        assert agent.exchange(code).status == 200
        return
    refused(agent.exchange(code), "invalid_client", 401)
    refused(agent.exchange(code, client_secret="wrong"), "invalid_client", 401)
    assert "did not send the secret" in agent.exchange(code, client_secret="wrong").json()["error_description"]
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": CLAUDE, "code_verifier": agent.verifier}
    if method == "client_secret_post":
        tokens = agent.exchange(code, client_secret=agent.secret).json()
    else:
        wrong = agent.browser.ask("POST", "/token", fields, authorization=basic(agent.client_id, "wrong"))
        assert wrong.status == 401
        sent = agent.browser.ask("POST", "/token", fields, authorization=basic(agent.client_id, agent.secret))
        tokens = sent.json()
    assert holds(tokens)
    refused(agent.refresh(tokens["refresh_token"]), "invalid_client", 401)


def test_a_refresh_token_rotates_and_its_reuse_ends_the_family(agent, reader):
    agent.register()
    first = agent.tokens("rita")
    second = agent.refresh(first["refresh_token"]).json()
    assert not holds(first)
    third = agent.refresh(second["refresh_token"]).json()
    assert holds(third)
    assert len({tokens[kind] for tokens in (first, second, third) for kind in ("access_token", "refresh_token")}) == 6
    age_used_tokens(11)
    refused(agent.refresh(second["refresh_token"]), "invalid_grant")
    assert not holds(third)
    refused(agent.refresh(third["refresh_token"]), "invalid_grant")


def test_a_client_that_asks_twice_at_once_keeps_what_it_got_first(agent, reader):
    agent.register()
    first = agent.tokens("rita")
    second = agent.refresh(first["refresh_token"]).json()
    refused(agent.refresh(first["refresh_token"]), "invalid_grant")
    assert holds(second)
    assert agent.refresh(second["refresh_token"]).status == 200
    # two uses later it is no race any more, however soon
    refused(agent.refresh(first["refresh_token"]), "invalid_grant")
    assert not AccessToken.objects.exists()


def test_a_refresh_token_of_one_client_is_worth_nothing_to_another(agent, reader):
    agent.register()
    tokens = agent.tokens("rita")
    thief = Agent(agent.browser)
    thief.register()
    refused(thief.refresh(tokens["refresh_token"]), "invalid_grant")
    assert agent.refresh(tokens["refresh_token"]).status == 200


@pytest.mark.parametrize("resource", ["", *FOREIGN])
def test_a_refresh_for_another_resource_is_refused(agent, reader, resource):
    agent.register()
    tokens = agent.tokens("rita")
    refused(agent.refresh(tokens["refresh_token"], resource=resource), "invalid_target")
    assert agent.refresh(tokens["refresh_token"], resource=None).status == 200


def test_a_refresh_asks_for_no_more_than_was_granted(agent, editor, settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    tokens = agent.tokens("ed", scope="read propose")
    refused(agent.refresh(tokens["refresh_token"], scope="read write"), "invalid_scope")
    assert agent.refresh(tokens["refresh_token"], scope="read").json()["scope"] == "read"


def test_after_sixty_days_without_use_a_refresh_token_is_over(agent, reader):
    agent.register()
    tokens = agent.tokens("rita")
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=59))
    newer = agent.refresh(tokens["refresh_token"]).json()
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=61))
    refused(agent.refresh(newer["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
@pytest.mark.parametrize("hint", ["access_token", "refresh_token", None])
def test_to_revoke_one_of_a_pair_ends_both(agent, reader, kind, hint):
    agent.register()
    tokens = agent.tokens("rita")
    thief = Agent(agent.browser)
    thief.register()
    assert thief.revoke(tokens[kind]).status == 200
    assert holds(tokens)
    assert agent.revoke(tokens[kind], token_type_hint=hint).status == 200
    assert not holds(tokens)
    refused(agent.refresh(tokens["refresh_token"]), "invalid_grant")
    assert agent.revoke(tokens[kind]).status == 200


def test_what_belongs_to_somebody_inactive_stops(agent, reader):
    agent.register()
    tokens, code = agent.tokens("rita"), agent.code("rita")
    User.objects.update(is_active=False)
    assert not holds(tokens)
    refused(agent.refresh(tokens["refresh_token"]), "invalid_grant")
    refused(agent.exchange(code), "invalid_grant")


def test_only_digests_are_kept(agent, reader):
    agent.register(token_endpoint_auth_method="client_secret_post")
    tokens = agent.exchange(agent.code("rita"), client_secret=agent.secret).json()
    kept = json.dumps(
        [list(model.objects.values()) for model in (AccessToken, RefreshToken)]
        + [list(AccessToken.objects.values("application__client_secret"))],
        default=str,
    )
    for secret in (tokens["access_token"], tokens["refresh_token"], agent.secret):
        assert secret
        assert secret not in kept


def test_no_secret_gets_into_the_log(agent, reader, caplog):
    caplog.set_level(logging.DEBUG)
    for name in ("oauth2_provider", "oauthlib"):
        assert logging.getLogger(name).getEffectiveLevel() >= logging.WARNING
    agent.register(token_endpoint_auth_method="client_secret_post")
    code = agent.code("rita")
    tokens = agent.exchange(code, client_secret=agent.secret).json()
    agent.exchange(code, client_secret=agent.secret)
    agent.refresh(tokens["refresh_token"], client_secret="wrong")
    for secret in (code, agent.secret, agent.verifier, tokens["access_token"], tokens["refresh_token"]):
        assert secret not in caplog.text


def test_parameters_in_the_address_of_the_token_endpoint_are_refused(agent, reader):
    agent.register()
    answer = agent.browser.ask("POST", f"/token?code={agent.code('rita')}", {"grant_type": "authorization_code"})
    assert answer.status == 400
    assert DjangoBrowser().ask("GET", "/token").status == 405
