"""The login page for everybody with an account."""

from __future__ import annotations

import asyncio

import httpx2 as httpx
import pytest

from tests.mcpapi.oauth.conftest import PASSWORD
from tests.mcpapi.oauth.flow import forms, log_in
from wiki.throttling import limits


@pytest.fixture
def browser(agent):
    return agent.browser


@pytest.fixture(autouse=True)
def fresh_limits():
    limits.forget()
    yield
    limits.forget()


@pytest.mark.parametrize(
    ("after", "lands"),
    [
        ("/authorize?client_id=x", "/authorize?client_id=x"),
        ("", "/login"),
        ("https://evil.example/", "/login"),
        ("//evil.example/", "/login"),
        ("http://127.0.0.1.evil.example/", "/login"),
        ("javascript:alert(1)", "/login"),
        ("/\\evil.example", "/login"),
    ],
)
def test_after_it_the_person_stays_on_this_server(browser, reader, after, lands):
    page = browser.ask("GET", "/login?" + httpx.QueryParams({"next": after}).__str__())
    sent = log_in(browser, page, "rita", PASSWORD)
    assert (sent.status, sent.headers["Location"]) == (302, lands)
    assert "signed in as rita" in browser.ask("GET", "/login").text


@pytest.mark.parametrize(("name", "password"), [("rita", "wrong"), ("nobody", PASSWORD), ("rita", ""), ("", "")])
def test_a_wrong_password_and_a_wrong_name_look_alike(browser, reader, name, password):
    answer = log_in(browser, browser.ask("GET", "/login"), name, password)
    assert answer.status == 200
    assert "do not go together" in answer.text
    assert "sessionid" not in browser.client.cookies


def test_somebody_inactive_does_not_get_in(browser, reader):
    reader.is_active = False
    reader.save()
    assert log_in(browser, browser.ask("GET", "/login"), "rita", PASSWORD).status == 200
    assert "sessionid" not in browser.client.cookies


def test_without_its_csrf_token_nobody_gets_in(browser, reader):
    browser.ask("GET", "/login")
    assert browser.ask("POST", "/login", {"username": "rita", "password": PASSWORD}).status == 403


def test_passwords_can_be_tried_so_often_in_a_minute(browser, reader, settings):
    settings.SYNAPSE_LOGINS_PER_MINUTE = 3
    page = browser.ask("GET", "/login?next=/docs")
    for _ in range(3):
        assert log_in(browser, page, "rita", "wrong").status == 200
    answer = log_in(browser, page, "rita", PASSWORD)
    assert answer.status == 429
    assert int(answer.headers["Retry-After"]) >= 1
    assert "Too many attempts" in answer.text
    assert forms(answer.text)[0].fields["next"] == "/docs"
    assert "sessionid" not in browser.client.cookies


def test_one_account_can_be_tried_so_often_from_all_addresses_together(browser, reader, settings):
    settings.SYNAPSE_LOGINS_PER_MINUTE = 3
    page = browser.ask("GET", "/login")
    for number in range(3):
        browser.client.defaults["REMOTE_ADDR"] = f"10.0.0.{number}"
        assert log_in(browser, page, "RITA", "wrong").status == 200
    browser.client.defaults["REMOTE_ADDR"] = "10.0.0.9"
    assert log_in(browser, page, "rita", "wrong").status == 429


def test_a_session_that_comes_along_makes_nobody_less_of_a_stranger_at_the_login(settings, monkeypatch):
    from synapse.strangers import with_few_strangers

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    settings.SYNAPSE_STRANGERS_PER_MINUTE = 2
    transport = httpx.ASGITransport(app=with_few_strangers(application))

    async def run() -> list[int]:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [(await client.post("/login", headers={"cookie": "sessionid=x"})).status_code for _ in range(3)]

    assert asyncio.run(run()) == [200, 200, 429]


def test_signing_out_ends_the_session(browser, reader):
    log_in(browser, browser.ask("GET", "/login"), "rita", PASSWORD)
    page = browser.ask("GET", "/login")
    form = forms(page.text)[0]
    assert browser.ask("GET", "/logout").status == 405
    assert browser.ask("POST", form.action, form.fields).headers["Location"] == "/login"
    assert "Sign in to Synapse" in browser.ask("GET", "/login").text
