"""What answers tell a browser: every one of them, whoever answered, and the pages keep to it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from django.template.utils import get_app_template_dirs

from synapse.asgi import application
from synapse.body_limit import Application
from synapse.headers import with_safe_headers
from synapse.templates import fit

ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",
}


def ask(path: str, method: str = "GET", app: Application = application, **given: Any) -> httpx.Response:
    async def once() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, **given)

    return asyncio.run(once())


def policy_of(answer: httpx.Response) -> dict[str, set[str]]:
    assert len(answer.headers.get_list("content-security-policy")) == 1
    rules = [rule.split() for rule in answer.headers["content-security-policy"].split("; ")]
    return {name: set(values) for name, *values in rules}


def make(status: int = 200, **headers: str) -> Application:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": given})
        await send({"type": "http.response.body", "body": b""})

    return with_safe_headers(app)


ANSWERS = [
    ("GET", "/", {}, 302),
    ("GET", "/nowhere", {}, 404),
    ("GET", "/admin/nowhere", {}, 302),
    ("GET", "/health/live", {}, 200),
    ("GET", "/pages", {}, 401),
    ("POST", "/pages", {"content": b"{", "headers": {"content-type": "application/json"}}, 401),
    ("POST", "/pages", {"headers": {"content-length": "9" * 15}}, 413),
    ("POST", "/pages", {"headers": {"content-type": "application/json; charset*=none'en'x"}}, 415),
    ("GET", "/docs", {}, 401),
    ("POST", "/mcp", {}, 401),
    ("GET", "/mcp/info", {}, 200),
    ("GET", "/mcp", {"headers": {"host": "evil.example"}}, 421),
    ("GET", "/pages", {"headers": {"host": "evil.example"}}, 400),
    ("GET", "/.well-known/oauth-authorization-server", {}, 200),
    ("POST", "/register", {"content": b"{"}, 400),
    ("POST", "/token", {}, 400),
    ("GET", "/static/nowhere.js", {}, 404),
    ("GET", "/static/synapse/admin.js", {}, 200),
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("method", "path", "given", "status"), ANSWERS, ids=lambda value: str(value)[:40])
def test_every_answer_that_is_no_page_lets_a_browser_do_nothing(
    method: str, path: str, given: dict[str, Any], status: int
) -> None:
    answer = ask(path, method, **given)
    assert answer.status_code == status
    assert {name: answer.headers.get(name) for name in ALWAYS} == ALWAYS
    assert "camera=()" in answer.headers["permissions-policy"]
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    if not answer.headers.get("content-type", "").startswith("text/html"):
        nothing = {"'none'"}
        names = ("default-src", "base-uri", "form-action", "frame-ancestors")
        assert policy_of(answer) == dict.fromkeys(names, nothing)
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers or path.startswith("/.well-known/")
    is_file = status == 200 and path.startswith("/static/")
    assert ("no-store" in answer.headers.get("cache-control", "")) is not is_file


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/admin/login/", "/login", "/authorize?client_id=nobody"])
def test_a_page_runs_what_lies_here_and_nothing_inline(path: str) -> None:
    answer = ask(path, headers={"accept": "text/html"})
    policy = policy_of(answer)
    assert answer.headers["content-type"].startswith("text/html")
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == {"'none'"}
    assert policy.get("script-src", set()) <= {"'self'", "'unsafe-eval'"}
    assert ("'unsafe-eval'" in policy.get("script-src", set())) is path.startswith("/admin")
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert "no-store" in answer.headers["cache-control"]
    (nonce,) = {value for value in policy["style-src"] if value.startswith("'nonce-")}
    shown = re.findall(r"<style nonce=\"([^\"]*)\"", answer.text)
    assert shown and {f"'nonce-{value}'" for value in shown} == {nonce}
    assert "<style>" not in answer.text
    assert nonce not in policy_of(ask(path, headers={"accept": "text/html"}))["style-src"]


def test_what_an_answer_says_itself_stands() -> None:
    own = {
        "content_security_policy": "default-src 'self'",
        "cache_control": "private, no-cache",
        "referrer_policy": "x",
    }
    answer = ask("/pages/1", app=make(**own))
    assert {name: answer.headers.get_list(name.replace("_", "-")) for name in own} == {
        name: [value] for name, value in own.items()
    }
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", ["/administer", "/admins/", "/docs", "/", "/static/admin/page.html"])
def test_only_the_admin_may_make_functions_of_texts(path: str) -> None:
    assert "unsafe-eval" not in ask(path, app=make(content_type="text/html")).headers["content-security-policy"]


def test_https_is_asked_for_where_the_public_address_has_it(settings: Any) -> None:
    settings.SECURE_HSTS_SECONDS = 0
    assert "strict-transport-security" not in ask("/mcp", app=make()).headers
    settings.SECURE_HSTS_SECONDS = 60
    assert ask("/mcp", app=make()).headers["strict-transport-security"] == "max-age=60"


#: Templates that no page of ours is made of: parts for widgets and layouts that nobody here uses.
UNUSED = {
    "unfold/components/progress.html",
    "unfold/helpers/display_header.html",
    "unfold/widgets/clearable_file_input_small.html",
    "unfold_crispy/layout/table_inline_formset.html",
    "drf_spectacular/redoc.html",
}
#: What is there only where a setting that we have not set says so.
UNSET = ("background-image: url('{{ login_image }}')", "{% include template_name_js %}")

INLINE = re.compile(
    r"<script(?![^>]*\bsrc=)[^>]*>(?!\s*</script>)|<style(?![^>]*nonce)|\sstyle=\"|[\s\"]on[a-z]+=\"|href=\"javascript:"
    r"|x-bind:style=\"(?!{)|\s:style=\"(?!{)|x-html"
)


def templates() -> list[tuple[str, Path]]:
    found = []
    for folder in get_app_template_dirs("templates"):
        for file in sorted(Path(folder).rglob("*.html")):
            name = str(file.relative_to(folder))
            if not name.startswith(("rest_framework/", "oauth2_provider/", "registration/", "gis/")):
                found.append((name, file))
    return found


def test_no_template_has_what_the_policy_refuses() -> None:
    looked_at, refused = 0, []
    for name, file in templates():
        text = fit(file.read_text(encoding="utf-8"))
        looked_at += 1
        if name in UNUSED:
            continue
        for found in INLINE.finditer(text):
            if not any(part in text[found.start() : found.end() + 120] for part in UNSET):
                refused.append((name, text[found.start() : found.end() + 60]))
    assert looked_at > 100
    assert refused == []


def test_the_search_for_what_is_refused_finds_it() -> None:
    for bad in (
        "<script>x</script>",
        '<p style="color: red">',
        '<a onclick="x()">',
        '<a href="javascript:x">',
        "<p x-bind:style=\"'width: ' + a\">",
    ):
        assert INLINE.search(fit(bad)), bad
