"""The settings of a test run: never the vault, data or secrets of the person who starts it.

pytest-django reads the settings before any conftest is imported, so the environment is prepared here.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_HOME = tempfile.mkdtemp(prefix="synapse-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith(("SYNAPSE_", "MCP_", "EMBED", "CELERY", "QDRANT_"))]:
    if not _name.startswith(("SYNAPSE_TEST_", "SYNAPSE_PROMISES")):  # what the tests themselves read
        del os.environ[_name]
os.environ["SYNAPSE_DATA"] = str(Path(_HOME) / "data")
os.environ["SYNAPSE_VAULT"] = str(Path(_HOME) / "vault")
os.environ["SYNAPSE_SECRET_KEY"] = "only-for-tests-only-for-tests-only-for-tests"
os.environ["SYNAPSE_LOG_LEVEL"] = "WARNING"
os.environ["EMBEDDINGS_ENABLED"] = "false"  # a test that is about meaning turns it on (tests/embedding.py)
os.environ["SYNAPSE_TELEMETRY"] = "false"  # tests of it turn it on: its thread would write into another test's rows
# A test that is about a limit sets it.
for _name in ("RATE", "WRITES", "DECISIONS", "STRANGERS", "LOGINS", "REGISTRATIONS"):
    os.environ[f"SYNAPSE_{_name}_PER_MINUTE"] = "0"
if os.environ.get("SYNAPSE_TEST_DATABASE_URL"):
    os.environ["DATABASE_URL"] = os.environ["SYNAPSE_TEST_DATABASE_URL"]
else:
    os.environ.pop("DATABASE_URL", None)

# Processes that the tests start read the real settings, from the environment that each is given.
os.environ["DJANGO_SETTINGS_MODULE"] = "synapse.settings"

from synapse.settings import *  # noqa: E402, F403

Path(os.environ["SYNAPSE_DATA"], "static").mkdir(parents=True)  # its absence would be warned of in every test
