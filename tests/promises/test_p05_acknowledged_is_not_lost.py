"""P5: what was acknowledged is not lost: as many versions as acknowledgements, each with the bytes it displaced."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.mcpapi.processes import ROOT, World, web_server
from tests.promises import doors
from tests.promises.engines import ENGINES, UNLIMITED, rebuilt, rows, said, sessions, world_on
from tests.promises.figures import FULL, Measured, figure
from tests.writing import ALICE, MECHANISMS, PAGE, PATH, killed_child, make_vault, patched, put, use_mechanism
from vault import history, writer
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import compose
from vault.root import Vault

PROCESSES = figure(4, 16)
WRITES = 20
#: The doors, how many processes come through each of them, and how often each writes. (What comes over stdio too is
#: tried in the short form by tests/mcpapi/test_many_processes.py.)
THROUGH = figure(["http", "rest", "service"], ["http", "stdio", "rest", "service"])
THROUGH_EACH = figure(1, 4)
WRITES_OF_EACH = figure(8, 200)


def write_often(vault: Vault, number: int) -> None:
    for count in range(WRITES):
        while True:
            try:
                with vault.lock("page"):
                    base = vault.read(PATH).content_hash
                    text = f"process {number}, write {count}".encode()
                    writer.replace(vault, PATH, text, expected_hash=base, page_id=PAGE, author=ALICE)
                break
            except SynapseError as error:
                assert error.code is ErrorCode.CONFLICT


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_versions_are_acknowledgements(tmp_path: Path, mechanism: str) -> None:
    vault = make_vault(tmp_path)
    put(vault, b"the first")

    def work() -> None:
        with patched() as monkeypatch:
            use_mechanism(monkeypatch, mechanism, vault)
            children = []
            for number in range(PROCESSES):
                pid = os.fork()
                if pid == 0:
                    try:
                        write_often(vault, number)
                        os._exit(0)
                    finally:
                        os._exit(1)
                children.append(pid)
            assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)

    assert not killed_child(work)
    versions = history.versions(vault, PAGE)
    assert [version.number for version in versions] == list(range(PROCESSES * WRITES, 0, -1))
    texts = {f"process {number}, write {count}".encode() for number in range(PROCESSES) for count in range(WRITES)}
    assert {history.read_version(vault, PAGE, version.number) for version in versions} == texts
    for newer, older in itertools.pairwise(versions):
        assert newer.displaced_hash == older.content_hash
        kept = history.read_version(vault, PAGE, newer.number, displaced=True)
        assert writer.sha256(kept) == newer.displaced_hash


@contextmanager
def writers(world: World, folder: Path, base: str) -> Iterator[list[subprocess.Popen[str]]]:
    """The processes, through every door as many, when each of them is ready to begin."""
    environment = world.environment | {"DOORS_SERVER": base, "DOORS_TOKEN": world.token("agent", "write")}
    started: list[subprocess.Popen[str]] = []
    with ExitStack() as stack:
        try:
            for number, kind in itertools.product(range(THROUGH_EACH), THROUGH):
                command = [sys.executable, "-m", "tests.promises.doors", kind, str(number), str(WRITES_OF_EACH)]
                err = stack.enter_context(open(folder / f"{kind}-{number}.err", "wb"))
                pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": err}
                started.append(subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes))
            for one in started:
                assert one.stdout and one.stdout.readline() == "ready\n"
            yield started
        finally:
            for one in started:
                one.kill()
                one.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_processes_through_every_door_lose_nothing(tmp_path: Path, engine: str, measured: Measured) -> None:
    """Each acknowledged write is a version of the history, with its bytes, made from the version it named."""
    texts = {
        f"wiki/concepts/{title.lower().replace(' ', '-')}.md": compose(doors.front(title), "Begin.\n")
        for title in doors.TITLES
    }
    log = tmp_path / "server.err"
    with world_on(engine, texts) as world:
        with web_server(world, err=log, **UNLIMITED) as base, writers(world, tmp_path, base) as started:
            for one in started:
                assert one.stdin
                one.stdin.write("go\n")
                one.stdin.flush()
            answers = [json.loads(one.communicate(timeout=600)[0]) for one in started]
            open_sessions = sessions(world.environment) if engine == "postgresql" else []
        assert all(one.returncode == 0 for one in started)
        spoken = said(log, *tmp_path.glob("*-*.err"))
        told = {acked["content_hash"]: acked for answer in answers for acked in answer["told"]}
        refusals = sum((Counter(answer["refusals"]) for answer in answers), Counter[str]())
        assert [answer["errors"] for answer in answers] == [{}] * len(started)
        assert [answer["warnings"] for answer in answers] == [{}] * len(started)
        assert len(told) == len(started) * WRITES_OF_EACH, "each wrote bytes of its own"
        vault = Vault(world.vault, Path(world.environment["SYNAPSE_DATA"]))
        ids = {acked["title"]: UUID(acked["id"]) for acked in told.values()}
        found = 0
        for title, page_id in ids.items():
            versions = history.versions(vault, page_id)
            assert [version.number for version in versions] == list(range(len(versions), 0, -1))
            assert {version.content_hash for version in versions} == {
                acked["content_hash"] for acked in told.values() if acked["title"] == title
            }
            for version in versions:
                acked = told[version.content_hash]
                assert version.displaced_hash == acked["base"], "it took the place of the version that was named"
                kept = history.read_version(vault, page_id, version.number)
                assert writer.sha256(kept) == version.content_hash
                assert f"By {acked['line']}.\n".encode() in kept
            found += len(versions)
        assert found == len(told)
        assert "idle in transaction" not in open_sessions
        assert spoken == Counter(), "no process had anything to complain of"
        if FULL:
            assert rebuilt(world, tmp_path / "new") == rows(world)
    measured(
        "P5",
        f"{len(started)} processes × {WRITES_OF_EACH} writes over {len(ids)} pages: {len(told):,} acknowledged, "
        f"{found:,} versions, {sum(refusals.values()):,} refused and tried again, 0 errors",
        on=engine,
    )
