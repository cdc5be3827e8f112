"""Celery's application: what each task promises, when it is asked for, and what is said of one that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import json, django
django.setup()
from synapse.celery import SCHEDULE, app
app.loader.import_default_modules()
beat = app.conf.beat_schedule
ours = {name: task for name, task in app.tasks.items() if not name.startswith("celery.")}
names = ("acks_late", "reject_on_worker_lost", "ignore_result", "max_retries", "retry_backoff", "time_limit",
         "soft_time_limit", "serializer")
conf = ("accept_content", "task_serializer", "result_backend", "task_ignore_result", "task_publish_retry")
print(json.dumps({
    "schedule": SCHEDULE,
    "tasks": {name: {key: getattr(task, key) for key in names} for name, task in ours.items()},
    "conf": {key: app.conf[key] for key in conf},
    "beat": {name: [entry["task"], entry["schedule"], entry["options"]] for name, entry in beat.items()},
    "visibility": app.conf.broker_transport_options["visibility_timeout"],
}))
"""
FAIL = """
import django
django.setup()
from synapse.celery import app
from celery import shared_task

@shared_task(name="breaks")
def breaks():
    raise RuntimeError("words of a page in /home/alice/vault")

breaks.apply()
"""


def environment(folder: Path, broker: str = "redis://:hidden-word@127.0.0.1:1/0") -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "CELERY"))}
    # As the first scan makes it: Django 6.1 opens the database to check the models.
    (folder / "data" / "no-vault").mkdir(parents=True, exist_ok=True)
    return kept | {
        "SYNAPSE_DATA": str(folder / "data"),
        "SYNAPSE_VAULT": str(folder / "vault"),
        "SYNAPSE_SECRET_KEY": "x" * 40,
        "DJANGO_SETTINGS_MODULE": "synapse.settings",
        "CELERY_BROKER_URL": broker,
    }


def run(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = run(ASK, environment(tmp_path_factory.mktemp("celery")))
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_all_tasks_are_safe_to_run_again(application: dict[str, Any]) -> None:
    for name, task in application["tasks"].items():
        assert task["acks_late"] and task["reject_on_worker_lost"] and task["ignore_result"], name
        assert 0 < task["max_retries"] <= 5 and task["retry_backoff"], name
        assert 0 < task["soft_time_limit"] < task["time_limit"] < application["visibility"], name
        assert task["serializer"] == "json"


def test_beat_asks_for_every_task(application: dict[str, Any]) -> None:
    assert set(application["schedule"]) == set(application["tasks"])
    asked = {task: (seconds, options) for task, seconds, options in application["beat"].values()}
    assert {task: seconds for task, (seconds, _) in asked.items()} == application["schedule"]
    assert all(options["expires"] >= seconds for seconds, options in asked.values())


def test_nothing_is_kept_and_only_json_is_taken(application: dict[str, Any]) -> None:
    assert application["conf"] == {
        "accept_content": ["json"],
        "task_serializer": "json",
        "result_backend": None,
        "task_ignore_result": True,
        "task_publish_retry": False,
    }


def test_a_failure_is_told_without_its_text(tmp_path: Path) -> None:
    done = run(FAIL, environment(tmp_path))
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["message"], line["reason"]) for line in lines] == [("task failed: breaks", "RuntimeError")]
    assert "alice" not in done.stderr and "words" not in done.stderr


def test_a_worker_without_a_broker_says_what_is_missing(tmp_path: Path) -> None:
    done = run("import synapse.celery", environment(tmp_path, ""))
    assert done.returncode == 1
    assert "CELERY_BROKER_URL is not set" in done.stderr


@pytest.mark.parametrize(
    ("address", "well"),
    [
        ("", True),
        ("redis://127.0.0.1:6379/0", True),
        ("rediss://user:word@redis.example.org:6380/15", True),
        ("redis://redis", True),
        ("127.0.0.1:6379", False),
        ("http://127.0.0.1:6379", False),
        ("redis://", False),
        ("redis://host:port/0", False),
        ("redis://host/name", False),
        ("amqp://host", False),
    ],
)
def test_an_address_that_is_none_is_explained(settings: Any, address: str, well: bool) -> None:
    settings.CELERY_BROKER_URL = address
    found = [message for message in run_checks(tags=["synapse"]) if message.id == "synapse.E030"]
    assert (found == []) is well


def test_no_module_comes_from_the_folder_a_process_was_started_in(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    code = (
        "import sys; sys.path.remove(''); import django; django.setup(); import synapse.celery; import os; "
        "print(os.getcwd() in sys.path)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=environment(tmp_path) | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert answer.stdout.strip() == "False"


def test_celerys_own_program_finds_every_task(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("celery")
    if not program.exists():
        pytest.skip("Celery's program is not beside this Python")
    answer = subprocess.run(
        [program, "--app", "synapse", "report"],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "software -> celery" in answer.stdout and "Traceback" not in answer.stderr
