"""Clients that are the address of their own metadata document."""

from __future__ import annotations

import json
import socket
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone
from oauth2_provider.models import Application
from oauth2_provider.settings import oauth2_settings

from mcpapi.auth import authenticate
from mcpapi.oauth import clients
from tests.mcpapi.oauth.documents import HOST, DocumentServer, at_home, certificate
from tests.mcpapi.oauth.flow import BASE, LOOPBACK, consent_page
from vault.errors import SynapseError


@pytest.fixture(scope="module")
def certificate_file(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def documents(certificate_file, settings, monkeypatch):
    hosts = [HOST, "localhost", "127.0.0.1", "10.0.0.1", "[::1]", "client.test"]
    settings.SYNAPSE_OAUTH_CLIENT_HOSTS = hosts
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "CIMD_ALLOWED_HOSTS": hosts}
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate_file))
    cache.clear()
    with DocumentServer(certificate_file).running() as server, at_home():
        yield server
    cache.clear()


@pytest.fixture
def agent(agent):
    agent.redirect = LOOPBACK
    return agent


def unknown(agent) -> bool:
    """Is the client not known, so that the page tells how to register?"""
    page = agent.browser.ask("GET", agent.address())
    assert page.status in (302, 400)
    assert (page.status == 302) == Application.objects.filter(client_id=agent.client_id).exists()
    return page.status == 400 and "SYNAPSE_OAUTH_CLIENT_HOSTS" in page.text


def test_a_client_is_its_document_without_registering(agent, reader, documents):
    agent.client_id = documents.serve()
    page = consent_page(agent.browser, agent.address(), "rita")
    assert "Allow “Documented”" in page.text
    assert f"<dd>{HOST}:" in page.text
    tokens = agent.tokens("rita")
    assert authenticate(tokens["access_token"], BASE).name == "oauth:Documented/rita"
    assert agent.refresh(tokens["refresh_token"]).status == 200
    assert documents.asked == ["/client.json"]


def test_it_is_read_again_when_it_has_aged_and_its_changes_hold(agent, reader, documents):
    agent.client_id = documents.serve()
    assert not unknown(agent)
    documents.serve(redirect_uris=["https://elsewhere.example/callback"])
    assert not unknown(agent)
    Application.objects.update(cimd_expires_at=timezone.now() - timedelta(seconds=1))
    assert agent.browser.ask("GET", agent.address()).status == 400
    documents.answers.clear()
    Application.objects.update(cimd_expires_at=timezone.now() - timedelta(seconds=1))
    assert agent.browser.ask("GET", agent.address(redirect_uri="https://elsewhere.example/callback")).status == 302


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "https://client.example/other.json"},
        {"client_id": None},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": ["http://elsewhere.example/callback"]},
        {"redirect_uris": ["myapp:/callback"]},
        {"redirect_uris": [1]},
        {"redirect_uris": ["https://x.example/"] * 11},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"client_secret": "x"},
        {"client_name": "x" * 200},
        {"client_name": 5},
        {"grant_types": ["client_credentials"]},
        {"grant_types": "authorization_code"},
        {"padding": "x" * 17_000},
        {"status": 404},
        {"status": 302},
        {"kind": "text/html"},
    ],
)
def test_a_document_that_no_client_can_have_makes_none(agent, db, documents, changed):
    agent.client_id = documents.serve(**changed)
    assert unknown(agent)
    assert not Application.objects.exists()


def test_a_redirect_is_not_followed(agent, db, documents):
    documents.serve("/real.json")
    documents.answers["/client.json"] = (302, {"Location": documents.url("/real.json")}, b"")
    agent.client_id = documents.url()
    assert unknown(agent)
    assert documents.asked == ["/client.json"]


def test_kinds_of_grants_that_are_not_had_here_do_no_harm(agent, db, documents):
    agent.client_id = documents.serve(grant_types=["authorization_code", "refresh_token", "urn:x:device_code"])
    assert not unknown(agent)
    agent.client_id = documents.serve("/bare.json", grant_types=None, response_types=None, client_name=None)
    assert not unknown(agent)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/client.json",
        "https://client.example.evil.example/client.json",
        "https://sub.client.example/client.json",
        "http://client.example/client.json",
        "https://client.example",
        "https://client.example/a/../client.json",
        "https://u:p@client.example/client.json",
        "https://client.example/client.json#x",
        "https://client.example:99999/client.json",
        "https://claude.ai@evil.example/client.json",
        "https://127.0.0.1/client.json",
        "https://10.0.0.1/client.json",
        "https://[::1]/client.json",
        "https://localhost/client.json",
        "HTTPS://",
        "https://client.example/\x00",
    ],
)
def test_no_connection_is_made_to_a_host_that_is_not_listed_or_not_public(agent, db, documents, monkeypatch, url):
    def connect(*args: object, **kwargs: object) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr("oauth2_provider.cimd.urllib3.HTTPSConnectionPool", connect)
    agent.client_id = url
    page = agent.browser.ask("GET", agent.address())
    assert page.status == 400
    assert documents.asked == []
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    "addresses",
    [
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["fd00::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::a9fe:a9fe"],
        ["2002:7f00:1::"],
        ["93.184.216.34", "127.0.0.1"],
        ["0.0.0.0"],
        ["100.64.0.1"],
    ],
)
def test_a_listed_host_that_leads_inside_is_not_followed(agent, db, documents, monkeypatch, addresses):
    def look_up(host: str, port: int, **kwargs: object) -> list[tuple]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    def connect(*args: object, **kwargs: object) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr("oauth2_provider.cimd.socket.getaddrinfo", look_up)
    monkeypatch.setattr("oauth2_provider.cimd.urllib3.HTTPSConnectionPool", connect)
    agent.client_id = "https://client.test/client.json"
    assert unknown(agent)


def test_a_certificate_of_another_is_not_taken(agent, db, documents, monkeypatch):
    agent.client_id = documents.serve()
    monkeypatch.delenv("SSL_CERT_FILE")
    assert unknown(agent)
    assert documents.asked == []


def test_a_host_that_is_listed_no_more_ends_its_clients(agent, reader, documents, settings):
    agent.client_id = documents.serve()
    tokens = agent.tokens("rita")
    code = agent.code("rita")
    settings.SYNAPSE_OAUTH_CLIENT_HOSTS = []
    assert agent.browser.ask("GET", agent.address()).status == 400
    assert agent.exchange(code).json()["error"] == "invalid_client"
    assert agent.refresh(tokens["refresh_token"]).json()["error"] == "invalid_client"
    with pytest.raises(SynapseError):
        authenticate(tokens["access_token"], BASE)


def test_unused_clients_with_documents_count_too(agent, db, documents, monkeypatch):
    monkeypatch.setattr(clients, "UNUSED_LIMIT", 1)
    agent.client_id = documents.serve("/first.json")
    assert not unknown(agent)
    agent.client_id = documents.serve("/second.json")
    assert unknown(agent)
    Application.objects.update(updated=timezone.now() - timedelta(hours=1))
    cache.clear()
    assert not unknown(agent)
    assert Application.objects.get().client_id == agent.client_id


def test_claude_is_listed_and_the_real_fetcher_is_the_one_in_use():
    assert oauth2_settings.CIMD_METADATA_FETCHER is clients.DocumentFetcher
    assert json.dumps(oauth2_settings.CIMD_ALLOWED_HOSTS) == '["claude.ai", "claude.com"]'
