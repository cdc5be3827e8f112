"""Processes that work at once, or are killed at work, leave the index that the files make (P18, P19, P25)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.scan import ROOT, own_place, run
from benchmarks.vault import Shape, make_vault

WRITER = """
import os, random, sys
import django; django.setup()
from pathlib import Path
from django.conf import settings
from django.db import transaction
from vault.current import current_vault
from wiki.binding import bump_data_version
from wiki.models import Page
from wiki.sync import index_page, unindex_page
number, rounds = int(sys.argv[1]), int(sys.argv[2])
chance, vault, root = random.Random(number), current_vault(), Path(settings.SYNAPSE_VAULT)
for turn in range(rounds):
    name = f"p{chance.randrange(10)}"
    path = f"wiki/{name}.md"
    with vault.lock(name):
        page = Page.objects.live().filter(path=path).first()
        if page and chance.random() < 0.15:
            (root / path).unlink()
            with transaction.atomic():
                unindex_page(page)
                bump_data_version()
            continue
        links = " ".join(f"[[p{chance.randrange(12)}]] [[alias {chance.randrange(6)}]]" for _ in range(3))
        beside = root / f"wiki/.{number}"
        beside.write_text(f"---\\naliases: [alias {chance.randrange(6)}]\\n---\\n{links} {number} {turn}")
        os.replace(beside, root / path)
        page_id = vault.ids.id_for(path, lambda uid: Page.objects.live().filter(uid=uid).exclude(path=path).exists())
        with transaction.atomic():
            index_page(page_id=page_id, path=path, read=vault.read(path))
            bump_data_version()
"""
SCANNER = """
import sys
import django; django.setup()
from wiki.sync import scan
for _ in range(int(sys.argv[2])):
    scan(allow_deletions=True)
"""


@pytest.mark.slow
def test_writers_and_scans_at_once() -> None:
    with own_place() as environment:
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--json")
        jobs = [(WRITER, number) for number in range(8)] + [(SCANNER, 8), (SCANNER, 9)]
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", program, str(number), "20"],
                cwd=ROOT,
                env=environment,
                stderr=subprocess.PIPE,
                text=True,
            )
            for program, number in jobs
        ]
        for process in processes:
            _, errors = process.communicate(timeout=300)
            assert (process.returncode, errors) == (0, "")
        run(environment, "manage.py", "rescan", "--json")
        kept = dump(environment)
        assert len(kept) > 20
        assert dump_made_anew(environment) == kept


@pytest.mark.slow
def test_a_scan_that_is_killed_is_finished_by_the_next() -> None:
    with own_place() as environment:
        root = Path(environment["SYNAPSE_VAULT"])
        make_vault(root, 400, shape=Shape(words=(20, 60)))
        run(environment, "manage.py", "init_vault")
        run(environment, "manage.py", "rescan", "--dry-run", "--json")
        chance = random.Random(5)
        killed = 0
        for number in range(8):
            make_vault(root, 400, seed=number, shape=Shape(words=(20, 60)))
            process = subprocess.Popen(
                [sys.executable, "-c", SCANNER, "0", "1"], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
            )
            time.sleep(0.4 + chance.random())
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        assert killed > 3
        run(environment, "manage.py", "rescan", "--allow-deletions", "--json")
        kept = dump(environment)
        assert sum('"page": ' in line for line in kept) > 400
        assert dump_made_anew(environment) == kept


def dump_made_anew(environment: dict[str, str]) -> list[str]:
    """The index that another database gets from the vault alone; it is of the built-in kind, whatever the first is."""
    anew = environment | {"SYNAPSE_DATA": environment["SYNAPSE_DATA"] + "-anew"}
    anew.pop("DATABASE_URL", None)
    run(anew, "manage.py", "rescan", "--json")
    return dump(anew)


def dump(environment: dict[str, str]) -> list[str]:
    """The lines of ``dump_index``."""
    command = [sys.executable, "manage.py", "dump_index"]
    output = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    return output.splitlines()
