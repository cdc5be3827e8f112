"""The consent page: who may be asked, for what, and where the answer goes."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from oauth2_provider.models import AccessToken, Application, Grant

from tests.mcpapi.oauth.flow import BASE, CLAUDE, LOOPBACK, Agent, DjangoBrowser, consent_page, decide, forms

FOREIGN = [
    "https://other.example/mcp",
    "http://127.0.0.1:8001/mcp",
    "http://127.0.0.1:8000",
    "http://127.0.0.1:8000/",
    "http://127.0.0.1:8000/mcpx",
    "http://127.0.0.1:8000/mcp/other",
    "http://127.0.0.1:8000/x/../mcp",
    "http://127.0.0.1:8000/mcp?x=1",
    "http://127.0.0.1:8000/mcp#x",
    "http://127.0.0.1:8000@evil.example/mcp",
    "http://x@127.0.0.1:8000/mcp",
    "https://127.0.0.1:8000/mcp",
    "urn:mcp",
    "mcp",
]
OURS = ["/mcp", "/mcp/", "/mcp/server", "/mcp/server/"]


def stays_here(page, *said: str) -> None:
    assert page.status == 400
    assert "Location" not in page.headers
    for word in said:
        assert word in page.text


def test_a_client_that_never_registered_is_told_how_before_anybody_signs_in(agent, db):
    agent.client_id = "never-registered"
    page = agent.browser.ask("GET", agent.address(), accept="text/html")
    stays_here(page, f"{BASE}/register", "RFC 7591", "invalid_client")
    told = agent.browser.ask("GET", agent.address(), accept="application/json")
    assert told.status == 400
    assert told.json()["registration_endpoint"] == f"{BASE}/register"
    stays_here(agent.browser.ask("GET", agent.address(client_id=None)), f"{BASE}/register")


@pytest.mark.parametrize(
    "redirect",
    [
        "https://evil.example/callback",
        CLAUDE + "/x",
        CLAUDE + "?x=1",
        CLAUDE + "#x",
        CLAUDE.replace("https", "http"),
        CLAUDE.replace("claude.ai", "claude.ai.evil.example"),
        CLAUDE.replace("claude.ai", "x@claude.ai"),
        "javascript:alert(1)",
        "",
    ],
)
def test_nothing_is_sent_to_an_address_that_is_not_the_clients(agent, reader, redirect):
    agent.register()
    address = agent.address(redirect_uri=redirect)
    stays_here(agent.browser.ask("GET", address))
    agent.browser.client.force_login(reader)
    stays_here(agent.browser.ask("GET", address))


@pytest.mark.parametrize(
    "redirect", ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"]
)
def test_claude_gets_its_code_with_state_and_issuer(agent, reader, redirect):
    agent.redirect = redirect
    agent.register()
    sent = decide(agent.browser, consent_page(agent.browser, agent.address(), "rita"))
    assert sent.headers["Location"].split("?")[0] == redirect
    assert set(sent.parameters) == {"code", "state", "iss"}
    assert (sent.parameters["state"], sent.parameters["iss"]) == ("a-state", BASE)
    assert agent.exchange(sent.parameters["code"]).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_native_client_listens_on_whatever_port_it_gets(agent, reader, host):
    agent.redirect = f"http://{host}:1111/callback"
    agent.register()
    agent.redirect = f"http://{host}:22222/callback"
    assert agent.exchange(agent.code("rita")).status == 200
    stays_here(agent.browser.ask("GET", agent.address(redirect_uri=f"http://{host}:22222/other")))


@pytest.mark.parametrize("resource", [None, "", *FOREIGN])
def test_a_resource_that_is_not_this_servers_is_refused(agent, reader, resource):
    agent.register()
    answer = consent_page(agent.browser, agent.address(resource=resource), "rita")
    assert answer.status == 302
    assert answer.headers["Location"].startswith(CLAUDE)
    assert answer.parameters["error"] == "invalid_target"
    assert (answer.parameters["state"], answer.parameters["iss"]) == ("a-state", BASE)
    assert not Grant.objects.exists()


def test_of_several_resources_all_must_be_ours(agent, reader):
    agent.register()
    address = agent.address(resource=[f"{BASE}/mcp", "https://other.example/mcp"])
    assert consent_page(agent.browser, address, "rita").parameters["error"] == "invalid_target"


@pytest.mark.parametrize("path", OURS)
def test_each_spelling_of_our_resource_is_taken(agent, reader, path):
    agent.register()
    agent.resource = BASE + path
    assert agent.tokens("rita")
    assert AccessToken.objects.get().resource == [f"{BASE}/mcp"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "propose write"}, "invalid_scope"),
    ],
)
def test_what_the_client_asks_wrongly_it_hears_once_the_person_has_signed_in(agent, reader, changed, error):
    agent.register()
    first = agent.browser.ask("GET", agent.address(**changed))
    assert urlsplit(first.headers["Location"]).path == "/login"
    answer = consent_page(agent.browser, agent.address(**changed), "rita")
    assert answer.headers["Location"].startswith(CLAUDE)
    assert answer.parameters["error"] == error
    assert answer.parameters["iss"] == BASE


def test_a_form_that_was_tampered_with_yields_no_more_than_the_page_would(agent, reader, settings):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    page = consent_page(agent.browser, agent.address(), "rita")
    fields = {**forms(page.text)[0].fields, "allow": "true"}

    def post(**changed: str):
        return agent.browser.ask("POST", page.url, {**fields, **changed})

    for resource in ("", "https://other.example/mcp", f"{BASE}/mcp https://other.example/mcp"):
        assert post(resource=resource).parameters["error"] == "invalid_target"
    assert post(code_challenge_method="plain").parameters["error"] == "invalid_request"
    bare = agent.browser.ask("POST", "/authorize", {**fields, "code_challenge": "", "code_challenge_method": ""})
    assert bare.parameters["error"] == "invalid_request"
    assert not Grant.objects.exists()
    for allow in ("true", ""):
        for wrong in ({"redirect_uri": "https://evil.example/"}, {"client_id": "other"}, {"client_id": ""}):
            stays_here(post(allow=allow, **wrong))
    sent = post(scope="read propose write", grant="write")
    assert agent.exchange(sent.parameters["code"]).json()["scope"] == "read"


def test_without_its_csrf_token_the_form_counts_for_nothing(agent, reader):
    agent.register()
    page = consent_page(agent.browser, agent.address(), "rita")
    fields = {**forms(page.text)[0].fields, "allow": "true", "csrfmiddlewaretoken": ""}
    assert agent.browser.ask("POST", page.url, fields).status == 403
    assert not Grant.objects.exists()


def test_whoever_refuses_leaves_the_client_without_a_code(agent, reader):
    agent.register()
    sent = decide(agent.browser, consent_page(agent.browser, agent.address(), "rita"), allow=False)
    assert sent.headers["Location"].startswith(CLAUDE)
    assert sent.parameters == {"error": "access_denied", "state": "a-state", "iss": BASE}
    assert not Grant.objects.exists()


@pytest.mark.parametrize("extra", [{"approval_prompt": "auto"}, {"prompt": "none"}, {}])
def test_a_client_that_was_let_in_before_is_asked_about_again(agent, reader, extra):
    agent.register()
    agent.tokens("rita")
    assert AccessToken.objects.exists()
    page = agent.browser.ask("GET", agent.address(**extra))
    assert page.status == 200
    assert "Allow “Claude”" in page.text


def test_a_client_may_have_the_person_sign_in_anew(agent, reader):
    agent.register()
    agent.browser.client.force_login(reader)
    sent = agent.browser.ask("GET", agent.address(prompt="login"))
    assert urlsplit(sent.headers["Location"]).path == "/login"
    assert "prompt" not in parse_qs(urlsplit(sent.headers["Location"]).query)["next"][0]


@pytest.mark.parametrize(
    ("mode", "asked", "shown"),
    [
        ("false", "read propose write", "read"),
        ("staged", "read propose write", "read propose"),
        ("true", "read propose write", "read propose write"),
        ("true", "write", "write"),
        ("true", "read offline_access", "read"),
        ("true", None, "read"),
    ],
)
def test_staff_are_asked_for_what_is_offered_here(agent, editor, settings, mode, asked, shown):
    settings.MCP_REMOTE_WRITE_ENABLED = mode
    agent.register()
    assert agent.tokens("ed", scope=asked)["scope"] == shown


@pytest.mark.parametrize(("asked", "got"), [("read propose write", "read"), ("write", "read"), ("read", "read")])
def test_whoever_is_not_staff_can_let_clients_read(agent, reader, settings, asked, got):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    page = consent_page(agent.browser, agent.address(scope=asked), "rita")
    assert "Change pages" not in page.text
    sent = decide(agent.browser, page)
    assert agent.exchange(sent.parameters["code"]).json()["scope"] == got


@pytest.mark.parametrize(("left", "got"), [([], "read"), (["propose"], "read propose")])
def test_what_is_unticked_is_not_granted(agent, editor, settings, left, got):
    settings.MCP_REMOTE_WRITE_ENABLED = "true"
    agent.register()
    page = consent_page(agent.browser, agent.address(scope="read propose write"), "ed")
    assert forms(page.text)[0].boxes == ["propose", "write"]
    sent = decide(agent.browser, page, grant=left)
    assert agent.exchange(sent.parameters["code"]).json()["scope"] == got


def test_the_page_names_who_asks_for_whom_for_what_and_where_the_answer_goes(agent, reader):
    agent.register(client_name="<b>Claude</b> & friends")
    page = consent_page(agent.browser, agent.address(), "rita")
    assert "&lt;b&gt;Claude&lt;/b&gt; &amp; friends" in page.text
    for told in ("<dd>claude.ai</dd>", "<dd>rita</dd>", "Read and search all pages", "gave itself this name"):
        assert told in page.text
    agent.redirect = LOOPBACK
    agent.register()
    assert "a program on this computer (127.0.0.1:45678)" in consent_page(agent.browser, agent.address(), "rita").text


def test_the_pages_need_no_script_load_nothing_and_stand_in_no_frame(agent, reader):
    agent.register()
    login = agent.browser.ask("GET", agent.browser.ask("GET", agent.address()).headers["Location"])
    consent = consent_page(agent.browser, agent.address(), "rita")
    fault = agent.browser.ask("GET", agent.address(client_id="unknown"))
    for page in (login, consent, fault):
        policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert page.headers["X-Frame-Options"] == "DENY"
        assert "no-store" in page.headers["Cache-Control"]
        assert page.headers["Referrer-Policy"] == "same-origin"  # with no-referrer browsers send forms from "null"
        assert "prefers-color-scheme: dark" in page.text
        assert not re.search(r"<script|<link|<img|@import|url\(|\son\w+=|\sstyle=|https?://", fault_free(page.text))
        (nonce,) = set(re.findall(r'nonce="([^"]+)"', page.text))
        assert f"'nonce-{nonce}'" in policy


def fault_free(text: str) -> str:
    """The page without what it quotes: values of hidden fields, and where to register."""
    return re.sub(r'value="[^"]*"|to http\S+/register', "", text)


def test_a_host_that_is_not_ours_gets_no_page(agent, reader):
    assert agent.browser.ask("GET", agent.address(), host="evil.example").status == 400


@pytest.mark.parametrize("path", ["/authorize", "/token", "/register", "/revoke", "/login", "/logout"])
@pytest.mark.parametrize("enabled", [True, False])
def test_over_plain_http_nobody_signs_in_on_another_machine(settings, db, path, enabled):
    settings.ALLOWED_HOSTS = ["wiki.lan", "127.0.0.1"]
    settings.SYNAPSE_OAUTH_ENABLED = enabled
    base = "http://wiki.lan:8000" if enabled else BASE
    for slash in ("", "/"):
        assert DjangoBrowser(base).ask("GET", path + slash).status == 404
        assert DjangoBrowser(base).ask("POST", path + slash, {}).status in (403, 404)


def test_every_address_answers_with_and_without_a_slash_and_sends_nobody_on(reader):
    agent = Agent(DjangoBrowser(), redirect=LOOPBACK)
    agent.register()
    for path in ("/token", "/token/", "/revoke", "/revoke/"):
        answer = agent.browser.ask("POST", path, {"client_id": agent.client_id})
        assert (answer.status, "Location" in answer.headers) == (400, False)
    assert agent.post_json("/register/", {"redirect_uris": [CLAUDE]}).status == 201
    assert Application.objects.count() == 2
    assert agent.browser.ask("GET", "/login/").status == 200


@pytest.mark.parametrize("path", ["/authorize", "/token", "/revoke", "/login"])
def test_a_nul_is_refused_before_it_is_looked_for(agent, db, path):
    agent.browser.client.handler.enforce_csrf_checks = False
    for method, address, data in (
        ("GET", f"{path}?client_id=x%00", None),
        ("POST", path, {"code": "x\0", "token": "x"}),
    ):
        answer = agent.browser.ask(method, address, data)
        assert (answer.status, answer.json()["error"]) == (400, "invalid_request")
