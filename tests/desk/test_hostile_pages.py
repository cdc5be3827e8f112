"""Pages that want to run something, load something, cover something or take for ever."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from desk.rendering import Rendered, drawing
from desk.rendering.limits import Clock

Draw = Callable[[str], Rendered]

RUNS = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt&#58;alert(1))",
    "[x](jav&#x0D;ascript:1)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "![[javascript:alert(1)]]",
    "[[javascript:alert(1)]]",
    "![x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:x)",
    '<a href="javascript:alert(1)">x</a>',
    '<a href=" java\nscript:alert(1)">x</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
    "<svg><a><set attributeName=href to=javascript:alert(1)><text>x</text></a></svg>",
    '<math><mtext></math><img src=x onerror="alert(1)">',
    '<svg><style><img src=x onerror="alert(1)"></style></svg>',
    "<script>alert(1)</script>",
    "<script\n>alert(1)</script\n>",
    '<img src=x onerror="alert(1)">',
    '<body onload="alert(1)">',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="javascript:alert(1)"></object><embed src="javascript:alert(1)">',
    '<form action="javascript:alert(1)"><button>x</button></form>',
    '<details open ontoggle="alert(1)">x</details>',
    '[[Alan|"><img src=x onerror=alert(1)>]]',
    '[[x" onclick="alert(1)]]',
    '![[plan.png|"><script>alert(1)</script>]]',
    '> [!note"><script>alert(1)</script>] x\n> y',
    '```"><script>alert(1)</script>\nx\n```',
    '$"><script>alert(1)</script>$',
    "# <script>alert(1)</script>\n",
    '#tag"><script>alert(1)</script>',
    "<div>\n[[Alan|<script>alert(1)</script>]]\n</div>",
    "[^<script>]\n\n[^<script>]: x",
]
LOADS = [
    "![e](https://evil.example/?d=1)",
    "![e](//evil.example/x)",
    "![[https://evil.example/x.png]]",
    '<img src="https://evil.example/x">',
    '<img src="//evil.example/x">',
    '<img srcset="https://evil.example/x 2x">',
    '<img src="/raw-file/../../admin/logout/">',
    '<img src="/raw-file/%2e%2E/admin/">',
    '<img src="/raw-file/..\\admin/">',
    '<img src="/raw-file/.\t./admin/">',
    '<img src="/raw-file/x/.%2e/admin/">',
    "<picture><source srcset=https://evil.example/x></picture>",
    "<video src=https://evil.example/x poster=https://evil.example/y></video>",
    "<audio src=https://evil.example/x></audio>",
    '<link rel=stylesheet href="https://evil.example/x">',
    "<style>@import url(https://evil.example/x)</style>",
    '<div style="background:url(https://evil.example/x)">x</div>',
    '<table background="https://evil.example/x"><tr><td>x</table>',
    '<input type=image src="https://evil.example/x">',
    '<a href="https://example.org" ping="https://evil.example/x">x</a>',
    '<meta http-equiv=refresh content="0;url=https://evil.example/">',
    '<base href="//evil.example/">',
    '<svg><image href="https://evil.example/x"></svg>',
    '<svg><use href="https://evil.example/x#a"></svg>',
    '<iframe src="https://evil.example/"></iframe>',
    '<blockquote cite="https://evil.example/x">x</blockquote>',
]
COVERS = [
    '<div style="position:fixed;inset:0">x</div>',
    '<div class="bar skip find">x</div>',
    '<div id="content">x</div>',
    '<form action="/admin/logout/" method=post><button>x</button></form>',
    "<input name=password autofocus>",
    "<textarea>x</textarea><select><option>x</select>",
    "<dialog open>x</dialog>",
    '<p contenteditable accesskey="a" tabindex="1" popover>x</p>',
]
ALLOWED = {
    *("class", "href", "id", "title", "rel", "src", "alt", "width", "height", "loading", "type", "checked", "disabled"),
    *(
        "aria-label",
        "role",
        "tabindex",
        "open",
        "start",
        "reversed",
        "colspan",
        "rowspan",
        "scope",
        "dir",
        "lang",
        "datetime",
    ),
}
FORBIDDEN = {
    *("script", "style", "iframe", "object", "embed", "form", "button", "svg", "math", "link", "meta", "base", "video"),
    *("audio", "source", "textarea", "select", "dialog", "body", "html", "head", "template", "noscript", "frame"),
}


class Elements(HTMLParser):
    """Each element with its attributes, as a browser would make them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("text", [*RUNS, *LOADS, *COVERS])
def test_nothing_runs_loads_or_covers(drawn: Draw, text: str) -> None:
    elements = Elements(drawn(text).html).found
    for tag, attributes in elements:
        assert tag not in FORBIDDEN
        assert attributes.keys() <= ALLOWED, attributes
        href = attributes.get("href") or "#"
        assert re.match(r"(?:https?://|mailto:|/read[/?]|#)", href), href
        if tag == "img":
            assert (attributes["src"] or "").startswith("/raw-file/") and "alt" in attributes
            assert not re.search(r"\.\.|%2e|[\\\s]", attributes.get("src") or "", re.IGNORECASE)
        if tag == "input":
            assert attributes["type"] == "checkbox" and "disabled" in attributes
        assert (attributes.get("id") or "at-").startswith("at-")
        assert attributes.get("tabindex") in (None, "0")
        assert not {"bar", "skip", "find", "sheet"} & set((attributes.get("class") or "").split())


def test_a_picture_from_elsewhere_is_named_with_its_host(drawn: Draw) -> None:
    found = drawn("![a chart](https://user@evil.example:8443/x?d=1)").html
    assert "evil.example:8443" in found and "a chart" in found and "<img" not in found


def test_a_picture_in_html_from_elsewhere_is_told_of(drawn: Draw) -> None:
    found = drawn('<img alt="a > b" src="https://evil.example/x"> <img src="/raw-file/pictures/plan.png">').html
    assert "A picture that is not of the vault: a &gt; b" in found or "vault: a > b" in found
    assert "evil" not in found and '<img src="/raw-file/pictures/plan.png" alt="">' in found


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000,
        "*a " * 20_000,
        "\n".join("  " * depth + "- x" for depth in range(300)),
        "> " * 2_000 + "x",
        "![[" * 20_000,
        "==" * 20_000,
        "$" * 20_001,
        "`" * 20_000 + "a" + "`" * 19_999,
        "[a](" * 10_000,
        "<a " * 20_000,
        "%%" * 20_001,
        "[^1]" * 5_000 + "\n\n[^1]: x",
        "| a " * 5_000 + "|\n" + "|---" * 5_000 + "|\n",
        "# x\n" * 20_000,
        "&" * 50_000,
        "http://" * 10_000,
        "a@" * 20_000,
        "^[" * 10_000,
        "#t " * 20_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_what_would_take_for_ever_is_cut_off(drawn: Draw, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are counted instead of seconds, so that the machine has no say in it."""
    steps = 0

    def counted(self: Clock) -> None:
        nonlocal steps
        steps += 1
        if steps > 400_000:
            raise drawing.TakesTooLong

    monkeypatch.setattr(Clock, "step", counted)
    found = drawn(text)
    assert found.html
    assert steps <= 400_001


def test_a_page_whose_time_is_over_is_shown_as_it_is_written(drawn: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Clock.__init__, "__defaults__", (-1.0,))
    found = drawn("*word* [[Alan]] <b>\n\n" * 40)
    assert "too long" in found.problem
    assert "&lt;b&gt;" in found.html and "<a" not in found.html
    assert not found.sections
