"""The official client against a server of its own, from the first 401 to the last: no step is left out."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2 as httpx
import pytest
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from mcpapi.profiles import READ_TOOLS, WRITE_TOOLS
from tests.mcpapi.oauth.documents import HOST, DocumentServer, certificate
from tests.mcpapi.oauth.flow import CLAUDE, LOOPBACK, Agent, HttpBrowser, consent_page, decide
from tests.mcpapi.test_end_to_end import ROOT, World, ask, world  # noqa: F401

PASSWORD = "a-long-password"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
PEOPLE = f"""
from django.contrib.auth.models import Permission, User
User.objects.create_user("rita", password="{PASSWORD}")
ed = User.objects.create_user("ed", password="{PASSWORD}", is_staff=True)
ed.user_permissions.set(Permission.objects.filter(codename__in=["change_page", "change_reviewitem"]))
"""


@dataclass
class Server:
    base: str
    world: World
    documents: DocumentServer


@pytest.fixture(scope="module")
def server(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:  # noqa: F811
    """A server with two accounts, on which agents may write, that reads documents of client.example."""
    world.manage("shell", "-c", PEOPLE)
    file = certificate(tmp_path_factory.mktemp("certificate"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **world.environment,
        "SYNAPSE_PORT": str(port),
        "MCP_REMOTE_WRITE_ENABLED": "true",
        "SYNAPSE_OAUTH_CLIENT_HOSTS": HOST,
        "SYNAPSE_STRANGERS_PER_MINUTE": "0",
        "SYNAPSE_LOGINS_PER_MINUTE": "0",
        "SYNAPSE_REGISTRATIONS_PER_MINUTE": "0",
        "DJANGO_SETTINGS_MODULE": "tests.mcpapi.oauth.served_settings",
        "SSL_CERT_FILE": str(file),
    }
    command = [sys.executable, "-m", "uvicorn", "synapse.asgi:application", "--port", str(port), "--log-level", "error"]
    with DocumentServer(file).running() as documents:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE)
        said: list[bytes] = []
        reader = threading.Thread(target=lambda: said.extend(process.stderr or []), daemon=True)
        reader.start()
        base = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 60
        while True:
            assert process.poll() is None, said
            assert time.monotonic() < until, "the server did not start"
            try:
                if httpx.get(f"{base}/mcp/info").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        yield Server(base, world, documents)
        process.terminate()
        assert process.wait(timeout=10) in (0, -signal.SIGTERM)
        reader.join(timeout=5)
        log = b"".join(said).decode()
        assert "syn_oa_" not in log
        assert "syn_or_" not in log
        assert '"error"' not in log
        assert PASSWORD not in log


@dataclass
class Store:
    """What a client keeps, in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Official:
    """The official client, whose person is called ``name``; ``seen`` is each request and how it ended."""

    server: Server
    name: str
    path: str = "/mcp"
    redirect: str = LOOPBACK
    document: str | None = None
    store: Store = field(default_factory=Store)
    seen: list[tuple[str, str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._answered: dict[str, str] = {}
        self.provider = OAuthClientProvider(
            server_url=self.server.base + self.path,
            client_metadata=OAuthClientMetadata(client_name="Official", redirect_uris=[self.redirect]),
            storage=self.store,
            redirect_handler=self._let_the_person_decide,
            callback_handler=self._callback,
            client_metadata_url=self.document,
        )

    async def _let_the_person_decide(self, url: str) -> None:
        def in_a_browser() -> dict[str, str]:
            browser = HttpBrowser(self.server.base)
            sent = decide(browser, consent_page(browser, url, self.name, PASSWORD))
            assert sent.headers["Location"].startswith(self.redirect)
            return sent.parameters

        self._answered = await asyncio.to_thread(in_a_browser)

    async def _callback(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**self._answered)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[ClientSession]:
        async def note(response: httpx.Response) -> None:
            self.seen.append((response.request.method, response.request.url.path, response.status_code))

        hooks = {"response": [note]}
        async with (
            httpx.AsyncClient(auth=self.provider, timeout=60, event_hooks=hooks) as client,
            streamable_http_client(self.server.base + self.path, http_client=client) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session

    def held(self) -> OAuthToken:
        assert self.store.tokens is not None
        return self.store.tokens

    async def tools(self) -> set[str]:
        async with self.session() as session:
            return {tool.name for tool in (await session.list_tools()).tools}


def status_at_mcp(server: Server, token: str) -> httpx.Response:
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
    }
    return httpx.post(f"{server.base}/mcp", json=LIST, headers=headers)


def test_from_the_first_401_to_the_last(server):
    async def whole_way() -> None:
        client = Official(server, "rita")
        async with client.session() as session:
            assert {tool.name for tool in (await session.list_tools()).tools} == READ_TOOLS
            assert (await ask(session, "get_page", title="Alan Turing"))["title"] == "Alan Turing"
            refused = await session.call_tool("write_page", {})
            assert refused.structured_content["error_code"] == "forbidden"
            assert client.seen[:6] == [
                ("POST", "/mcp", 401),
                ("GET", "/.well-known/oauth-protected-resource/mcp", 200),
                ("GET", "/.well-known/oauth-authorization-server", 200),
                ("POST", "/register", 201),
                ("POST", "/token", 200),
                ("POST", "/mcp", 200),
            ]
            first = client.held()
            assert first.scope == "read"
            client.provider.context.token_expiry_time = time.time() - 1
            before = len(client.seen)
            assert (await ask(session, "get_page", title="Alan Turing"))["title"] == "Alan Turing"
            assert client.seen[before:][:2] == [("POST", "/token", 200), ("POST", "/mcp", 200)]
            second = client.held()
            assert second.access_token != first.access_token
            assert second.refresh_token != first.refresh_token
            assert status_at_mcp(server, first.access_token).status_code == 401
            assert status_at_mcp(server, second.access_token).status_code == 200
        assert not [seen for seen in client.seen if 300 <= seen[2] < 400]

        again = Official(server, "rita")
        assert await again.tools() == READ_TOOLS
        assert client.store.client and again.store.client
        assert again.store.client.client_id != client.store.client.client_id

        known = client.store.client
        form = {"token": second.refresh_token, "client_id": known.client_id, "client_secret": known.client_secret}
        assert httpx.post(f"{server.base}/revoke", data={**form, "client_secret": "wrong"}).status_code == 401
        assert status_at_mcp(server, second.access_token).status_code == 200
        assert httpx.post(f"{server.base}/revoke", data=form).status_code == 200
        last = status_at_mcp(server, second.access_token)
        assert last.status_code == 401
        assert 'error="invalid_token"' in last.headers["www-authenticate"]
        assert status_at_mcp(server, again.held().access_token).status_code == 200

    asyncio.run(whole_way())


def test_staff_write_through_a_client_and_history_names_both(server):
    async def write() -> None:
        client = Official(server, "ed")
        async with client.session() as session:
            assert {tool.name for tool in (await session.list_tools()).tools} == READ_TOOLS | WRITE_TOOLS
            assert client.held().scope == "read propose write"
            about = {"type": "concept", "title": "Signed", "sources": ["raw/sources/lives.txt"], "lang": "en"}
            written = await ask(session, "write_page", title="Signed", content="By a client.", frontmatter=about)
            assert written["created"] is True

    asyncio.run(write())
    told = server.world.manage("shell", "-c", "from wiki.models import Audit; print(Audit.objects.latest('at').actor)")
    assert told.splitlines()[-1] == "oauth:Official/ed"


@pytest.mark.parametrize("path", ["/mcp/", "/mcp/server", "/mcp/server/"])
@pytest.mark.parametrize("redirect", [CLAUDE, CLAUDE.replace("claude.ai", "claude.com")])
def test_each_address_of_the_endpoint_and_both_of_claudes_callbacks(server, path, redirect):
    client = Official(server, "rita", path=path, redirect=redirect)
    assert asyncio.run(client.tools()) == READ_TOOLS
    assert not [seen for seen in client.seen if 300 <= seen[2] < 400]


def test_a_client_with_a_metadata_document_does_not_register(server):
    document = server.documents.serve(redirect_uris=["http://127.0.0.1:1/callback"])
    client = Official(server, "rita", document=document)
    assert asyncio.run(client.tools()) == READ_TOOLS
    assert "/register" not in [path for _, path, _ in client.seen]
    assert client.store.client is not None
    assert client.store.client.client_id == document
    assert server.documents.asked == ["/client.json"]


def test_a_client_that_never_registered_hears_how(server):
    agent = Agent(HttpBrowser(server.base), client_id="never-registered")
    page = agent.browser.ask("GET", agent.address(), accept="text/html,*/*")
    assert page.status == 400
    assert f"{server.base}/register" in page.text
    told = agent.exchange("x")
    assert told.status == 401
    assert told.json()["registration_endpoint"] == f"{server.base}/register"


def test_of_many_that_refresh_at_once_one_gets_tokens_and_they_hold(server):
    agent = Agent(HttpBrowser(server.base))
    agent.register()
    token = agent.tokens("rita")["refresh_token"]

    def refresh(_: int) -> httpx.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": agent.client_id}
        return httpx.post(f"{server.base}/token", data=form, timeout=60)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(refresh, range(8)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 400: 7}
    assert {answer.json()["error"] for answer in answers if answer.status_code == 400} == {"invalid_grant"}
    (won,) = [answer.json() for answer in answers if answer.status_code == 200]
    assert status_at_mcp(server, won["access_token"]).status_code == 200
    assert agent.refresh(won["refresh_token"]).status == 200


def test_of_many_that_show_a_code_at_once_at_most_one_gets_tokens(server):
    agent = Agent(HttpBrowser(server.base))
    agent.register()
    code = agent.code("rita")
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": agent.redirect,
        "code_verifier": agent.verifier,
        "client_id": agent.client_id,
        "resource": agent.resource,
    }

    def exchange(_: int) -> httpx.Response:
        return httpx.post(f"{server.base}/token", data=form, timeout=60)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(exchange, range(8)))
    counted = Counter(answer.status_code for answer in answers)
    assert counted[200] <= 1
    assert counted[200] + counted[400] == 8
    for answer in answers:
        if answer.status_code == 200:
            assert status_at_mcp(server, answer.json()["access_token"]).status_code == 401


def test_rest_refuses_what_mcp_takes(server):
    agent = Agent(HttpBrowser(server.base))
    agent.register()
    token = agent.tokens("rita")["access_token"]
    assert status_at_mcp(server, token).status_code == 200
    answer = httpx.get(f"{server.base}/pages", headers={"authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["error_code"]) == (401, "unauthenticated")
