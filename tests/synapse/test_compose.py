"""compose.yaml and the Dockerfile say what is true: no container engine runs here, so they are read and compared."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.synapse.test_configuration_doc import documented

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ["web", "worker", "beat", "watcher"]
ENGINES = ["postgres", "redis", "qdrant"]
#: What compose.yaml itself asks for, beside our own settings.
OF_COMPOSE = {"VAULT_DIR", "SYNAPSE_UID", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
VARIABLE = re.compile(r"(?<!\$)\$\{(?P<name>[A-Z_]+)(?P<rest>[^}]*)\}")


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [str(value)]


def test_all_parts_are_there() -> None:
    assert list(SERVICES) == [*OURS, *ENGINES]


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_runs_a_command_that_exists(name: str) -> None:
    command = SERVICES[name]["command"]
    if command[0] == "celery":
        assert [point.value for point in entry_points(group="console_scripts", name="celery")] == [
            "celery.__main__:main"
        ]
        from celery.bin.celery import celery

        assert command[1:3] == ["--app", "synapse"] and (ROOT / "synapse" / "celery.py").exists()
        sub = celery.commands[command[3]]
        known = {option for parameter in sub.params for option in parameter.opts}
        assert {word for word in command[4:] if word.startswith("--")} <= known
    else:
        assert command[:2] == ["python", "manage.py"]
        loaded = load_command_class(get_commands()[command[2]], command[2])
        loaded.create_parser("manage.py", command[2]).parse_args(command[3:])


def test_each_does_what_it_is_named_after() -> None:
    assert SERVICES["web"]["command"][2] == "serve" and "--no-watch" in SERVICES["web"]["command"]
    assert "worker" in SERVICES["worker"]["command"] and "beat" in SERVICES["beat"]["command"]
    assert SERVICES["watcher"]["command"][2:4] == ["rescan", "--watch"]


@pytest.mark.parametrize("name", OURS)
def test_settings_are_those_of_the_table(name: str) -> None:
    given = SERVICES[name]["environment"]
    assert set(given) <= set(documented())
    assert {"DATABASE_URL", "CELERY_BROKER_URL", "QDRANT_URL", "SYNAPSE_SECRET_KEY", "SYNAPSE_VAULT"} <= set(given)
    for setting in set(given) & set(SERVICES["worker"]["environment"]):
        assert given[setting] == SERVICES["worker"]["environment"][setting], "all have the same settings"


def test_addresses_lead_to_the_engines() -> None:
    given = SERVICES["worker"]["environment"]
    for setting, host in (("DATABASE_URL", "postgres"), ("CELERY_BROKER_URL", "redis"), ("QDRANT_URL", "qdrant")):
        bare = VARIABLE.sub("word", given[setting])
        assert re.fullmatch(rf"[a-z]+://(?:\w*:\w+@)?{host}:\d+(?:/\w+)?", bare), bare


def test_variables_are_settings_or_explained() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    for found in VARIABLE.finditer(text):
        name, rest = found["name"], found["rest"]
        assert name in OF_COMPOSE or name in documented()
        if re.search(r"PASSWORD|KEY|VAULT_DIR", name):
            assert rest.startswith(":?") and len(rest) > 2, f"{name} has no default, and says what it is"
            assert f"{name}=" in guide


def test_no_secret_stands_in_the_file() -> None:
    for service in SERVICES.values():
        for name, value in service["environment"].items():
            if re.search(r"PASSWORD|KEY|_URL$", name):
                outside = VARIABLE.sub("", str(value))
                assert not re.search(r":[^/@:]+@", outside) and (name.endswith("_URL") or outside == ""), name


@pytest.mark.parametrize("name", ENGINES)
def test_images_are_of_one_release_line(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].rpartition(":")
    assert image and re.fullmatch(r"v?\d+(?:\.\d+)*", tag)


def test_nothing_is_reached_from_other_machines() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["web"]["ports"])


def test_who_starts_after_whom() -> None:
    assert set(SERVICES["web"]["depends_on"]) == set(ENGINES)
    for name in OURS[1:]:
        assert SERVICES[name]["depends_on"] == {"web": {"condition": "service_healthy"}}
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other]


def test_the_check_of_health_asks_for_an_address_that_exists(client: Any, db: None) -> None:
    (address,) = re.findall(r"http://127\.0\.0\.1:8000(/[\w/]+)", " ".join(SERVICES["web"]["healthcheck"]["test"]))
    assert client.get(address).status_code in (200, 503)


def test_volumes_are_declared_and_the_vault_is_mounted() -> None:
    named = {volume.partition(":")[0] for service in SERVICES.values() for volume in service.get("volumes", [])}
    assert {name for name in named if not name.startswith("$")} == set(COMPOSE["volumes"])
    for name in OURS:
        targets = {volume.rpartition(":")[2] for volume in SERVICES[name]["volumes"]}
        given = SERVICES[name]["environment"]
        assert targets == {given["SYNAPSE_VAULT"], given["SYNAPSE_DATA"]}


@pytest.mark.parametrize("name", OURS)
def test_ours_can_do_little_to_the_machine(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"] and service["read_only"] and not service.get("privileged")
    assert "user" not in service, "the image's own"


def test_the_dockerfile_copies_what_there_is_and_what_runs() -> None:
    copied = [shlex.split(rest) for name, rest in instructions() if name == "COPY"]
    sources = {source for words in copied for source in words[:-1]}
    assert all((ROOT / source).exists() for source in sources)
    rooms = {folder.parent.name for folder in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert sources == rooms | {"requirements.txt", "manage.py"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert {line[1:] for line in ignored if line.startswith("!")} == sources


def test_the_dockerfile_ends_as_a_user_without_rights() -> None:
    said = instructions()
    assert re.fullmatch(r"python:3\.1[1-9]-slim", said[0][1])
    users = [rest for name, rest in said if name == "USER"]
    assert users and users[-1] not in ("root", "0")
    assert [name for name, _ in said if name in ("CMD", "ENTRYPOINT")] == ["CMD"]
    given = SERVICES["web"]["environment"]
    environment = " ".join(rest for name, rest in said if name == "ENV")
    assert f"SYNAPSE_VAULT={given['SYNAPSE_VAULT']}" in environment
    assert f"SYNAPSE_DATA={given['SYNAPSE_DATA']}" in environment


def test_the_schedule_of_the_guide_is_that_of_beat() -> None:
    guide = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+\.tasks\.\w+)` \| (\d+) (s|min|h) \|", guide, re.MULTILINE)
    seconds = {"s": 1, "min": 60, "h": 3_600}
    told = {task: float(number) * seconds[unit] for task, number, unit in rows}
    source = (ROOT / "synapse" / "celery.py").read_text(encoding="utf-8")
    held = {task: float(number) for task, number in re.findall(r'"(\w+\.tasks\.\w+)": ([\d_.]+),', source)}
    assert told == held
