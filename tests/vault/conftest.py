"""Fixtures of the tests of the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.places import MECHANISMS, Place


@pytest.fixture(params=MECHANISMS, ids=lambda mechanism: mechanism.value)
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """A vault with a secret beside it, once for each way to stay inside."""
    return Place(tmp_path, request.param)
