"""What /mcp makes of a token that a person granted, and what it tells who has none."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.utils import timezone
from oauth2_provider.models import AccessToken

from mcpapi.auth import authenticate
from mcpapi.models import ToolCall
from mcpapi.oauth.addresses import issuer, origin_of
from mcpapi.profiles import READ_TOOLS, WRITE_TOOLS
from tests.mcpapi.oauth.flow import BASE, DjangoBrowser
from tests.mcpapi.oauth.test_authorize import FOREIGN
from tests.mcpapi.test_http import HEADERS, message, request
from vault.errors import SynapseError
from wiki.models import Audit

PUBLIC = "https://wiki.example.org"


@pytest.fixture
def public(settings):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "wiki.example.org"]
    settings.SYNAPSE_PUBLIC_URL = PUBLIC
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "OIDC_ISS_ENDPOINT": PUBLIC}


def parameters(challenge: str) -> dict[str, str]:
    assert challenge.startswith("Bearer ")
    return dict(re.findall(r'(\w+)="([^"]*)"', challenge))


@pytest.mark.parametrize(
    ("path", "resource"),
    [("/mcp", "/mcp"), ("/mcp/", "/mcp"), ("/mcp/server", "/mcp/server"), ("/mcp/server/", "/mcp/server")],
)
@pytest.mark.parametrize("mode", ["false", "staged", "true"])
def test_a_401_leads_to_the_metadata_and_says_what_to_ask_for(settings, path, resource, mode):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    answer = request(path=path, without="authorization")
    assert answer.status_code == 401
    told = parameters(answer.headers["www-authenticate"])
    scope = {"false": "read", "staged": "read propose", "true": "read propose write"}[mode]
    address = f"{BASE}/.well-known/oauth-protected-resource{resource}"
    assert told == {"realm": "synapse", "resource_metadata": address, "scope": scope}
    document = DjangoBrowser().ask("GET", address)
    assert document.status == 200
    assert document.json() == {
        "resource": BASE + resource,
        "authorization_servers": [BASE],
        "scopes_supported": sorted(scope.split()),
        "bearer_methods_supported": ["header"],
        "resource_name": "Synapse",
    }


def test_a_token_that_does_not_hold_is_called_so(settings):
    told = parameters(request(authorization="Bearer wrong").headers["www-authenticate"])
    assert told["error"] == "invalid_token"


@pytest.mark.parametrize("path", ["", "/mcp", "/mcp/", "/mcp/server", "/mcp/server/"])
def test_the_metadata_of_the_resource_is_at_the_root_and_at_each_path(path):
    document = DjangoBrowser().ask("GET", f"/.well-known/oauth-protected-resource{path}")
    assert document.json()["resource"] == BASE + (path.rstrip("/") or "/mcp")


@pytest.mark.parametrize("path", ["/x", "/mcp/x", "/mcp/server/x", "//mcp", "/mcp//"])
def test_no_other_resource_has_metadata(path):
    assert DjangoBrowser().ask("GET", f"/.well-known/oauth-protected-resource{path}").status == 404


def test_the_metadata_of_the_server_tells_what_it_does(settings):
    document = DjangoBrowser().ask("GET", "/.well-known/oauth-authorization-server").json()
    methods = ["none", "client_secret_basic", "client_secret_post"]
    assert document == {
        "issuer": BASE,
        "authorization_endpoint": f"{BASE}/authorize",
        "token_endpoint": f"{BASE}/token",
        "revocation_endpoint": f"{BASE}/revoke",
        "registration_endpoint": f"{BASE}/register",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "scopes_supported": ["read"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    assert DjangoBrowser().ask("GET", "/.well-known/oauth-authorization-server/mcp").status == 404
    assert DjangoBrowser().ask("GET", "/.well-known/openid-configuration").status == 404


def test_a_public_address_is_the_issuer_whatever_the_host(public):
    for base in (BASE, PUBLIC):
        browser = DjangoBrowser(base)
        assert browser.ask("GET", "/.well-known/oauth-authorization-server").json()["issuer"] == PUBLIC
        assert browser.ask("GET", "/.well-known/oauth-protected-resource").json()["resource"] == f"{PUBLIC}/mcp"
    told = parameters(request(without="authorization").headers["www-authenticate"])
    assert told["resource_metadata"] == f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"


@pytest.mark.parametrize(
    ("scheme", "host", "expected"),
    [
        ("http", "127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http", "LOCALHOST:80", "http://localhost"),
        ("http", "[::1]:8000", "http://[::1]:8000"),
        ("https", "wiki.example.org:443", "https://wiki.example.org"),
        ("http", "wiki.example.org", None),
        ("http", "10.0.0.1:8000", None),
        ("http", "localhost.evil.example", None),
        ("http", "127.0.0.1:port", None),
        ("http", "x@127.0.0.1", None),
        ("http", "", None),
    ],
)
def test_plain_http_has_an_issuer_on_this_machine_alone(scheme, host, expected):
    assert issuer(scheme, host) == expected


def test_switched_off_there_is_no_word_of_signing_in(settings):
    settings.SYNAPSE_OAUTH_ENABLED = False
    answer = request(without="authorization")
    assert parameters(answer.headers["www-authenticate"]) == {"realm": "synapse"}
    assert answer.json()["error"].endswith("which `manage.py token create` makes.")
    with pytest.raises(SynapseError, match=r"Nobody can sign in at this address"):
        authenticate("syn_oa_" + "A" * 43, None)
    for path in ("oauth-protected-resource", "oauth-protected-resource/mcp", "oauth-authorization-server"):
        assert DjangoBrowser().ask("GET", f"/.well-known/{path}").status == 404


def refused(raw: str, own: str | None = BASE) -> None:
    with pytest.raises(SynapseError) as caught:
        authenticate(raw, own)
    assert caught.value.code == "unauthenticated"


@pytest.mark.parametrize("resources", [[], [""], *([resource] for resource in FOREIGN), [f"{BASE}/mcp", FOREIGN[0]]])
def test_a_token_for_nothing_or_for_elsewhere_is_refused(agent, reader, resources):
    agent.register()
    token = agent.tokens("rita")["access_token"]
    assert authenticate(token, BASE).name == "oauth:Claude/rita"
    for own in (None, "http://127.0.0.1:8001", "http://localhost:8000", PUBLIC):
        refused(token, own)
    AccessToken.objects.update(resource=resources)
    refused(token)


def test_a_token_without_a_person_a_client_or_a_scope_of_ours_is_refused(agent, reader):
    agent.register()
    token = agent.tokens("rita")["access_token"]
    for change in (
        {"user": None},
        {"application": None},
        {"scope": ""},
        {"scope": "other"},
        {"expires": timezone.now()},
    ):
        kept = {name: getattr(AccessToken.objects.get(), name) for name in change}
        AccessToken.objects.update(**change)
        refused(token)
        AccessToken.objects.update(**kept)
    assert authenticate(token, BASE)
    AccessToken.objects.update(expires=timezone.now() - timedelta(seconds=1))
    refused(token)


def test_a_name_that_a_client_chose_looks_like_nobody_else(agent, reader):
    agent.register(client_name="x/token:laptop")
    assert authenticate(agent.tokens("rita")["access_token"], BASE).name == "oauth:x·token:laptop/rita"


def test_the_longest_names_fit_where_they_are_kept(agent, reader):
    reader.username = "r" * 150
    reader.save()
    agent.register(client_name="c" * 80)
    name = authenticate(agent.tokens(reader.username)["access_token"], BASE).name
    assert len(name) <= min(Audit._meta.get_field("actor").max_length, ToolCall._meta.get_field("client").max_length)


@pytest.mark.parametrize(("scope", "queries"), [("read", 1), ("read propose write", 3)])
def test_a_token_is_found_by_one_query(agent, editor, settings, django_assert_num_queries, scope, queries):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    token = agent.tokens("ed", scope=scope)["access_token"]
    with django_assert_num_queries(queries):
        authenticate(token, BASE)
    User.objects.update(is_superuser=True)
    with django_assert_num_queries(1):
        assert authenticate(token, BASE).scope == scope.split()[-1]


def test_what_has_not_the_form_of_a_token_is_not_looked_for(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        for raw in ("syn_oa_", "syn_oa_" + "x" * 42, "syn_oa_" + "x" * 44, "syn_or_" + "x" * 43, "x" * 30):
            refused(raw)


@pytest.mark.parametrize("change", [{"is_staff": False}, {"is_active": False}, "permissions"])
def test_who_may_write_no_more_has_no_token_that_does(agent, editor, settings, change):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    token = agent.tokens("ed", scope="read propose write")["access_token"]
    assert authenticate(token, BASE).scope == "write"
    if change == "permissions":
        editor.user_permissions.clear()
    else:
        User.objects.update(**change)
    if change == {"is_active": False}:
        refused(token)
    else:
        assert authenticate(token, BASE).scope == "read"
    User.objects.update(is_staff=True, is_active=True, is_superuser=True)
    assert authenticate(token, BASE).scope == "write"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("mode", "scope", "more"),
    [
        ("false", "read propose write", set()),
        ("staged", "read", set()),
        ("true", "read", set()),
        ("true", "read propose", {"propose_review"}),
        ("true", "read propose write", set(WRITE_TOOLS)),
    ],
)
def test_write_tools_appear_only_with_the_setting_and_the_scope(
    agent, editor, settings, monkeypatch, mode, scope, more
):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    token = agent.tokens("ed", scope=scope)["access_token"]
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    monkeypatch.setitem(HEADERS, "authorization", f"Bearer {token}")
    for path in ("/mcp", "/mcp/", "/mcp/server", "/mcp/server/"):
        answer = request(path=path)
        assert answer.status_code == 200
        assert {tool["name"] for tool in message(answer)["result"]["tools"]} == READ_TOOLS | more


@pytest.mark.parametrize("path", ["/pages", "/search?query=x", "/status", "/openapi.json", "/review/queue"])
def test_rest_knows_no_such_token(agent, reader, path):
    agent.register()
    tokens = agent.tokens("rita")
    for raw in tokens["access_token"], tokens["refresh_token"]:
        answer = DjangoBrowser().ask("GET", path, authorization=f"Bearer {raw}")
        assert (answer.status, answer.json()["error_code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"SYNAPSE_PUBLIC_URL": PUBLIC}, []),
        ({"SYNAPSE_PUBLIC_URL": f"{PUBLIC}/"}, []),
        ({"SYNAPSE_PUBLIC_URL": "http://localhost:8000"}, []),
        ({"SYNAPSE_PUBLIC_URL": "http://wiki.example.org"}, ["W110"]),
        ({"SYNAPSE_PUBLIC_URL": f"{PUBLIC}/wiki"}, ["W111"]),
        ({"SYNAPSE_OAUTH_CLIENT_HOSTS": ["*"]}, ["W112"]),
        ({"SYNAPSE_OAUTH_CLIENT_HOSTS": ["https://claude.ai"]}, ["W112"]),
        ({"SYNAPSE_OAUTH_CLIENT_HOSTS": []}, []),
        ({"SYNAPSE_PUBLIC_URL": "http://wiki.example.org", "SYNAPSE_OAUTH_ENABLED": False}, []),
    ],
)
def test_check_tells_of_settings_with_which_nobody_can_sign_in(settings, changed, found):
    for name, value in changed.items():
        setattr(settings, name, value)
    told = [str(message.id).removeprefix("synapse.") for message in run_checks(tags=["synapse"])]
    assert [name for name in told if name.startswith("W11")] == found


def test_the_toolkits_own_checks_for_a_deployment_are_content():
    assert not [
        m
        for m in run_checks(include_deployment_checks=True)
        if str(m.id).startswith("oauth2_provider") and not m.is_silenced()
    ]


@pytest.mark.parametrize(
    ("url", "origin"),
    [("HTTPS://Wiki.Example.ORG:443/x", PUBLIC), ("ftp://x", None), ("https://u@x", None), ("", None), ("//x", None)],
)
def test_an_origin_has_one_spelling(url, origin):
    assert origin_of(url) == origin
