"""What pages, sources and agents bring along is text: in a browser nothing of it runs, loads, covers or sends.

:func:`tests.browser.conftest.person` fails a test on any request to another host, any breach of the policy of contents
and any dialog; what is checked here beside it is that no element of theirs is there at all. The texts are those of P26
and of the desk's own tests of rendering, and the list of attacks that lies beside the project where it is at hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.site import Site
from tests.conftest import SHARED
from tests.desk.test_hostile_pages import COVERS, LOADS, RUNS
from tests.promises.test_p26_the_admin_shows_text import HOSTILE

_LISTED = SHARED / "cases" / "attacks.jsonl"
#: An element of an attacker's, wherever it stands; what Synapse itself has of these is in its frame, outside of these.
_WHERE = ".prose, .plain-text, .snippet, .backlinks, .headline, .rail, .hits, .lines, .notice, #content td, #content dd"
_THEIRS = (
    ":is(script, style, iframe, object, embed, form, base, link, meta, svg:not(.around), math, video, audio, dialog)"
)
_FOUND = f"""() => {{
  const found = [...document.querySelectorAll({json.dumps(_WHERE)})].flatMap((place) => [
    ...place.querySelectorAll({json.dumps(_THEIRS)}),
    ...[...place.querySelectorAll('*')].filter((element) => [...element.attributes].some(({{name, value}}) =>
      /^on/i.test(name) || name === 'srcdoc' || /^\\s*(javascript|data:text|vbscript)/i.test(value))),
    ...[...place.querySelectorAll('img')].filter((image) => new URL(image.src).origin !== location.origin),
  ]);
  return [...new Set(found)].map((element) => element.outerHTML.slice(0, 200));
}}"""
SEED = """
import json
from pathlib import Path
from reviews.services import Finding, file
from vault.history import Author
from wiki.models import Page

for page in Page.objects.filter(path__startswith="wiki/attack-"):
    text = Path(page.path.replace("wiki/", TEXTS + "/")).with_suffix(".txt").read_text()
    file(
        findings=[
            Finding(item_type="suggestion", rule="agent", target=page.path, title=text[:200], rationale=text, page=page,
                proposed_title=text[:100], proposed_body=text, base_hash=page.content_hash, search_queries=[text[:200]])
        ],
        origin="agent",
        author=Author("claude", "mcp-http"),
    )
"""


def texts() -> list[str]:
    """The hostile texts, each once; of the list beside the project what its rows of pages and of the admin name."""
    found = [*HOSTILE, *RUNS, *LOADS, *COVERS]
    if _LISTED.exists():
        rows = [json.loads(line) for line in _LISTED.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            if row["surface"].startswith(("admin", "parser", "write_page")):
                found += [row["input"], *row["input"].split(" ; ")]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def site(serve, tmp_path_factory) -> Site:  # type: ignore[no-untyped-def]
    """A page, a source and an item of the queue for every hostile text."""
    folder: Path = tmp_path_factory.mktemp("texts")
    files: dict[str, str | bytes] = {}
    for number, text in enumerate(texts()):
        name, quoted = f"attack-{number:03}", json.dumps(text)
        block = f"---\ntitle: {quoted}\ntype: concept\ntags: [{quoted}]\nsources: [{quoted}]\nlang: en\n---\n"
        files[f"wiki/{name}.md"] = f"{block}{text}\n\n# {text}\n\n> [!note] {text}\n\n[[attack-000|{text}]]\n"
        files[f"raw/sources/{name}.md"] = f"{text}\n"
        (folder / f"{name}.txt").write_text(text.replace("\x01", ""), encoding="utf-8", errors="ignore")
    return serve(files=files, seed=f"TEXTS = {str(folder)!r}\n{SEED}")  # type: ignore[no-any-return]


def harmless(page: Page, address: str) -> None:
    page.goto(address)
    assert page.evaluate(_FOUND) == [], address


def test_pages(site: Site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    for number in range(len(texts())):
        harmless(page, f"{site.url}/read/wiki/attack-{number:03}.md")


def test_sources(site: Site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    for number in range(0, len(texts()), 3):
        harmless(page, f"{site.url}/read/raw/sources/attack-{number:03}.md")


def test_lists_and_single_rows(site: Site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    for address in (
        "/",
        "/read",
        "/map",
        "/read?q=alert",
        "/read?q=evil",
        "/read/wiki/attack-000.md/links",
        "/admin/wiki/page/",
        "/admin/wiki/link/",
        "/admin/wiki/file/",
        "/admin/wiki/audit/",
    ):
        harmless(page, site.url + address)


def test_the_queue(site: Site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    addresses = []
    for part in (1, 2, 3):
        harmless(page, f"{site.url}/admin/reviews/reviewitem/?origin__exact=agent&p={part}")
        addresses += page.eval_on_selector_all("#result_list th a", "(all) => all.map((a) => a.href)")
    assert addresses
    for address in list(dict.fromkeys(addresses))[::6]:
        harmless(page, address)


def test_what_the_check_would_find(site: Site, person) -> None:  # type: ignore[no-untyped-def]
    page = person(site)
    page.goto(f"{site.url}/read/wiki/attack-000.md")
    for html in ("<svg></svg>", "<form></form>", "<a href='javascript:x'>x</a>"):
        page.evaluate("(html) => document.querySelector('.prose').innerHTML = html", html)
        assert page.evaluate(_FOUND), html
