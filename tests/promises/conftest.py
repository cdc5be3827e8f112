"""What the suites of the promises share."""

from __future__ import annotations

import pytest

from tests.promises.figures import Measured


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> Measured:
    """``measured("P1", "500 kills, 0 torn")`` notes the figure for the table of docs/promises.md."""
    return Measured(request.node.nodeid)
