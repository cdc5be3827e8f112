"""Holding a process at one place of its work until it is killed or let go on, so that tests kill where they mean to.

``SYNAPSE_TEST_GATE`` names a function (``wiki.sync.steps:ScanRun._write``) and ``SYNAPSE_TEST_GATE_FOLDER`` a folder.
After the function's first call the process leaves a file ``reached`` there, and waits as long as there is none named
``open``. ``celery -A tests.services.gate worker`` is a worker like ours with that gate.
"""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Any


def install() -> None:
    """Put the gate up, if the environment names one."""
    named, folder = os.environ.get("SYNAPSE_TEST_GATE"), os.environ.get("SYNAPSE_TEST_GATE_FOLDER")
    if not named or not folder:
        return
    module, _, path = named.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    original = getattr(owner, name)

    def gated(*args: Any, **kwargs: Any) -> Any:
        answer = original(*args, **kwargs)
        wait(Path(folder))
        return answer

    setattr(owner, name, gated)


def wait(folder: Path) -> None:
    """Say that the place is reached, and wait there; a test that fails ends it in a minute."""
    (folder / "reached").touch()
    until = time.monotonic() + 60
    while not (folder / "open").exists() and time.monotonic() < until:
        time.sleep(0.02)


if os.environ.get("CELERY_BROKER_URL"):
    from celery import signals

    from synapse.celery import app  # noqa: F401

    @signals.worker_init.connect
    def _install(**_: Any) -> None:
        install()
