"""P6: creating is exclusive: of many at once exactly one makes the page."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.promises.figures import Measured, figure
from tests.promises.places import created_at_once
from tests.writing import ALICE, MECHANISMS, PAGE, PATH, Steps, make_vault, pages, temp_files, use_mechanism
from vault import drafts, history, writer
from vault.errors import ErrorCode, SynapseError


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_of_fifty_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str, measured: Measured) -> None:
    vault = make_vault(tmp_path)
    use_mechanism(monkeypatch, mechanism, vault)
    start = threading.Barrier(50)
    won: list[bytes] = []
    refused: list[SynapseError] = []

    def create(number: int) -> None:
        text = f"text {number}".encode()
        start.wait()
        try:
            writer.create(vault, PATH, text, page_id=PAGE, author=ALICE)
            won.append(text)
        except SynapseError as error:
            refused.append(error)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert pages(vault) == {PATH: won[0]}
    assert [error.code for error in refused] == [ErrorCode.CONFLICT] * 49
    kept = {drafts.read_draft(vault, error.repair["draft"])[1] for error in refused}
    assert kept == {f"text {number}".encode() for number in range(50)} - set(won)
    assert [version.action for version in history.versions(vault, PAGE)] == ["create"]
    assert temp_files(vault) == []
    measured("P6", f"50 at once by {mechanism}: {len(won)} made the file, {len(refused)} conflicts with their draft")


@pytest.mark.parametrize("service", ["create_page", "write_page"])
def test_one_process_of_many_makes_the_page(own_vault: dict[str, str], service: str, measured: Measured) -> None:
    """What POST /pages and the tool call, each from a process with a database connection of its own."""
    processes = figure(6, 50)
    answers = created_at_once(own_vault, service, processes)
    made = [answer for answer in answers if answer == "created"]
    told = [answer for answer in answers if answer == "conflict"]
    changed = [answer for answer in answers if answer == "changed"]
    assert len(made) == 1
    assert len(made) + len(told) + len(changed) == processes
    assert service == "write_page" or not changed
    measured("P6", f"{processes} at once by {service}: 1 created, {len(changed)} changed it, {len(told)} conflicts")


@pytest.mark.parametrize("mechanism", ["exchange", "link"])
def test_a_file_that_appears_at_the_last_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    vault = make_vault(tmp_path)
    use_mechanism(monkeypatch, mechanism, vault)
    steps = Steps().install(monkeypatch)

    def editor(at: int, name: str, args: object) -> None:
        if name == "rename_new":
            (vault.root / PATH).write_bytes(b"the person's")

    steps.before = editor
    with pytest.raises(SynapseError) as refused:
        writer.create(vault, PATH, b"ours", page_id=PAGE, author=ALICE)
    assert refused.value.code is ErrorCode.CONFLICT
    assert refused.value.repair["content_hash"] == writer.sha256(b"the person's")
    assert pages(vault) == {PATH: b"the person's"}
