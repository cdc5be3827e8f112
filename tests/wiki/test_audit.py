"""Each write has an audit row that says who and through which door.

Everything that can be called to change something is read out of the code: services, tools, commands. What is not in a
table here fails, so that nobody adds a way to write without saying which row it leaves.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

import reviews.services
import wiki.services
from mcpapi.registry import TOOLS
from reviews.models import ResearchRun, ReviewItem
from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from vault import drafts
from vault.current import current_vault
from vault.errors import SynapseError
from vault.history import Author
from wiki import audit, binding, services, tokens
from wiki.models import Audit, VaultState
from wiki.services import page_by_title

pytestmark = pytest.mark.django_db

BEN = Author("user:ben", "admin")
#: What only reads, or writes what is made from files, and what is no function.
READS = {
    "wiki": {
        *("Composed", "PageWritten", "Renamed", "Trouble", "compose_page", "draft_list", "draft_text", "history_pages"),
        *("page_at", "page_of_draft", "page_version"),
        *("list_pages", "list_sources", "page_by_id", "page_by_title", "page_content", "page_history", "page_ref"),
        *("read_page", "read_source", "readiness", "request_rescan", "status", "troubles"),
    },
    "reviews": {
        *("BulkOutcome", "Filed", "Finding", "Imported", "Outcome", "Resolved", "export_lines", "get_item"),
        *("held_back", "item_as_dict", "item_detail", "list_items", "list_runs", "parse_items"),
    },
}
#: Writes whose row another one of the table makes, and why; or that belong to the index.
THROUGH = {
    "write_composed": "reviews: create",
    "draft_apply": "the write itself",
    "close": "a rule closes what is no longer true; the item's events say so",
    "forget_all": "adopt, of which it is a part",
    "open_run": "resolve: deep-research",
    "file": "propose; what rules file is told by the items' events",
    "stage_write": "propose",
    "import_lines": "its own row, tested where the export is",
    "expire_drafts": "tested below with prune",
}


def page(claude: Writer) -> Any:
    claude.write("Ada", "One.\n")
    return page_by_title("Ada")


def twice(claude: Writer) -> Any:
    page(claude)
    claude.write("Ada", "Two.\n")
    return page_by_title("Ada")


def an_item(author: Author) -> ReviewItem:
    item = {"item_type": "suggestion", "title": "Look at this", "rationale": "Because."}
    answer = reviews.services.propose(items=[item], author=author)
    assert answer["filed"], answer
    return ReviewItem.objects.latest("created_at")


def a_run(settings: Any, author: Author) -> ResearchRun:
    settings.SYNAPSE_RESEARCH_BACKEND = "agent"
    reviews.services.resolve(item_id=an_item(author).pk, action="deep-research", author=author)
    return ResearchRun.objects.get()


def held(settings: Any) -> ResearchRun:
    run = a_run(settings, BEN)
    reviews.services.claim_run(run_id=run.pk, author=BEN)
    return run


def old_draft(settings: Any) -> None:
    drafts.keep(current_vault(), path="wiki/a.md", data=b"x", author=BEN, reason="conflict")


FRONT = {"type": "concept", "title": "New", "sources": ["raw/sources/a.md"], "lang": "en"}
SCENARIOS: dict[str, Callable[[Writer, Any], Any]] = {
    "write_page": lambda w, s: services.write_page(title="New", content="x", frontmatter=FRONT, author=BEN),
    "create_page": lambda w, s: services.create_page(title="New", content="x", frontmatter=FRONT, author=BEN),
    "put_page": lambda w, s: services.put_page(
        page=page(w), text="---\ntitle: Ada\n---\nTwo.\n", base_hash=page_by_title("Ada").content_hash, author=BEN
    ),
    "page_delete": lambda w, s: services.page_delete(page=page(w), base_hash=_base(), author=BEN),
    "page_move": lambda w, s: services.page_move(page=page(w), path="wiki/concepts/b.md", author=BEN),
    "page_retitle": lambda w, s: services.page_retitle(page=page(w), title="Bea", base_hash=_base(), author=BEN),
    "page_restore": lambda w, s: services.page_restore(page=twice(w), version=1, base_hash=_base(), author=BEN),
    "draft_drop": lambda w, s: (
        old_draft(s),
        services.draft_drop(draft_id=services.draft_list()[0]["id"], author=BEN),
    ),
    "propose": lambda w, s: an_item(BEN),
    "resolve": lambda w, s: reviews.services.resolve(item_id=an_item(BEN).pk, action="dismiss", author=BEN),
    "bulk": lambda w, s: reviews.services.bulk(ids=[str(an_item(BEN).pk)], action="skip", author=BEN),
    "reopen": lambda w, s: _reopened(),
    "claim_run": lambda w, s: held(s),
    "complete_run": lambda w, s: reviews.services.complete_run(run_id=held(s).pk, page_id=page(w).uid, author=BEN),
    "fail_run": lambda w, s: reviews.services.fail_run(run_id=held(s).pk, author=BEN),
    "create_token": lambda w, s: tokens.create_token(name="laptop", author=BEN),
    "revoke_token": lambda w, s: _revoked(),
    "revoke_tokens": lambda w, s: tokens.revoke_tokens(pks=[tokens.create_token(name="x")[0].pk], author=BEN),
    "adopt": lambda w, s: (VaultState.objects.update(root="/elsewhere"), binding.adopt(author=BEN)),
    "prune_history": lambda w, s: _pruned(w),
}
ACTION = {
    "write_page": "write",
    "create_page": "write",
    "put_page": "write",
    "draft_drop": "drop-draft",
    "propose": "file",
    "resolve": "decide",
    "bulk": "decide",
    "claim_run": "research",
    "complete_run": "research",
    "fail_run": "research",
    "create_token": "token",
    "revoke_token": "revoke",
    "revoke_tokens": "revoke",
    "prune_history": "prune",
}


def _base() -> str:
    return str(page_by_title("Ada").content_hash)


def _reopened() -> None:
    item = an_item(BEN)
    reviews.services.resolve(item_id=item.pk, action="dismiss", author=BEN)
    reviews.services.reopen(item_id=item.pk, author=BEN)


def _revoked() -> None:
    tokens.create_token(name="laptop")
    assert tokens.revoke_token(name="laptop", author=BEN) == 1


def _pruned(writer: Writer) -> None:
    from vault.writing import pruning

    for text in ("One.\n", "Two.\n", "Three.\n"):
        writer.write("Ada", text)
    services.prune_history(author=BEN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "_advance", lambda *_, **__: 100 * 86_400.0)
        assert services.prune_history(author=BEN).removed


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_write_says_who_and_through_which_door(
    vault_folder: VaultFolder, claude: Writer, settings: Any, name: str
) -> None:
    before = set(Audit.objects.values_list("pk", flat=True))
    SCENARIOS[name](claude, settings)
    rows = Audit.objects.exclude(pk__in=before).filter(actor=BEN.name, door=BEN.door)
    wanted = ACTION.get(name, name.removeprefix("page_"))
    assert wanted in rows.values_list("action", flat=True) or (
        name in ("write_page", "create_page") and rows.filter(action="create").exists()
    )


@pytest.mark.parametrize("room", ["wiki", "reviews"])
def test_no_service_is_in_no_table(room: str) -> None:
    module = {"wiki": wiki.services, "reviews": reviews.services}[room]
    assert set(module.__all__) - READS[room] - set(SCENARIOS) - set(THROUGH) == set()
    assert READS[room] - set(module.__all__) == set()


#: The tools that write, and the services that leave their rows.
TOOLS_THAT_WRITE = {
    "write_page": "write_page",
    "propose_review": "propose",
    "resolve_review": "resolve",
    "trigger_source_rescan": "",  # asks for a look at the files
}


def test_no_tool_that_writes_is_in_no_table() -> None:
    writing = {tool.name for tool in TOOLS if tool.writes}
    assert writing == set(TOOLS_THAT_WRITE)
    assert all(not service or service in SCENARIOS for service in TOOLS_THAT_WRITE.values())


#: Commands by what they leave: a row, through which service; or none, because they only read or make from files.
COMMANDS = {
    "page": "write_page page_move page_retitle page_delete page_restore",
    "history": "page_restore prune_history",
    "drafts": "draft_drop draft_apply",
    "reviews": "resolve import_lines",
    "token": "create_token revoke_token",
    "doctor": "adopt",
    "embedding": "a row of its own",
    "reembed": "a row of its own",
    "backup": "a row of its own",
    "restore": "a row of its own",
    **dict.fromkeys(
        (
            *("audit", "catalog", "dump_index", "export_links", "init_vault", "layout", "prime", "rescan", "retrieve"),
            *("search", "vectors", "mcp", "mcp_contract", "mcp_stats", "serve", "migrate"),
        ),
        "",
    ),
}


def test_no_command_is_in_no_table() -> None:
    base = Path(django_settings.BASE_DIR)
    there = {
        file.stem
        for room in ("wiki", "reviews", "mcpapi", "synapse")
        for file in (base / room / "management" / "commands").glob("*.py")
        if file.stem != "__init__"
    }
    assert there <= set(COMMANDS)


# --- doors that are none of these ---


def test_what_the_admin_does_to_tokens_and_accounts(vault_folder: VaultFolder) -> None:
    User.objects.create_superuser("ann", password="a long password")
    client = Client()
    client.login(username="ann", password="a long password")
    client.post("/admin/wiki/token/add/", {"name": "phone", "scope": "read"})
    names = {"username": "zoe", "password1": "quite another one", "password2": "quite another one"}
    client.post("/admin/auth/user/add/", {**names, "usable_password": "true"})
    zoe = User.objects.get(username="zoe")
    client.post(f"/admin/auth/user/{zoe.pk}/delete/", {"post": "yes"})
    rows = Audit.objects.filter(actor="user:ann", door="admin").order_by("pk")
    assert [(row.action, row.detail.get("what")) for row in rows] == [
        ("token", None),
        ("account", "added"),
        ("account", "deleted"),
    ]
    shown = client.get("/admin/wiki/audit/")
    assert shown.status_code == 200 and "user:ann" in shown.content.decode()


def test_no_row_holds_a_secret(vault_folder: VaultFolder) -> None:
    _, raw = tokens.create_token(name="laptop", author=BEN)
    assert raw not in json.dumps(audit.listed())


# --- reading it ---


def listed(*options: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("audit", "list", "--json", *options, stdout=out)
    return list(json.loads(out.getvalue()))


def test_it_is_listed_by_filters_and_bounded(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", "One.\n")
    tokens.create_token(name="laptop", author=BEN)
    VaultState.objects.get_or_create(pk=1, defaults={"vault_id": current_vault().id, "root": binding.vault_root()})
    assert [row["action"] for row in listed("--actor", "user:ben")] == ["token"]
    assert [row["path"] for row in listed("--path", "wiki/")] == ["wiki/concepts/ada.md"]
    assert listed("--door", "rest") == [] == listed("--what", "delete")
    assert listed("--since", f"{timezone.now() + timedelta(days=1):%Y-%m-%d}") == []
    assert len(listed("--limit", "1")) == len(listed("--limit", "-5")) == 1
    out = StringIO()
    call_command("audit", "list", stdout=out)
    assert "user:ben (admin)" in out.getvalue() and "wiki/concepts/ada.md" in out.getvalue()


def test_a_date_that_is_none_is_refused(vault_folder: VaultFolder) -> None:
    with pytest.raises((SynapseError, SystemExit)):
        listed("--since", "soon")
