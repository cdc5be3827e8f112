"""What a page may not do while a test looks at it, and what axe-core says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page, Request, WebError

from tests.browser.site import ROOT

AXE = ROOT / ".browser" / "node_modules" / "axe-core" / "axe.min.js"
_STATUS = re.compile(r"Failed to load resource: the server responded with a status of (\d{3})")
_INSIDE = ("data", "blob", "about")
#: What axe-core calls a fault that keeps people out; what is below is a matter of taste as often as not.
_GRAVE = ("serious", "critical")


class Watch:
    """Notes what no page of Synapse may do: ask another host, report an error, break its policy, open a dialog."""

    def __init__(self, context: BrowserContext, home: str, refusals: tuple[int, ...]) -> None:
        self.faults: list[str] = []
        self._home = urlsplit(home).netloc
        self._refusals = {str(status) for status in refusals}
        self._navigated: set[str] = set()
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", self._error)
        context.on("dialog", self._dialog)

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if request.is_navigation_request():
            self._navigated.add(request.url)
        if parts.scheme not in _INSIDE and parts.netloc != self._home:
            self.faults.append(f"asked another host: {request.url}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        # A page that is itself an answer of 4xx is there to be read, and the test reads it.
        refused = _STATUS.match(message.text)
        where = message.location["url"]
        if not (refused and (where in self._navigated or refused[1] in self._refusals)):
            self.faults.append(f"console: {message.text} ({where})")

    def _error(self, error: WebError) -> None:
        where = error.page.url if error.page else ""
        self.faults.append(f"uncaught: {error.error} ({where})")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"{dialog.type} dialog: {dialog.message}")
        dialog.dismiss()


def grave_faults(page: Page) -> list[str]:
    """The serious and critical faults that axe-core finds on the page as it is shown, each with its elements."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations"
    )
    return [_told(fault) for fault in found if fault["impact"] in _GRAVE]


def _told(fault: dict[str, Any]) -> str:
    places = "\n".join(
        f"    {' '.join(map(str, node['target']))}: {node['html'][:160]}\n      {node['failureSummary']}"
        for node in fault["nodes"][:8]
    )
    return f"{fault['id']} ({fault['impact']}, {len(fault['nodes'])} places): {fault['help']}\n{places}"


def picture(name: str) -> Path:
    """Where a screenshot for the docs lies."""
    return ROOT / "docs" / "pictures" / f"{name}.png"
