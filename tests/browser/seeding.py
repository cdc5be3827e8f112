"""Run by `manage.py shell` in the vault of :mod:`tests.browser.house`: what a working day leaves behind."""

import contextlib

from oauth2_provider.models import Application

from mcpapi.models import ToolCall
from reviews.services import Finding, file, resolve
from vault.errors import SynapseError
from vault.history import Author
from wiki.models import Page
from wiki.services import write_page
from wiki.tokens import create_token

CLAUDE = Author("claude", "mcp-stdio")
BORE = {
    "title": "Tidal bore",
    "frontmatter": {"type": "concept", "title": "Tidal bore", "sources": ["raw/sources/tides.md"], "lang": "en"},
    "author": CLAUDE,
}

first = write_page(**BORE, content="A wave that runs up a river.\n")
write_page(
    **BORE,
    content="A wave that runs up a river against its current, at [[Spring tide]].\n",
    base_hash=first.content_hash,
)
with contextlib.suppress(SynapseError):  # it is from a version that is not the last: kept as a draft
    write_page(**BORE, content="A wave that runs up a narrowing river.\n", base_hash=first.content_hash)

neap = Page.objects.get(path="wiki/concepts/neap-tide.md")
spring = Page.objects.get(path="wiki/concepts/spring-tide.md")
filed = file(
    findings=[
        Finding(
            item_type="suggestion",
            rule="agent",
            target="neap",
            title="Say how much lower a neap tide is",
            rationale="The table on Spring tide has the figures; this page has none.",
            page=neap,
            base_hash=neap.content_hash,
            references=[spring],
            proposed_title="Neap tide",
            proposed_page_type="concept",
            proposed_body="# Why\n\nThe [[Sun]] and the [[Moon]] pull at right angles, so the range is 2.4 m and not "
            "6.1 m. The opposite of a [[Spring tide]].\n",
        ),
        Finding(
            item_type="contradiction",
            rule="agent",
            target="lag",
            title="A day, or two days, after new moon?",
            rationale="The page says two things of when springs come.",
            page=spring,
            search_queries=["spring tide lag"],
        ),
        Finding(
            item_type="confirm",
            rule="agent",
            target="third",
            title="Is the Sun's part a third?",
            rationale="The sources say 46 per cent.",
        ),
        Finding(item_type="suggestion", rule="agent", target="done", title="Name the seas without tides"),
    ],
    origin="agent",
    author=CLAUDE,
).filed
resolve(item_id=filed[-1].pk, action="dismiss", author=CLAUDE, note="out of scope")

create_token(name="laptop", scope="read")
Application.objects.create(
    name="An agent",
    client_type="public",
    authorization_grant_type="authorization-code",
    redirect_uris="https://example.org/callback",
)
called = {"profile": "stdio", "client": "claude", "latency_ms": 12.5, "tokens": 420}
ToolCall.objects.create(tool="search_wiki", resolved="search_wiki", outcome="ok", results=3, **called)
ToolCall.objects.create(
    tool="read_page", resolved="read_page", outcome="structured_error", error_code="page_not_found", **called
)
