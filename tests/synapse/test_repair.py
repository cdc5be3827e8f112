"""``doctor --repair`` mends each thing that a test breaks, says so, and touches no file of the user's."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from synapse.repair import repair
from tests.conftest import VaultFolder
from vault.current import current_vault
from vault.history import Author
from wiki.models import Audit, Job, Page
from wiki.search import search
from wiki.sync import scan
from wiki.vectors.stores import forget_store

pytestmark = pytest.mark.django_db

BEN = Author("ben", "command")


@pytest.fixture
def vault(vault_folder: VaultFolder) -> VaultFolder:
    vault_folder.write("wiki/concepts/bread.md", "---\ntype: concept\ntitle: Bread\n---\nFlour and water.\n")
    scan()
    return vault_folder


def files(vault: VaultFolder) -> dict[str, bytes]:
    return {path: vault.read(path) for path in vault.files() if not path.rpartition("/")[2].startswith(".")}


def break_permissions(vault: VaultFolder) -> None:
    current_vault().state.chmod(0o777)


def break_saves(vault: VaultFolder) -> None:
    vault.write("wiki/concepts/.synapse-0123456789ab.tmp", "somebody's save")


def break_lines(vault: VaultFolder) -> None:
    with (current_vault().state / "ids.jsonl").open("a") as ledger:
        ledger.write('{"path": "wiki/a.md", "id": "0d2f4c1e-77a9-4b1c-8f0e-5b8f6e0c9d22"}\n{"path": "torn\n')


def break_jobs(vault: VaultFolder) -> None:
    Job.objects.create(kind="catalog", run_after=timezone.now(), started_at=timezone.now(), attempts=1)


def break_index(vault: VaultFolder) -> None:
    Page.objects.update(content_hash="0" * 64, size=1, title="Wrong")


def break_words(vault: VaultFolder) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM wiki_words")


BROKEN = {
    "permissions": break_permissions,
    "interrupted saves": break_saves,
    "broken lines": break_lines,
    "stuck jobs": break_jobs,
    "index": break_index,
    "words": break_words,
}


@pytest.mark.parametrize("name", BROKEN)
def test_it_is_found_and_mended_and_the_users_files_stay(vault: VaultFolder, name: str) -> None:
    assert list(repair(author=BEN)) == []
    before = files(vault)
    BROKEN[name](vault)
    [planned] = [one for one in repair(author=BEN, dry_run=True) if one.name == name]
    assert planned.found and planned.does and not planned.done
    found = [one.name for one in repair(author=BEN, dry_run=True)]
    assert name in found, "a dry run changes nothing"
    assert all(one.done for one in repair(author=BEN))
    assert list(repair(author=BEN)) == []
    assert files(vault) == before
    assert [hit.page.title for hit in search("flour").hits] == ["Bread"]
    assert name in Audit.objects.filter(action="repair").latest("pk").detail["what"]


def test_saves_and_lines_are_kept(vault: VaultFolder) -> None:
    break_saves(vault)
    break_lines(vault)
    list(repair(author=BEN))
    orphans = (current_vault().state / "history" / "orphans").glob("*.md")
    assert [file.read_bytes() for file in orphans] == [b"somebody's save"]
    assert (current_vault().state / "ids.jsonl.broken").read_text() == '{"path": "torn\n'
    assert str(current_vault().ids.id_at("wiki/a.md")) == "0d2f4c1e-77a9-4b1c-8f0e-5b8f6e0c9d22"


def run(*options: str) -> tuple[int, dict[str, Any]]:
    out, code = StringIO(), 0
    try:
        call_command("doctor", "--repair", "--json", *options, stdout=out)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, json.loads(out.getvalue())


def test_the_exit_code_says_whether_something_is_left(vault: VaultFolder) -> None:
    assert run() == (0, {"repairs": [], "dry_run": False})
    break_words(vault)
    code, said = run("--dry-run")
    assert (code, [one["name"] for one in said["repairs"]]) == (1, ["words"])
    code, said = run()
    assert (code, [one["done"] for one in said["repairs"]]) == (0, [True])


def test_a_qdrant_that_does_not_answer_is_not_taken_for_one_that_lacks_nothing(
    vault: VaultFolder, settings: Any, closed_port: int
) -> None:
    """Nor where there is no vector yet that it could lack."""
    settings.QDRANT_URL = f"http://127.0.0.1:{closed_port}"
    forget_store()
    try:
        code, said = run()
    finally:
        settings.QDRANT_URL = ""
        forget_store()
    [one] = said["repairs"]
    assert code == 1 and one["name"] == "vectors" and not one["done"] and "QDRANT_URL" in one["found"]


def test_what_cannot_be_mended_is_left_and_said(vault: VaultFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        vault.write(f"notes/{number}.md", "note")
    scan()
    for number in range(20):
        (vault.root / f"notes/{number}.md").unlink()
    code, said = run()
    [one] = said["repairs"]
    assert code == 1 and one["name"] == "index" and not one["done"]
    assert Page.objects.live().count() == 21, "nothing counts as deleted"
