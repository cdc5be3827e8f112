"""P19: whatever step a change is killed at, file and database agree after the next start, and no text is gone."""

from __future__ import annotations

import pytest

from tests.changes import CHANGES
from tests.promises.figures import Measured, figure
from tests.promises.places import crashed

#: Steps at which each change is killed; in full, all that change the disk or the database.
KILLS = figure(3, 1_000)
#: The changes that are tried; each goes another way through the services.
TRIED = figure(("write",), tuple(CHANGES))


@pytest.mark.parametrize("change", TRIED)
def test_killed_at_a_step(own_vault: dict[str, str], change: str, measured: Measured) -> None:
    found = crashed(own_vault, "kill", KILLS, change)
    assert found["wrong"] == []
    assert found["tried"] >= min(KILLS, 6) - 1
    measured("P19", f"{change}: killed at {found['tried']} steps, each time equal to a rebuild, 0 texts lost, 0 torn")
