"""What a person does in a browser, and what a client sends: for tests of the sign-in."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx2 as httpx
from django.test import Client

BASE = "http://127.0.0.1:8000"
CLAUDE = "https://claude.ai/api/mcp/auth_callback"
LOOPBACK = "http://127.0.0.1:45678/callback"


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str
    url: str

    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def parameters(self) -> dict[str, str]:
        """The query of the address that the answer sends to."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.headers["Location"]).query).items()}


class Browser(Protocol):
    """Keeps cookies, follows nothing by itself."""

    def ask(self, method: str, url: str, data: dict[str, Any] | None = None, **headers: str) -> Answer: ...


class DjangoBrowser:
    """Asks this process's own Django, with its CSRF checks on."""

    def __init__(self, base: str = BASE) -> None:
        self.base = base
        self.client = Client(enforce_csrf_checks=True)

    def ask(self, method: str, url: str, data: dict[str, Any] | None = None, **headers: str) -> Answer:
        parts = urlsplit(urljoin(self.base, url))
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = self.client.generic(
            method,
            path,
            urlencode(data, doseq=True) if data is not None else "",
            content_type=headers.pop("content_type", "application/x-www-form-urlencoded"),
            secure=parts.scheme == "https",
            headers={"host": parts.netloc, **headers},
        )
        if sent.streaming:
            return Answer(sent.status_code, sent.headers, "", url)
        return Answer(sent.status_code, sent.headers, sent.content.decode(), path)


class HttpBrowser:
    """Asks a server over HTTP."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.client = httpx.Client(timeout=30)

    def ask(self, method: str, url: str, data: dict[str, Any] | None = None, **headers: str) -> Answer:
        sent = self.client.request(method, urljoin(self.base, url), data=data, headers=headers)
        return Answer(sent.status_code, sent.headers, sent.text, str(sent.url))


@dataclass
class Form:
    action: str
    fields: dict[str, Any] = field(default_factory=dict)
    boxes: list[str] = field(default_factory=list)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", "")))
        elif tag == "input" and self.found and "name" in given:
            if given.get("type") == "checkbox":
                self.found[-1].boxes.append(given.get("value", ""))
            else:
                self.found[-1].fields[given["name"]] = given.get("value", "")


def forms(text: str) -> list[Form]:
    reader = _Forms()
    reader.feed(text)
    return reader.found


def log_in(browser: Browser, page: Answer, name: str, password: str) -> Answer:
    """Fill the form of the login page in; where it sends the person then."""
    form = forms(page.text)[0]
    return browser.ask("POST", form.action or page.url, {**form.fields, "username": name, "password": password})


def consent_page(browser: Browser, url: str, name: str, password: str = "a-long-password") -> Answer:
    """Open an authorization address, and sign in on the way if need be."""
    page = browser.ask("GET", url)
    if page.status == 302 and urlsplit(page.headers["Location"]).path == "/login":
        login = browser.ask("GET", page.headers["Location"])
        assert login.status == 200
        sent = log_in(browser, login, name, password)
        assert sent.status == 302, sent.text
        page = browser.ask("GET", sent.headers["Location"])
    return page


def decide(browser: Browser, page: Answer, *, allow: bool = True, grant: list[str] | None = None) -> Answer:
    """Answer the consent page; the answer that sends the browser to the client."""
    assert page.status == 200, (page.status, page.headers.get("Location"), page.text[:2000])
    form = forms(page.text)[0]
    fields = {**form.fields, "grant": form.boxes if grant is None else grant, **({"allow": "true"} if allow else {})}
    sent = browser.ask("POST", form.action or page.url, fields)
    assert sent.status == 302, sent.text
    return sent


@dataclass
class Agent:
    """A client that has registered, or says that it has; sends what it is told to."""

    browser: Browser
    client_id: str = ""
    redirect: str = CLAUDE
    secret: str = ""
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    resource: str = ""

    def __post_init__(self) -> None:
        self.resource = self.resource or f"{self.browser.base}/mcp"  # type: ignore[attr-defined]

    def register(self, **metadata: Any) -> dict[str, Any]:
        described = {
            "client_name": "Claude",
            "redirect_uris": [self.redirect],
            "token_endpoint_auth_method": "none",
            **metadata,
        }
        made = self.post_json("/register", described)
        assert made.status == 201, made.text
        self.client_id, self.secret = made.json()["client_id"], made.json().get("client_secret", "")
        return made.json()

    def post_json(self, path: str, body: Any) -> Answer:
        browser = self.browser
        if isinstance(browser, DjangoBrowser):
            sent = browser.client.generic(
                "POST", path, json.dumps(body), content_type="application/json", headers={"host": urlsplit(BASE).netloc}
            )
            return Answer(sent.status_code, sent.headers, sent.content.decode(), path)
        assert isinstance(browser, HttpBrowser)
        answered = browser.client.post(urljoin(browser.base, path), json=body)
        return Answer(answered.status_code, answered.headers, answered.text, path)

    def address(self, **changed: str | list[str] | None) -> str:
        """The authorization address; None leaves a parameter out."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect,
            "state": "a-state",
            "scope": "read",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "resource": self.resource,
            **changed,
        }
        return "/authorize?" + urlencode({k: v for k, v in query.items() if v is not None}, doseq=True)

    def code(self, name: str, **changed: str | list[str] | None) -> str:
        """A code that the person let the client have."""
        sent = decide(self.browser, consent_page(self.browser, self.address(**changed), name))
        return sent.parameters["code"]

    def exchange(self, code: str, /, **changed: str | list[str] | None) -> Answer:
        sent: dict[str, Any] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect,
            "code_verifier": self.verifier,
            "resource": self.resource,
        }
        return self._token(**{**sent, **changed})

    def refresh(self, token: str, /, **changed: str | list[str] | None) -> Answer:
        sent: dict[str, Any] = {"grant_type": "refresh_token", "refresh_token": token, "resource": self.resource}
        return self._token(**{**sent, **changed})

    def revoke(self, token: str, **changed: str | None) -> Answer:
        return self._post("/revoke", {"token": token, "client_id": self.client_id, **changed})

    def tokens(self, name: str, **changed: str | list[str] | None) -> dict[str, Any]:
        """A pair of tokens, by the whole way."""
        answer = self.exchange(self.code(name, **changed))
        assert answer.status == 200, answer.text
        return answer.json()

    def _token(self, **fields: Any) -> Answer:
        return self._post("/token", {"client_id": self.client_id, **fields})

    def _post(self, path: str, fields: dict[str, Any]) -> Answer:
        return self.browser.ask("POST", path, {k: v for k, v in fields.items() if v is not None})
