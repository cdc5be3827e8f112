"""The database backend of ``ENGINE = "synapse.sqlite"``."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.db.backends.sqlite3 import base, features
from django.utils.functional import cached_property

_PAUSE: Final = 0.005


class DatabaseFeatures(features.DatabaseFeatures):
    """Django's own. What the library can do is asked of the library, and of no index, which may not be made yet."""

    @cached_property
    def supports_json_field(self) -> bool:  # type: ignore[override]
        """Whether SQLite has its JSON functions. Django's checks of models ask, before any other command too."""
        try:
            sqlite3.connect(":memory:").execute("SELECT JSON('{}')").connection.close()
        except sqlite3.OperationalError:
            return False
        return True


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, where only one process or thread at a time asks SQLite for leave to write.

    Whoever waits for another writer asks SQLite again, the more seldom the longer it has waited: newcomers get in
    before it, and of twelve that write without a pause one waited 20 seconds. Here all but the first ask for their turn
    instead, each as often as the others, and the first has SQLite to itself.
    """

    features_class = DatabaseFeatures

    def _start_transaction_under_autocommit(self) -> None:
        with self._turn():
            super()._start_transaction_under_autocommit()  # type: ignore[misc]  # Django's stubs lack it

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A lock on the folder of the database; the kernel frees it when its holder dies.

        Waits no longer than SQLite would. After that, and where the folder can't be locked, it is as without turns.
        """
        folder = None
        try:
            if not self.is_in_memory_db():
                folder = os.open(Path(self.settings_dict["NAME"]).parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                (milliseconds,) = self.connection.execute("PRAGMA busy_timeout").fetchone()
                _lock(folder, time.monotonic() + milliseconds / 1_000)
        except OSError:
            pass
        try:
            yield
        finally:
            if folder is not None:
                try:
                    fcntl.flock(folder, fcntl.LOCK_UN)  # a child forked meanwhile has a copy, which would keep it
                finally:
                    os.close(folder)


def _lock(folder: int, until: float) -> None:
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return
            time.sleep(_PAUSE)
        else:
            return
