"""P13: a root that is missing, empty or mostly gone is not "all deleted", whichever door a scan is asked for by."""

from __future__ import annotations

import asyncio
import os
import queue
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from mcp import Client

from benchmarks.scan import ROOT, own_place, run
from benchmarks.vault import Shape, make_vault
from mcpapi import server
from mcpapi.profiles import Profile
from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from tests.wiki.api.conftest import Rest
from tests.wiki.index import whole_index
from tests.wiki.test_concurrency import dump
from vault.errors import SynapseError
from wiki import jobs, tasks
from wiki.models import File, Page, Scope, VaultState
from wiki.sync import ScanReport, scan, sync_paths, watch_vault
from wiki.tokens import create_token

PAGES = figure(40, 1_000)
#: Whole folders of pages and of other files, which are moved; they are not counted.
MOVED = PAGES // 2


class Vault:
    """An indexed vault, and what can happen to its disk."""

    def __init__(self, folder: VaultFolder) -> None:
        self.folder, self.root = folder, folder.root
        for number in range(PAGES):
            folder.write(f"wiki/{'entities' if number % 2 else 'concepts'}/p{number}.md", f"{number} [[p{number + 1}]]")
        for number in range(PAGES // 4):
            folder.write(f"raw/sources/s{number}.txt", f"source {number}")
        scan()
        self.count = PAGES + PAGES // 4
        self.before = whole_index()

    def missing(self) -> None:
        os.rename(self.root, self.root.with_name("away"))

    def empty(self) -> None:
        self.missing()
        self.root.mkdir()

    def another_disk(self) -> None:
        self.empty()
        (self.root / "lost+found").mkdir()

    def all_files(self) -> None:
        for path in self.folder.files():
            (self.root / path).unlink()

    def a_folder(self) -> None:
        shutil.rmtree(self.root / "wiki/entities")

    def a_file_more_than_a_fifth(self) -> None:
        for path in self.folder.files()[: self.count // 5 + 1]:
            (self.root / path).unlink()

    def is_as_before(self) -> bool:
        deleted = Page.objects.filter(deleted_at__isnull=False).count()
        deleted += File.objects.filter(deleted_at__isnull=False).count()
        return deleted == 0 and whole_index() == self.before


#: What happens, and what the message says of it.
DISASTERS: dict[str, tuple[Callable[[Vault], None], str]] = {
    "missing": (Vault.missing, "folder is not there"),
    "empty": (Vault.empty, "folder is empty"),
    "another disk": (Vault.another_disk, "no id any more"),
    "all files gone": (Vault.all_files, "folder is empty although|files are gone"),
    "a folder gone": (Vault.a_folder, "files are gone, more than a fifth"),
    "more than a fifth": (Vault.a_file_more_than_a_fifth, "files are gone, more than a fifth"),
}
#: In these a person can say that it was on purpose; a root without its id is not the vault.
BELIEVABLE = ["all files gone", "a folder gone", "more than a fifth"]


@pytest.fixture
def vault(vault_folder: VaultFolder, transactional_db: None) -> Vault:
    return Vault(vault_folder)


def by_function(vault: Vault) -> str:
    return str(scan().stopped)


def by_a_full_pass(vault: Vault) -> str:
    return str(scan(full=True).stopped)


def by_paths(vault: Vault) -> str:
    """As the watcher tells them."""
    gone = [row["page"] for row in vault.before if "id" in row] + [row["file"] for row in vault.before if "file" in row]
    return str(sync_paths(path for path in gone if not (vault.root / path).exists()).stopped)


def by_command(vault: Vault) -> str:
    errors = StringIO()
    try:
        call_command("rescan", stdout=StringIO(), stderr=errors)
    except CommandError as error:
        return str(error)
    except SystemExit as ended:
        assert ended.code == 1
    return errors.getvalue()


def by_job(vault: Vault) -> str:
    jobs.drain()
    return str(VaultState.objects.get().last_scan.get("stopped"))


def by_rest(vault: Vault) -> str:
    answer = Rest(create_token(name="wanda", scope=Scope.WRITE)[1]).post("/sources/rescan")
    return by_job(vault) if answer.status_code == 202 else answer.json()["error"]


def by_mcp(vault: Vault) -> str:
    async def ask() -> Any:
        async with Client(server.build(Profile.STDIO).server, mode="legacy") as client:
            return await client.session.call_tool("trigger_source_rescan", {})

    answer = asyncio.run(ask())
    return answer.structured_content["error"] if answer.is_error else by_job(vault)


def by_task(vault: Vault) -> str:
    tasks.rescan()
    return str(VaultState.objects.get().last_scan.get("stopped"))


def by_watching(vault: Vault) -> str:
    stop, heard = threading.Event(), queue.Queue[ScanReport]()
    thread = threading.Thread(target=watch_vault, kwargs={"stop": stop, "heard": heard.put})
    thread.start()
    try:
        return str(heard.get(timeout=60).stopped)
    finally:
        stop.set()
        thread.join(timeout=60)


DOORS = [by_function, by_a_full_pass, by_paths, by_command, by_rest, by_mcp, by_task, by_watching]


@pytest.fixture(autouse=True)
def same_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a vault that got its id after the settings were read the command begins anew: not here."""
    monkeypatch.setattr("wiki.management.commands.rescan.ensure_vault", lambda: None)


@pytest.mark.parametrize("disaster", DISASTERS)
def test_nothing_is_deleted_and_the_reason_is_told(vault: Vault, measured: Measured, disaster: str) -> None:
    happens, said = DISASTERS[disaster]
    happens(vault)
    for door in DOORS:
        try:
            message = door(vault)
        except SynapseError as error:
            message = error.message
        assert re.search(said, message), (door.__name__, message)
        assert str(vault.root) not in message
        assert vault.is_as_before(), door.__name__
    measured("P13", f"{disaster}: {vault.count:,} files known, {len(DOORS)} doors, 0 deletions, each told why")


@pytest.mark.parametrize("disaster", BELIEVABLE)
def test_a_flag_overrides(vault: Vault, measured: Measured, disaster: str) -> None:
    DISASTERS[disaster][0](vault)
    out = StringIO()
    call_command("rescan", "--allow-deletions", stdout=out, stderr=StringIO())
    assert "deleted" in out.getvalue()
    gone = Page.objects.filter(deleted_at__isnull=False).count() + File.objects.exclude(deleted_at=None).count()
    assert gone == vault.count - len(vault.folder.files())
    measured("P13", f"{disaster}: --allow-deletions takes {gone:,} of {vault.count:,} for deleted")


def test_moves_are_not_counted_and_a_fifth_may_go(vault: Vault, measured: Measured) -> None:
    os.rename(vault.root / "wiki", vault.root / "pages")
    os.rename(vault.root / "raw/sources", vault.root / "raw/older")
    report = scan()
    assert (report.stopped, report.moved, report.deleted) == (None, PAGES, 0)
    for path in vault.folder.files()[: vault.count // 5]:
        (vault.root / path).unlink()
    assert scan().stopped is None
    live = Page.objects.live().count() + File.objects.filter(deleted_at__isnull=True).count()
    assert live == vault.count - vault.count // 5
    measured("P13", f"all {vault.count:,} files moved: no stop, 0 deletions; a fifth gone: believed")


def test_serve_says_so_and_goes_on(measured: Measured) -> None:
    """What it knew can still be read: it serves the index that it has."""
    with own_place() as environment:
        root = Path(environment["SYNAPSE_VAULT"])
        make_vault(root, 30, shape=Shape(words=(5, 9)))
        pages = run(environment, "manage.py", "rescan", "--json").answer["pages"]
        for file in root.glob("*/**/*.md"):
            file.unlink()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert process.stdout is not None
            said = next((line for line in process.stdout if "--allow-deletions" in line), "")
        finally:
            process.terminate()
            process.communicate(timeout=60)
        assert "Nothing was changed." in said
        assert str(root) not in said
        left = dump(environment)
    assert sum('"page": ' in line and '"id": ' in line for line in left) == pages
    measured("P13", f"serve on a vault whose {pages} pages are gone: told why, 0 deletions")
