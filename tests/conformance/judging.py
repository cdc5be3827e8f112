"""Start what is judged, let the judges from outside look at it, and read what they say.

``make test-conformance`` puts the judges where this module looks for them: the conformance suite into .node, mcpscore
into .venv-mcpscore.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2 as httpx

from tests.mcpapi.oauth.flow import Agent, HttpBrowser, consent_page, decide
from tests.mcpapi.processes import MANAGE, ROOT, World

HERE: Final = Path(__file__).resolve().parent
SUITE: Final = ROOT / ".node" / "node_modules" / ".bin" / "conformance"
MCPSCORE: Final = ROOT / ".venv-mcpscore" / "bin" / "mcpscore"
TOKEN: Final = "only-for-the-judges-only-for-the-judges"
FIXTURE: Final = "/fixture"
"""What stands before the path of a request to the server with the suite's own tools."""
WITH_TOKEN: Final = "/with-token"
"""What stands before the path of a request to the wiki that is to get a token on its way in."""

_SETTINGS: Final = {
    "MCP_AUTH_TOKEN": TOKEN,
    "EMBEDDINGS_ENABLED": "false",
    "SYNAPSE_TELEMETRY": "false",
    "SYNAPSE_RATE_PER_MINUTE": "0",
    "SYNAPSE_STRANGERS_PER_MINUTE": "0",
}
# "server-tools-list-2026-11-30T19-48-54-692Z", as the suite calls the folder of a scenario.
_FOLDER: Final = re.compile(r"(authorization-)?server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


@dataclass(frozen=True)
class Check:
    """One thing that the suite looked at."""

    scenario: str
    name: str
    status: str
    said: str

    @property
    def failed(self) -> bool:
        return self.status == "FAILURE"


@dataclass(frozen=True)
class Verdict:
    """What the suite says of one server in one revision."""

    code: int
    text: str
    checks: list[Check]


@dataclass(frozen=True)
class Score:
    """What mcpscore says: points, and the rules that cost some."""

    points: int
    most: int
    lost: dict[str, int]
    why: dict[str, str]

    @property
    def percent(self) -> float:
        return 100 * self.points / self.most


@contextmanager
def serving(world: World) -> Iterator[str]:
    """The application of tests.conformance.served in a process of its own; gives its address."""
    port = _free_port()
    command = [sys.executable, "-m", "uvicorn", "--log-level", "warning", "--port", str(port)]
    with subprocess.Popen(
        [*command, "tests.conformance.served:application"], cwd=ROOT, env=world.environment | _SETTINGS
    ) as process:
        try:
            until = time.monotonic() + 60
            while not _answers(port):
                assert process.poll() is None and time.monotonic() < until, "the server did not start"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=15)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/mcp/info").status_code == 200
    except httpx.TransportError:
        return False


def run_suite(url: str, revision: str, folder: Path, expected: Path | None = None) -> Verdict:
    """The suite on everything that the revision requires. ``folder`` is for its notes."""
    command = ["server", "--url", url, "--requirements", revision, "--output-dir", str(folder)]
    if expected is not None:
        command += ["--expected-failures", str(expected)]
    with _suite(command) as process:
        text, _ = process.communicate(timeout=300)
    return Verdict(process.returncode, text, [*_checks(folder)])


def run_authorization(world: World, base: str, folder: Path) -> Verdict:
    """The suite's scenarios for an authorization server, with a person who signs in and consents."""
    given = {"DJANGO_SUPERUSER_PASSWORD": "a-long-password"}
    world.manage("createsuperuser", "--noinput", "--username", "ann", "--email", "ann@example.org", **given)
    port = _free_port()
    browser = HttpBrowser(base)
    agent = Agent(browser, redirect=f"http://127.0.0.1:{port}/callback")
    agent.register()
    text = ""
    command = ["authorization", "--url", base, "--client-id", agent.client_id, "--resource", agent.resource]
    with _suite([*command, "--port", str(port), "--output-dir", str(folder)]) as process:
        assert process.stdout is not None
        for line in process.stdout:
            text += line
            if line.startswith(f"{base}/authorize?"):
                sent = decide(browser, consent_page(browser, line.strip(), "ann"))
                httpx.get(sent.headers["Location"])
    return Verdict(process.returncode, text, [*_checks(folder)])


def _suite(command: list[str]) -> subprocess.Popen[str]:
    path = f"{ROOT / '.node' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.Popen(
        [str(SUITE), *command],
        cwd=ROOT,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _checks(folder: Path) -> Iterator[Check]:
    for notes in sorted(folder.glob("*/checks.json")):
        named = _FOLDER.fullmatch(notes.parent.name)
        assert named is not None, f"the suite named a folder in another way: {notes.parent.name}"
        for check in json.loads(notes.read_text()):
            yield Check(named["scenario"], check["id"], check["status"], check.get("errorMessage") or "")


def score_stdio(world: World) -> Score:
    """mcpscore on ``manage.py mcp``."""
    settings = world.environment | _SETTINGS
    given = {name: value for name, value in settings.items() if name.startswith(("SYNAPSE_", "MCP_", "EMBED"))}
    named = [option for name in given for option in ("--env", name)]
    return _score([*named, "--stdio", *MANAGE, "mcp"], given)


def score_http(url: str) -> Score:
    """mcpscore on an endpoint, with a token."""
    return _score(["--token", TOKEN, url], {})


def _score(arguments: list[str], given: dict[str, str]) -> Score:
    done = subprocess.run(
        [str(MCPSCORE), "--json", "--no-config", *arguments],
        cwd=ROOT,
        env=os.environ | given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert not report["partial"] and not report["listing_errors"], done.stderr
    failed = [rule for rule in report["results"] + report["readiness"]["results"] if not rule["passed"]]
    return Score(
        report["score"],
        report["max_score"],
        {rule["rule_id"]: rule["severity_value"] for rule in failed},
        {rule["rule_id"]: rule["message"] for rule in failed},
    )
