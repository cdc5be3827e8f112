"""P17: each task may run twice, late and out of order: three times each, shuffled, comes to the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.figures import Measured, figure
from tests.services.place import Place, place

pytestmark = pytest.mark.services

#: Orders of chance, each tried in a place of its own.
ORDERS = figure(1, 5)


def change(there: Place) -> None:
    """What a person does in an editor, of which nobody has told."""
    for number in range(20):
        there.page(
            f"wiki/concepts/n{number}.md", f"# N {number}\n\nabout [[N {number + 1}]] and [[Nobody {number % 3}]]\n"
        )
    (there.vault / "wiki/concepts/kept-wiki.md").unlink()
    there.page("raw/sources/uncited.txt", "read by nobody")


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_shuffled_tasks_come_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, engine: str, measured: Measured
) -> None:
    """As each task once, in the order in which they build on each other; and then three times more, to no effect."""
    states: dict[str, dict[str, Any]] = {}
    tasks: set[str] = set()
    for order in ["in order", *(str(seed) for seed in range(ORDERS))]:
        with place(tmp_path_factory.mktemp("p17"), engine) as there:
            change(there)
            ran = there.act("shuffled", order)
            again = there.act("shuffled", f"{order} again")
        for state in (ran, again):
            tasks |= set(state.pop("tasks"))
            assert (state["failed"], state["embed"], state["changes"]) == ([], False, False)
            assert state["index"] and state["reviews"] and state["chunks"]
        assert again == ran, "once more changes nothing"
        # A rule that ran before the scan may have asked what the scan then answered; what it asked is closed since.
        ran["reviews"] = [item for item in ran["reviews"] if item[2] != "auto_resolved"]
        states[order] = ran
    for order, state in states.items():
        assert state == states["in order"], order
    measured(
        "P17",
        f"{len(tasks)} tasks, each 3 times in {ORDERS} orders of chance, and again: 1 state, that of one run in order",
        on=engine,
    )


def test_every_task_is_tried(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A task that Celery knows and the shuffle does not run would be one that nobody has run twice."""
    with place(tmp_path_factory.mktemp("p17"), "sqlite") as there:
        known = there.act("tasks")
    assert known["registered"] == known["shuffled"] == known["in order"]
