"""P5: what was acknowledged is not lost: as many versions as acknowledgements, each with the bytes it displaced."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from tests.writing import ALICE, MECHANISMS, PAGE, PATH, killed_child, make_vault, patched, put, use_mechanism
from vault import history, writer
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault

PROCESSES = 4
WRITES = 20


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
