"""What of the history goes, and when: by age, by size, and never because a clock was wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.writing import ALICE, PAGE, make_vault
from vault import drafts, history, writer
from vault.errors import ErrorCode, SynapseError
from vault.root import Vault
from vault.writing import pending, pruning
from vault.writing.pruning import expire_drafts, prune

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Clocks:
    """The machine's clock, which can be set, and the one that can't."""

    def __init__(self) -> None:
        self.wall = START
        self.monotonic = 1_000.0

    def wait(self, days: float) -> None:
        """Let time go by on both."""
        self.wall += timedelta(days=days)
        self.monotonic += days * 86_400


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    monkeypatch.setattr(pruning, "_wall", lambda: datetime.timestamp(made.wall))
    monkeypatch.setattr(pruning, "_steady", lambda: made.monotonic)
    monkeypatch.setattr(pending, "now", lambda: made.wall.strftime("%Y-%m-%dT%H:%M:%SZ"))
    monkeypatch.setattr(drafts, "now", lambda: made.wall.strftime("%Y-%m-%dT%H:%M:%SZ"))
    monkeypatch.setattr(pruning, "_pace", pruning._Pace())
    return made


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path)


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "_pace", pruning._Pace())


def write(vault: Vault, data: bytes, *, page: UUID = PAGE, path: str = "wiki/page.md") -> None:
    if not (vault.root / path).exists():
        writer.create(vault, path, data, page_id=page, author=ALICE)
        return
    base = vault.read(path).content_hash
    writer.replace(vault, path, data, expected_hash=base, page_id=page, author=ALICE)


def kept(vault: Vault) -> list[bytes]:
    """The displaced bytes that are there."""
    return sorted(file.read_bytes() for file in (vault.state / "history").glob("*/*.md"))


def hourly(vault: Vault, clocks: Clocks, days: int) -> int:
    """A pass a day; how many files went."""
    gone = 0
    for _ in range(days):
        gone += prune(vault, 30).removed
        clocks.wait(1)
    return gone


def test_the_old_go_and_the_newest_of_a_page_stays(vault: Vault, clocks: Clocks) -> None:
    for number in range(4):
        write(vault, f"text {number}".encode())
    assert hourly(vault, clocks, 30) == 0
    assert prune(vault, 30, dry_run=True).removed == 2 and len(kept(vault)) == 3
    done = prune(vault, 30)
    assert (done.removed, done.removed_bytes, done.kept, done.kept_bytes) == (2, 12, 1, 6)
    assert kept(vault) == [b"text 2"]
    assert hourly(vault, clocks, 400) == 0
    assert len(history.versions(vault, PAGE)) == 4, "lines are kept for good"
    assert history.read_version(vault, PAGE, 4, displaced=True) == b"text 2"


def test_what_is_listed_as_restorable_is_and_nothing_else(vault: Vault, clocks: Clocks) -> None:
    for number in range(4):
        write(vault, f"text {number}".encode())
        hourly(vault, clocks, 20)
    for version in history.versions(vault, PAGE):
        if version.number in history.restorable(vault, PAGE):
            assert writer.sha256(history.read_version(vault, PAGE, version.number)) == version.content_hash
        else:
            with pytest.raises(SynapseError) as refused:
                history.read_version(vault, PAGE, version.number)
            assert refused.value.code is ErrorCode.NOT_FOUND
    assert history.restorable(vault, PAGE) == {3, 4}


@pytest.mark.parametrize("again", [False, True])
def test_a_clock_that_is_a_year_ahead_for_a_while_makes_nothing_old(
    vault: Vault, clocks: Clocks, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    for number in range(3):
        write(vault, f"text {number}".encode())
    prune(vault, 30)
    clocks.wait(1)
    clocks.wall += timedelta(days=365)
    for _ in range(20):
        if again:
            restart(monkeypatch)
            prune(vault, 30)
        else:
            clocks.wait(1 / 24)
            prune(vault, 30)
    write(vault, b"written in the wrong year")
    clocks.wall -= timedelta(days=365)
    assert prune(vault, 30).removed == 0
    assert kept(vault) == [b"text 0", b"text 1", b"text 2"]


def test_a_clock_that_was_years_behind_makes_nothing_old(vault: Vault, clocks: Clocks) -> None:
    prune(vault, 30)
    clocks.wall -= timedelta(days=20_000)
    for number in range(3):
        write(vault, f"text {number}".encode())
    prune(vault, 30)
    clocks.wall += timedelta(days=20_000)
    assert hourly(vault, clocks, 29) == 0
    assert len(kept(vault)) == 2


def test_a_clock_that_stands_years_behind_all_records(vault: Vault, clocks: Clocks) -> None:
    for number in range(3):
        write(vault, f"text {number}".encode())
    hourly(vault, clocks, 20)
    clocks.wall -= timedelta(days=4_000)
    assert hourly(vault, clocks, 10) == 0


def test_what_synapse_does_not_run_through_counts_for_a_day(
    vault: Vault, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write(vault, f"text {number}".encode())
    prune(vault, 30)
    clocks.wait(60)
    restart(monkeypatch)
    assert hourly(vault, clocks, 29) == 0, "the machine was off, and its clock may be wrong"
    assert hourly(vault, clocks, 2) == 1


def test_processes_that_take_turns_count_no_day_twice(
    vault: Vault, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = [pruning._Pace() for _ in range(4)]
    for number in range(3):
        write(vault, f"text {number}".encode())
    for day in range(30):
        monkeypatch.setattr(pruning, "_pace", processes[day % len(processes)])
        assert prune(vault, 30).removed == 0
        clocks.wait(1)
    assert prune(vault, 30).removed == 1


@pytest.mark.parametrize("years", [1, -1])
def test_a_process_that_looks_again_after_another_counts_no_more_than_it_lived_through(
    vault: Vault, clocks: Clocks, monkeypatch: pytest.MonkeyPatch, years: int
) -> None:
    one, other = pruning._Pace(), pruning._Pace()
    for number in range(3):
        write(vault, f"text {number}".encode())
    for pace in (one, other):
        monkeypatch.setattr(pruning, "_pace", pace)
        prune(vault, 30)
    for turn in range(400):
        clocks.wall += timedelta(days=365 * years * (1 if turn % 2 else -1))
        clocks.wait(1 / 24)
        monkeypatch.setattr(pruning, "_pace", (one, other)[turn % 2])
        assert prune(vault, 30).removed == 0


jumps = st.lists(
    st.tuples(st.floats(0, 3), st.sampled_from([0, 0, 0, 1, -1, 365, -365, 9_000]), st.booleans()), max_size=25
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=jumps)
def test_nothing_that_is_younger_than_thirty_days_ever_goes(
    steps: list[tuple[float, int, bool]],
    tmp_path_factory: pytest.TempPathFactory,
    clocks: Clocks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the clock is set to, and back. A start with a wrong clock may count for a day, so so many less."""
    vault = make_vault(tmp_path_factory.mktemp("jumps"))
    clocks.wall, lived, right, wrong_starts = START, 0.0, timedelta(), 0
    born: dict[bytes, float] = {}
    for number, (days, jump, again) in enumerate(steps):
        data = f"text {number}".encode()
        write(vault, data)
        if number:
            born[f"text {number - 1}".encode()] = lived
        clocks.wall += timedelta(days=jump)
        right += timedelta(days=jump)
        if again:
            restart(monkeypatch)
            wrong_starts += jump != 0
        prune(vault, 30)
        clocks.wall -= right  # somebody sets it right
        right = timedelta()
        prune(vault, 30)
        clocks.wait(days)
        lived += days
        there = set(kept(vault))
        assert not [text for text, at in born.items() if lived - at < 30 - wrong_starts and text not in there]


# --- by size ---


def test_of_too_much_the_oldest_go_but_none_younger_than_thirty_days(vault: Vault, clocks: Clocks) -> None:
    other = uuid4()
    for number in range(4):
        write(vault, str(number).encode() * 1_000)
        write(vault, str(number).encode() * 500, page=other, path="wiki/other.md")
        prune(vault, 365, max_bytes=2_500)
        clocks.wait(1)
    done = prune(vault, 365, max_bytes=2_500)
    assert (done.removed, done.kept_bytes, done.over) == (0, 4_500, 2_000)
    for _ in range(30):
        done = prune(vault, 365, max_bytes=2_500)
        clocks.wait(1)
    assert (done.kept_bytes <= 2_500, done.over) == (True, 0)
    assert [len(data) for data in kept(vault) if data[:1] == b"2"] == [500, 1_000], "the newest of each page"
    assert prune(vault, 365, max_bytes=100).over == 1_400
    assert len(kept(vault)) == 2


# --- faults ---


def test_a_fault_in_the_middle_leaves_a_history_that_can_be_read(
    vault: Vault, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        write(vault, f"text {number}".encode())
    hourly(vault, clocks, 30)
    real, calls = pruning.exchange.unlink, iter(range(100))

    def failing(folder: int, name: str) -> None:
        if name.endswith(".md") and next(calls) == 2:
            raise OSError(5, "input/output error")
        real(folder, name)

    monkeypatch.setattr(pruning.exchange, "unlink", failing)
    with pytest.raises(SynapseError) as refused:
        prune(vault, 30)
    assert refused.value.code is ErrorCode.STORAGE_ERROR
    assert len(history.versions(vault, PAGE)) == 6
    assert history.read_version(vault, PAGE, 6, displaced=True) == b"text 4"
    assert prune(vault, 30).removed == 2, "the next pass goes on"


@pytest.mark.parametrize("damage", [b"", b"{", b'{"at": 7}', b'{"at": "yesterday"}', b"\xff\xfe", b"[" * 5_000])
def test_damaged_notes_make_nothing_older(vault: Vault, clocks: Clocks, damage: bytes) -> None:
    for number in range(3):
        write(vault, f"text {number}".encode())
    hourly(vault, clocks, 29)
    (vault.state / "history" / "clock.json").write_bytes(damage)
    (vault.state / "history" / "seen.jsonl").write_bytes(damage)
    assert hourly(vault, clocks, 29) == 0


def test_orphans_go_by_the_same_rules(vault: Vault, clocks: Clocks) -> None:
    (vault.root / "wiki").mkdir(exist_ok=True)
    (vault.root / "wiki" / ".synapse-0123456789ab.tmp").write_bytes(b"somebody's save")
    [record] = history.recover_orphans(vault)
    file = vault.state / "history" / "orphans" / record["file"]
    assert hourly(vault, clocks, 30) == 0 and file.exists()
    assert hourly(vault, clocks, 2) == 1 and not file.exists()


# --- drafts ---


def keep(vault: Vault) -> str:
    return drafts.keep(vault, path="wiki/page.md", data=b"text", author=ALICE, reason="conflict")


def test_drafts_go_when_they_are_old(vault: Vault, clocks: Clocks) -> None:
    first = keep(vault)
    for _ in range(30):
        assert expire_drafts(vault, 30) == []
        clocks.wait(1)
    second = keep(vault)
    assert expire_drafts(vault, 30, dry_run=True) == [first]
    assert {draft.id for draft in drafts.list_drafts(vault)} == {first, second}
    assert expire_drafts(vault, 30) == [first]
    assert [draft.id for draft in drafts.list_drafts(vault)] == [second]


def test_no_draft_goes_by_a_wrong_clock(vault: Vault, clocks: Clocks) -> None:
    keep(vault)
    expire_drafts(vault, 30)
    clocks.wall += timedelta(days=365)
    clocks.monotonic += 60
    assert expire_drafts(vault, 30) == []


# --- the notes on what was seen ---


def noted(vault: Vault) -> set[str]:
    lines = filter(None, (vault.state / "history" / "seen.jsonl").read_bytes().splitlines())
    return {json.loads(line)["file"] for line in lines}


def test_nothing_is_noted_of_drafts_that_were_applied_or_dropped(vault: Vault, clocks: Clocks) -> None:
    stays = keep(vault)
    for _ in range(5):
        goes = keep(vault)
        expire_drafts(vault, 30)
        drafts.drop_draft(vault, goes)
        assert expire_drafts(vault, 30, dry_run=True) == [] and f"drafts/{goes}" in noted(vault)
        expire_drafts(vault, 30)
        assert noted(vault) == {f"drafts/{stays}"}
    drafts.drop_draft(vault, stays)
    expire_drafts(vault, 30)
    assert noted(vault) == set()


def test_nothing_is_noted_of_versions_that_a_person_took_away(vault: Vault, clocks: Clocks) -> None:
    draft = keep(vault)
    for number in range(4):
        write(vault, f"text {number}".encode())
    prune(vault, 30)
    expire_drafts(vault, 30)
    first, *rest = sorted((vault.state / "history").glob("*/*.md"), key=lambda file: file.read_bytes())  # oldest first
    clocks.wait(20)
    taken = first.read_bytes()
    first.unlink()
    prune(vault, 30)
    keys = {f"{file.parent.name}/{file.name}" for file in rest}
    assert noted(vault) == keys | {f"drafts/{draft}"}, "and the ages of what is there are kept"
    first.write_bytes(taken)
    prune(vault, 30)
    clocks.wait(11)
    assert prune(vault, 30).removed == 1, "one that was put back is new"
    assert taken in kept(vault)
