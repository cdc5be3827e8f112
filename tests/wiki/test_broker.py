"""Telling Celery's workers: never at the cost of whoever tells, and only where a broker is named."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from wiki import broker

ROOT = Path(__file__).resolve().parents[2]


class Sent:
    """A task that counts, fails or hangs when it is published."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.fails: Exception | None = None
        self.hold = threading.Event()
        self.hold.set()
        self.begun = threading.Event()

    def signature(self) -> Sent:
        return self

    def apply_async(self, **options: Any) -> None:
        self.begun.set()
        self.hold.wait(10)
        if self.fails:
            raise self.fails
        self.messages.append(options)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Sent:
    task = Sent()
    settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(broker, "import_string", lambda path: task)
    monkeypatch.setattr(broker, "_current", None)
    monkeypatch.setattr(broker, "GATHER_SECONDS", 0.0)
    monkeypatch.setattr(broker, "PAUSE_SECONDS", 0.0)
    return task


def test_without_a_broker_nothing_is_told(sent: Sent, settings: Any) -> None:
    settings.CELERY_BROKER_URL = ""
    broker.tell(broker.DRAIN)
    assert broker.flush() and sent.messages == []


def test_a_telling_becomes_a_message_that_expires(sent: Sent) -> None:
    broker.tell(broker.DRAIN, delay=1.5)
    assert broker.flush(10)
    (message,) = sent.messages
    assert message["countdown"] == 2
    assert 0 < message["expires"] - time.time() <= 2 + broker.EXPIRE_SECONDS


def test_what_is_told_while_one_is_sent_becomes_one_message(sent: Sent) -> None:
    sent.hold.clear()
    broker.tell(broker.DRAIN)
    assert sent.begun.wait(10)
    for _ in range(100):
        broker.tell(broker.DRAIN)
    assert not broker.flush(0), "and nobody waits for the one that hangs"
    sent.hold.set()
    assert broker.flush(10)
    assert len(sent.messages) == 2


def test_a_failure_is_said_once_and_costs_nobody(sent: Sent, caplog: pytest.LogCaptureFixture) -> None:
    sent.fails = OSError("a secret of the address")
    for _ in range(3):
        broker.tell(broker.DRAIN)
        assert broker.flush(10)
    sent.fails = None
    broker.tell(broker.DRAIN)
    assert broker.flush(10)
    said = [record.getMessage() for record in caplog.records if record.name == "wiki.broker"]
    assert said == [
        "the broker can't be told of work; it waits for beat",
        "the broker can be told of work again",
    ]
    assert "secret" not in caplog.text
    assert len(sent.messages) == 1


def test_what_is_due_later_is_left_to_beat(sent: Sent) -> None:
    broker.tell(broker.DRAIN, delay=broker.LONGEST_DELAY + 1)
    assert broker.flush() and sent.messages == []


def in_process(code: str, broker_url: str, folder: Path) -> Any:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "CELERY"))}
    environment |= {
        "SYNAPSE_DATA": str(folder / "data"),
        "SYNAPSE_VAULT": str(folder / "vault"),
        "SYNAPSE_SECRET_KEY": "x" * 40,
        "DJANGO_SETTINGS_MODULE": "synapse.settings",
        **({"CELERY_BROKER_URL": broker_url} if broker_url else {}),
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import django, json, sys; django.setup()\n{code}"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


LOADED = """
import mcpapi.stdio, synapse.urls, wiki.embedding.thread
from wiki import broker
broker.tell(broker.DRAIN)
print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} & {'celery', 'kombu', 'redis'})))
"""


def test_without_a_broker_celery_is_not_imported(tmp_path: Path) -> None:
    assert in_process(LOADED, "", tmp_path) == []


HANGS = """
import time
from wiki import broker
begun = time.perf_counter()
broker.tell(broker.DRAIN)
told = time.perf_counter() - begun
flushed = broker.flush(1.0)
print(json.dumps([told, flushed, time.perf_counter() - begun]))
"""


def test_a_broker_that_takes_calls_and_says_nothing_holds_nobody_up(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=50) as mute:
        told, flushed, all_of_it = in_process(HANGS, f"redis://127.0.0.1:{mute.getsockname()[1]}/0", tmp_path)
    assert told < 1.0
    assert not flushed and all_of_it < 5.0
