"""P15: while the broker is down, reading, writing and deciding go on; what waits is done when it is back."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import pytest

from tests.promises.figures import FULL, Measured, figure
from tests.services.place import Place, eventually, place

pytestmark = pytest.mark.services

WRITES = figure(20, 200)
#: What a write may take, and in which time the backlog is gone once the broker is back. In the short form others use
#: the machine too; what it finds is a broker that is waited for.
WRITE_SECONDS = figure(10.0, 1.0)
DRAINED_SECONDS = figure(240.0, 60.0)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def there(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("p15"), request.param) as made:
        yield made


def test_work_goes_on_and_nothing_is_lost(there: Place, measured: Measured) -> None:
    there.worker()
    there.beat()
    there.act("tell", "wiki.tasks.embed_pages")
    eventually(lambda: not there.act("state")["embed"], "worker and beat are at work")
    there.redis.stop()
    took = there.act("writes", str(WRITES))
    waiting = there.act("state")
    assert waiting["jobs"] and waiting["embed"], "it waits as rows"
    p95 = {what: statistics.quantiles(seconds, n=20)[-1] for what, seconds in took.items()}
    there.redis.start()
    back = time.monotonic()

    def drained() -> bool:
        state = there.act("state")
        return not (state["jobs"] or state["embed"])

    eventually(drained, "the backlog is drained", DRAINED_SECONDS)
    seconds = time.monotonic() - back
    state = there.act("state")
    assert state["failed"] == []
    titles = {row["title"] for row in state["index"] if "page" in row}
    assert {f"Written {number}" for number in range(WRITES)} <= titles
    index = (there.vault / "wiki/index.md").read_text(encoding="utf-8")
    assert all(f"Written {number}" in index for number in range(WRITES))
    decided = [row for row in state["reviews"] if row[1].startswith("asked ")]
    assert len(decided) == WRITES and {row[2] for row in decided} == {"skipped"}
    embedded = {row[0] for row in state["chunks"]}
    assert {f"wiki/concepts/written-{number}.md" for number in range(WRITES)} <= embedded
    for what in ("write", "decide"):
        assert (p95[what] if FULL else statistics.median(took[what])) < WRITE_SECONDS, what
    measured(
        "P15",
        f"{WRITES} writes, reads and decisions without the broker: p95 of a write {p95['write'] * 1_000:.0f} ms, "
        f"of a decision {p95['decide'] * 1_000:.0f} ms; drained {seconds:.0f} s after its return, 0 lost",
        on=there.engine,
    )
