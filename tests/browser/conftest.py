"""Synapse in a real browser: a server over a vault of its own, a person signed in, and what their pages may not do.

    def test_it(serve, person, faultless, shoot):
        site = serve(files={"wiki/a.md": "# A"}, seed="from reviews... import ...")
        page = person(site, dark=True, phone=True)
        page.goto(f"{site.url}/read/wiki/a.md")
        faultless(page)
        shoot(page, "reader-phone-dark")

``make test-browser`` runs these; other runs leave them out by their marker, ``browser``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.site import Site

_HERE = Path(__file__).parent
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name but this machine's has an address: what a page asks of others never leaves.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
_DESK = {"width": 1280, "height": 800}
_PHONE = {"width": 390, "height": 844}
_WAITS = 20_000  # milliseconds that an expectation or a click waits at most

try:
    import playwright  # noqa: F401
except ImportError:  # an environment for other tests: theirs are collected, these are not
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything in this folder, so that no test of it gets into another run by being forgotten."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window. Skips where there is none, unless it is required."""
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.watching import AXE

    found = shutil.which(os.environ.get("SYNAPSE_TEST_CHROMIUM", "chromium"))
    if found is None or not AXE.exists():
        reason = f"`make test-browser` installs what is missing: {'axe-core' if found else 'Chromium'}"
        if os.environ.get("SYNAPSE_TEST_REQUIRE_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    expect.set_options(timeout=_WAITS)
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=found, headless=True, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Site]]:
    """``serve(files={path: text}, seed="code", copy=folder, environment={})``: a server, ready, scanned and at rest.

    ``copy`` is a folder to begin the vault with, ``seed`` is run by `manage.py shell` once the server answers. A server
    lives as long as the module; tests that change its vault ask for one of their own.
    """
    from tests.browser.site import serving

    with ExitStack() as stack:

        def make(
            files: Mapping[str, str | bytes] | None = None,
            seed: str = "",
            *,
            copy: Path | None = None,
            environment: Mapping[str, str] | None = None,
        ) -> Site:
            folder = tmp_path_factory.mktemp("site")
            site = stack.enter_context(serving(folder, files or {}, copy, environment or {}))
            if seed:
                site.run(seed)
            site.settle()
            return site

        yield make


@pytest.fixture
def person(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """``person(site, dark=False, phone=False, scripts=True, signed_in=True, refusals=())``: a page of a superuser.

    Each call is a fresh browser. At the end of the test whatever a page did that none may do fails it: a request to
    another host, an error in the console (a breach of the CSP is one), an uncaught exception, a dialog. ``refusals``
    are statuses (409, …) with which requests of scripts are expected to be answered; pages may have any.
    """
    from tests.browser.watching import Watch

    watches: list[Watch] = []
    with ExitStack() as stack:

        def enter(
            site: Site,
            *,
            dark: bool = False,
            phone: bool = False,
            scripts: bool = True,
            signed_in: bool = True,
            refusals: tuple[int, ...] = (),
            **context: Any,
        ) -> Page:
            if signed_in and not site.session:
                site.session.update(_signed_in(chromium, site))
            settings: dict[str, Any] = {
                "viewport": _PHONE if phone else _DESK,
                "is_mobile": phone,
                "has_touch": phone,
                "color_scheme": "dark" if dark else "light",
                "reduced_motion": "reduce",
                "java_script_enabled": scripts,
                "storage_state": site.session if signed_in else None,
                "locale": "en-GB",
                **context,
            }
            opened = chromium.new_context(**settings)
            stack.callback(opened.close)
            opened.set_default_timeout(_WAITS)
            watches.append(Watch(opened, site.url, refusals))
            return opened.new_page()

        yield enter
    assert not [fault for watch in watches for fault in watch.faults]


def _signed_in(chromium: Browser, site: Site) -> dict[str, Any]:
    """What a browser keeps once the account of the first start has signed in."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{site.url}/admin/login/")
    page.fill("input[name=username]", site.username)
    page.fill("input[name=password]", site.password)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "login" not in url)
    state = context.storage_state()
    context.close()
    return dict(state)


@pytest.fixture(scope="session")
def faultless() -> Callable[[Page], None]:
    """``faultless(page)`` fails on what axe-core calls serious or critical, listing it."""
    from tests.browser.watching import grave_faults

    def check(page: Page) -> None:
        faults = grave_faults(page)
        assert not faults, f"{page.url}\n" + "\n".join(faults)

    return check


@pytest.fixture(scope="session")
def shoot() -> Callable[..., None]:
    """``shoot(page, name)`` writes docs/pictures/<name>.png of what is in view, in `make pictures` alone."""
    from tests.browser.watching import picture

    def take(page: Page, name: str, **options: Any) -> None:
        if os.environ.get("SYNAPSE_TEST_PICTURES"):
            picture(name).parent.mkdir(exist_ok=True)
            page.screenshot(path=picture(name), animations="disabled", **options)

    return take
