"""A vault and a database for one run: nothing of the user's is read or touched."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_database(name: str) -> Iterator[str]:
    """Set Django up over a temporary vault and a migrated, empty database; yields the database's vendor.

    On SQLite the database is a file in a temporary folder. With DATABASE_URL naming a
    PostgreSQL server it is a new database there, ``name`` and the process id, dropped at the end.
    """
    with tempfile.TemporaryDirectory(prefix="synapse-bench-") as folder:
        root = Path(folder)
        (root / "vault" / "wiki").mkdir(parents=True)
        os.environ["SYNAPSE_VAULT"], os.environ["SYNAPSE_DATA"] = str(root / "vault"), str(root / "data")
        os.environ["SYNAPSE_SECRET_KEY"], os.environ["DJANGO_SETTINGS_MODULE"] = "bench" * 12, "synapse.settings"
        os.environ.setdefault("SYNAPSE_LOG_LEVEL", "WARNING")
        import django

        django.setup()
        from django.db import connection

        connection.settings_dict["TEST"]["NAME"] = (
            str(root / "index.sqlite3") if connection.vendor == "sqlite" else f"{name}_{os.getpid()}"
        )
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield connection.vendor
        finally:
            connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)
