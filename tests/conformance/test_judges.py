"""Judges from outside: the protocol's own conformance suite, and mcpscore."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.judging import (
    FIXTURE,
    HERE,
    MCPSCORE,
    SUITE,
    WITH_TOKEN,
    Check,
    Score,
    Verdict,
    run_authorization,
    run_suite,
    score_http,
    score_stdio,
    serving,
)
from tests.mcpapi.processes import make_world

REVISIONS = ["2025-11-25", "2026-07-28"]
# What the suite can see of a server without its own tools, resources and prompts, and of it the checks that need them.
OF_ANY_SERVER: dict[str, dict[str, set[str]]] = {
    "2025-11-25": {
        "server-initialize": set(),
        "server-session-lifecycle": set(),
        "ping": set(),
        "tools-list": set(),
        "resources-list": set(),
        "prompts-list": set(),
        "dns-rebinding-protection": set(),
    },
    "2026-07-28": {
        "server-stateless": {
            # `test_missing_capability`, a tool that needs a client that can sample: none of the wiki's does.
            "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400",
        },
        "server-sse-multiple-streams": set(),
        "tools-list": set(),
        "resources-list": set(),
        "prompts-list": set(),
        "sep-2164-resource-not-found": set(),
        "dns-rebinding-protection": set(),
        "caching": set(),
        "input-required-result-unsupported-methods": set(),
        "http-header-validation": set(),
    },
}


@dataclass
class Judged:
    """What the judges say, as soon as they have said it."""

    fixture: dict[str, Future[Verdict]]
    wiki: dict[str, Future[Verdict]]
    authorization: Future[Verdict]
    score: dict[str, Future[Score]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Several judges at once: much of their time is waiting."""
    if not os.environ.get("SYNAPSE_TEST_JUDGES"):
        pytest.skip("the judges look on in `make test-conformance`")
    assert SUITE.exists() and MCPSCORE.exists(), "`make test-conformance` installs the judges"
    home = tmp_path_factory.mktemp("judged")
    world = make_world(home / "wiki")
    with serving(world) as base, ThreadPoolExecutor(2) as suites, ThreadPoolExecutor(1) as others:
        yield Judged(
            {each: suites.submit(judge_fixture, base, each, home / "fixture") for each in REVISIONS},
            {each: suites.submit(judge_wiki, base, each, home / "wiki") for each in REVISIONS},
            others.submit(run_authorization, world, base, home / "authorization"),
            {"http": others.submit(score_http, f"{base}/mcp"), "stdio": others.submit(score_stdio, world)},
        )


# The suite waits half a second for some answers, which a busy machine may need. So what fails is looked at once more.


def judge_fixture(base: str, revision: str, folder: Path) -> Verdict:
    for attempt in ("first", "second"):
        notes = folder / f"{revision}-{attempt}"
        verdict = run_suite(f"{base}{FIXTURE}/mcp", revision, notes, expected_failures(revision))
        if verdict.code == 0:
            break
    return verdict


def judge_wiki(base: str, revision: str, folder: Path) -> Verdict:
    for attempt in ("first", "second"):
        verdict = run_suite(f"{base}{WITH_TOKEN}/mcp", revision, folder / f"{revision}-{attempt}")
        if not any(check.failed for check in that_apply(verdict, revision)):
            break
    return verdict


def expected_failures(revision: str) -> Path:
    return HERE / f"expected-failures-{revision}.yml"


def that_apply(verdict: Verdict, revision: str) -> list[Check]:
    """Of what the suite saw of the wiki, what any server can be asked for."""
    applies = OF_ANY_SERVER[revision]
    return [check for check in verdict.checks if check.name not in applies.get(check.scenario, {check.name})]


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_transport_conforms(judged, revision):
    verdict = judged.fixture[revision].result()
    assert verdict.code == 0, verdict.text[verdict.text.find("=== SUMMARY") :]


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_fails_is_named_with_its_reason(judged, revision):
    """The suite leaves out of its own comparison what it does not score."""
    failed = {(check.scenario, check.name) for check in judged.fixture[revision].result().checks if check.failed}
    named = [tuple(each.split(":")) for each in yaml.safe_load(expected_failures(revision).read_text())["server"]]
    scenarios = {each[0] for each in named if len(each) == 1}
    assert {each for each in failed if each[0] not in scenarios} <= set(named)
    assert scenarios <= {scenario for scenario, _ in failed}


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_wiki_conforms_in_what_the_suite_can_see_of_any_server(judged, revision):
    seen = that_apply(judged.wiki[revision].result(), revision)
    assert {check.scenario for check in seen} == OF_ANY_SERVER[revision].keys()
    assert [check for check in seen if check.failed] == []


def test_the_authorization_server_conforms(judged):
    verdict = judged.authorization.result()
    assert verdict.code == 0, verdict.text
    assert {check.scenario for check in verdict.checks if check.status == "SUCCESS"} == {
        "authorization-server-metadata-endpoint",
        "authorization-code-grant",
    }


# Over HTTP mcpscore also counts what it can't see at an address of this machine (mcpscore.yml).
@pytest.mark.parametrize(("way_in", "least"), [("stdio", 95), ("http", 94)], ids=["stdio", "http"])
def test_mcpscore_finds_no_less_than_is_recorded(judged, way_in, least):
    record = yaml.safe_load((HERE / "mcpscore.yml").read_text())[way_in]
    score = judged.score[way_in].result()
    assert score.most - score.points == sum(score.lost.values())
    assert score.lost.keys() == record["lost"].keys(), score.why
    assert all(reason.strip() for reason in record["lost"].values())
    assert score.percent >= 100 * record["points"] / record["most"] >= least
