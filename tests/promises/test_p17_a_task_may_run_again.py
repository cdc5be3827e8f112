"""P17: each task may run twice, late and out of order: three times each, shuffled, comes to the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.services.place import Place, place

pytestmark = pytest.mark.services


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def there(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("p17"), request.param) as made:
        yield made


def change(there: Place) -> None:
    """What a person does in an editor, of which nobody has told."""
    for number in range(20):
        there.page(
            f"wiki/concepts/n{number}.md", f"# N {number}\n\nabout [[N {number + 1}]] and [[Nobody {number % 3}]]\n"
        )
    (there.vault / "wiki/concepts/kept-wiki.md").unlink()
    there.page("raw/sources/uncited.txt", "read by nobody")


def test_shuffled_tasks_come_to_the_same(there: Place) -> None:
    change(there)
    states: list[dict[str, Any]] = [there.act("shuffled", str(seed)) for seed in range(3)]
    for state in states:
        assert (state["failed"], state["embed"], state["changes"]) == ([], False, False)
        assert state["index"] and state["reviews"] and state["chunks"]
    assert states[0] == states[1] == states[2]
