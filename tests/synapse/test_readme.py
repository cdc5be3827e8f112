"""Every command that the README shows works on a new vault, as it is written there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ".venv/bin/python manage.py "


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a new user: a starter vault and an index."""
    folder = tmp_path_factory.mktemp("home")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SYNAPSE_", "MCP_", "DATABASE"))}
    environment = {**clean, "SYNAPSE_VAULT": str(folder / "vault"), "SYNAPSE_DATA": str(folder / "data")}
    for command in ("init_vault", "rescan"):
        subprocess.run(
            [sys.executable, "manage.py", command], cwd=ROOT, env=environment, check=True, capture_output=True
        )
    return environment


def test_the_readme_names_the_two_commands() -> None:
    assert {"make serve", "make test"} <= set(commands())


@pytest.mark.parametrize("command", [line for line in commands() if line.startswith(PROGRAM)])
def test_a_command_of_the_readme_works(command: str, home: dict[str, str]) -> None:
    words = shlex.split(command.removeprefix(PROGRAM))
    done = subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip(), "a command says what it did"


@pytest.mark.parametrize("command", [line for line in commands() if "make " in line])
def test_a_target_of_the_readme_exists(command: str) -> None:
    target = command.partition("make ")[2].split()[0]
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_each_command_of_the_readme_is_one_of_these_kinds() -> None:
    assert [line for line in commands() if not line.startswith(PROGRAM) and "make " not in line] == []


def test_links_of_the_documents_lead_to_files() -> None:
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(r"`[^`\n]*`|^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"
