"""P18: whoever dies in the middle of a scan, of embedding or of a write blocks nothing, and nothing is done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises.figures import Measured, figure
from tests.services.place import Place, eventually, place, reached

pytestmark = pytest.mark.services

#: Seconds in which the next one must be through; in the short form others use the machine too.
AT_ONCE = figure(120.0, 30.0)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def there(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("p18"), request.param) as made:
        yield made


def settled(there: Place) -> dict[str, Any]:
    """The state after all that waits is done by whoever came next."""
    state: dict[str, Any] = there.act("settled")
    assert (state["failed"], state["jobs"], state["embed"]) == ([], 0, False)
    return state


def test_killed_in_the_middle_of_a_scan(there: Place, measured: Measured) -> None:
    for number in range(60):
        there.page(f"wiki/concepts/scan{number}.md", f"# Scan {number}\n\nabout [[Scan {number + 1}]]\n")
    gate = there.gate("wiki.sync.steps:ScanRun._write")
    worker = there.worker(**gate)
    there.act("tell", "wiki.tasks.rescan")
    eventually(reached(gate), "a worker is in the middle of its scan")
    worker.kill()
    report = there.act("scan")
    assert not report["running"], "the lock is free as soon as its holder is dead"
    assert report["seconds"] < AT_ONCE
    paths = Counter(row["page"] for row in settled(there)["index"] if "page" in row)
    assert sum(path.startswith("wiki/concepts/scan") for path in paths) == 60
    assert set(paths.values()) == {1}
    measured(
        "P18", f"killed mid-scan: the next scan through in {report['seconds']:.1f} s, each page once", on=there.engine
    )


def test_killed_in_the_middle_of_embedding(there: Place, measured: Measured) -> None:
    settled(there)
    for number in range(30):
        there.page(f"wiki/concepts/e{number}.md", f"# E {number}\n\nwords of its own, {number} times {number * 7}\n")
    there.act("scan")
    log = Path(there.environment["SYNAPSE_TEST_EMBEDDED"]) / "embedded"
    log.unlink(missing_ok=True)
    gate = there.gate("embedder")
    first = there.worker(**gate)
    there.act("tell", "wiki.tasks.embed_pages")
    eventually(reached(gate), "a worker is in the middle of embedding")
    first.kill()
    done = there.act("state")["chunks"]
    assert done, "what was embedded before is kept"
    second = there.worker()
    there.act("tell", "wiki.tasks.embed_pages")
    took = eventually(lambda: not there.act("state")["embed"], "the next worker embeds what is left", AT_ONCE)
    second.stop()
    twice = [one for one, count in Counter(log.read_text().split()).items() if count > 1]
    assert len(twice) <= 4, "only the batch that died with the worker was embedded again"
    measured(
        "P18",
        f"killed mid-embedding: {len(done)} vectors kept, the rest by the next worker in {took:.0f} s (its start "
        f"included), {len(twice)} texts of the batch in hand embedded again",
        on=there.engine,
    )


def test_killed_in_the_middle_of_a_write(there: Place, measured: Measured) -> None:
    there.act("write_one", "1", "first")
    gate = there.gate("vault.writing.exchange:swap")
    first = there.begin("write_one", "1", "second", **gate)
    eventually(reached(gate), "a process is in the middle of a write")
    first.kill()
    seconds = there.act("write_one", "1", "third")["seconds"]
    assert seconds < AT_ONCE
    rows = [row for row in settled(there)["index"] if row.get("title") == "Written 1"]
    assert len(rows) == 1
    text = (there.vault / rows[0]["page"]).read_text(encoding="utf-8")
    assert (text.count("# Written 1"), "third" in text) == (1, True)
    measured("P18", f"killed mid-write: the next write through in {seconds:.1f} s, one page, whole", on=there.engine)


def test_killed_in_the_middle_of_a_job(there: Place, measured: Measured) -> None:
    """The row that it had begun is taken back, and done, by the next worker at once."""
    settled(there)
    gate = there.gate("wiki.services.catalog:render_index")
    first = there.worker(**gate)
    there.act("write_one", "2", "text")
    eventually(reached(gate), "a worker is in the middle of writing index.md")
    first.kill()
    assert there.act("state")["jobs"] >= 1
    second = there.worker()
    there.act("tell", "wiki.tasks.drain")
    took = eventually(
        lambda: there.act("state")["jobs"] == 0, "the next worker does what the dead one had begun", AT_ONCE
    )
    second.stop()
    assert "Written 2" in (there.vault / "wiki/index.md").read_text(encoding="utf-8")
    measured("P18", f"killed mid-job: done by the next worker in {took:.0f} s, its start included", on=there.engine)
