"""The soak's own judgement: whatever is missing at the end fails the run, and so do answers that nobody should get."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.soak import judging
from tests.soak.ledger import Ledger, Written, sha256
from tests.soak.memory import _life
from tests.soak.report import Run
from tests.soak.world import MARGIN, Service

PAGE = "7b1c4f0e-0000-4000-8000-000000000001"


@pytest.fixture
def place(tmp_path: Path) -> Any:
    """What the judge looks at: a vault with a page, a history that displaced bytes, and a free lock."""
    vault = tmp_path / "vault"
    history = vault / ".synapse" / "history" / PAGE
    history.mkdir(parents=True)
    (vault / ".synapse" / "locks").mkdir()
    (vault / ".synapse" / "locks" / "scan").touch()
    (vault / "a.md").write_bytes(b"stands")
    (history / "one.md").write_bytes(b"displaced")
    lines = [json.dumps({"content_hash": sha256(data)}) for data in (b"stands", b"displaced", b"saved over", b"gone")]
    (history / "versions.jsonl").write_text("\n".join(lines) + '\n{"torn')
    return SimpleNamespace(vault=vault, folder=tmp_path, environment={})


def told(*texts: bytes) -> Ledger:
    ledger = Ledger()
    for text in texts:
        ledger.acknowledged.append(Written("a.md", sha256(text), 0.0, "agent", PAGE))
    return ledger


def test_what_is_there_is_found(place: Any) -> None:
    ledger, found = told(b"stands", b"displaced", b"saved over"), judging.Found()
    ledger.went_over(b"saved over")
    for text in (b"stands", b"displaced", b"saved over"):
        ledger.saved("saved in place", "a.md", text)
    judging.writes(place, ledger, found)
    judging.leftovers(place, ledger)
    assert ledger.failures == []
    assert (found.acknowledged_in_place, found.acknowledged_in_history, found.acknowledged_saved_over) == (1, 1, 1)


def test_a_lost_write_and_a_lost_save_fail_the_run(place: Any) -> None:
    ledger, found = told(b"gone"), judging.Found()
    ledger.saved("saved in place", "a.md", b"gone too")
    judging.writes(place, ledger, found)
    assert (found.acknowledged_lost, found.saves_lost, len(ledger.failures)) == (1, 1, 2)


def test_an_acknowledgement_needs_its_line_in_the_history(place: Any) -> None:
    ledger = told(b"stands", b"stands")
    judging.writes(place, ledger, judging.Found())
    assert len(ledger.failures) == 1 and "no line" in ledger.failures[0]


@pytest.mark.parametrize("left", ["wiki/.synapse-0123456789ab.tmp", ".synapse/history/pending/0123456789ab.json"])
def test_what_is_left_behind_fails_the_run(place: Any, left: str) -> None:
    (place.vault / left).parent.mkdir(parents=True, exist_ok=True)
    (place.vault / left).touch()
    ledger = Ledger()
    judging.leftovers(place, ledger)
    assert len(ledger.failures) == 1


def test_a_lock_that_is_held_fails_the_run(place: Any) -> None:
    ledger = Ledger()
    with open(place.vault / ".synapse" / "locks" / "scan") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        judging.leftovers(place, ledger)
    assert len(ledger.failures) == 1


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ('{"level": "warning", "message": "later"}', False),
        ("Serving on 127.0.0.1", False),
        ('{"level": "error", "message": "no"}', True),
        ('{"level": "warning", "message": "no", "exception": "ValueError"}', True),
        ("Traceback (most recent call last):", True),
    ],
)
def test_logs_are_read(place: Any, line: str, fails: bool) -> None:
    (place.folder / "serve.log").write_text(f"{line}\n")
    ledger = Ledger()
    judging.logs(place, ledger)
    assert bool(ledger.failures) is fails


@pytest.mark.parametrize(
    ("status", "code", "fails"),
    [
        (200, "", False),
        (409, "conflict", False),
        (500, "internal_error", True),
        (502, "", True),
        (507, "storage_error", True),
        (200, "tool_timeout", True),
        (429, "rate_limited", True),
    ],
)
def test_answers_that_nobody_should_get(status: int, code: str, fails: bool) -> None:
    ledger = Ledger()
    ledger.answered("rest read", 0.1, {"error_code": code} if code else {}, status)
    assert bool(ledger.failures) is fails


def test_a_review_decided_twice_fails_the_run() -> None:
    ledger = Ledger()
    ledger.decision("1", "skipped")
    ledger.decision("1", "skipped")
    assert not ledger.failures
    ledger.decision("1", "created")
    assert ledger.failures


def test_only_a_kill_excuses_silence(tmp_path: Path) -> None:
    service = Service("stdio", [], {}, tmp_path)
    assert not service.was_away(0.0, 1e12)
    service.was_killed()
    service.started(1.0)
    (gone, back) = service._away[0]
    assert service.was_away(gone - 5, gone) and service.was_away(back + MARGIN / 2, back + 9)
    assert not service.was_away(back + MARGIN * 2, back + 9)
    assert not service.was_away(gone - 9, gone - MARGIN * 2)


@pytest.mark.parametrize(("growth", "flat"), [(0.0, True), (0.05, False)])
def test_growth_is_seen_after_the_warm_up(growth: float, flat: bool) -> None:
    # 300 MB are loaded in the first minute; then so many MB more a second.
    samples = [
        (at, held, held)
        for at in map(float, range(0, 1200, 2))
        for held in [100 + 5 * min(at, 60) + growth * 10 * at / 5]
    ]
    life = _life("serve", 1, samples)
    assert life.judged and life.flat is flat


def test_a_short_life_is_not_judged() -> None:
    assert not _life("serve", 1, [(float(at), 1.0 + at, 1.0 + at) for at in range(100)]).judged


def test_rows_that_differ_are_told() -> None:
    ours = ['{"page": "a.md", "id": "1"}', '{"file": "b.txt", "kind": "source"}']
    rebuilt = ['{"page": "a.md", "id": "2"}']
    told = [judging._difference(*pair) for pair in judging._pairs(ours, rebuilt) if pair[0] != pair[1]]
    assert sorted(told) == ['a.md: {"id": ["1", "2"]}', "only in the index: b.txt"]


def test_a_run_that_failed_leaves_no_line_and_a_short_one_spares_a_full_one(tmp_path: Path) -> None:
    def run(minutes: float, ledger: Ledger) -> Run:
        return Run("sqlite", minutes, ledger, judging.Found(), [], [], {}, "serve")

    failed = Ledger()
    failed.failed("something is lost")
    run(20, failed).leave_line(tmp_path)
    file = tmp_path / "soak-sqlite.jsonl"
    assert not file.exists()
    for minutes in (20, 2):
        run(minutes, Ledger()).leave_line(tmp_path)
    line = json.loads(file.read_text())
    assert (line["promise"], line["full"], line["engine"]) == ("soak", True, "sqlite")
    assert "FAILED: something is lost" in run(20, failed).table()
