"""index.md and log.md: made by code, the same pages giving the same bytes, and never the user's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import VaultFolder
from tests.wiki.conftest import Writer
from vault import history
from vault.current import current_vault
from vault.markdown import parse_body
from wiki import jobs
from wiki.models import Job, Link, Page
from wiki.services import page_delete
from wiki.services.catalog import render_index, write_index
from wiki.services.logbook import append_log, log_line
from wiki.sync import scan

pytestmark = pytest.mark.django_db


def index_of(folder: VaultFolder) -> str:
    return folder.read("wiki/index.md").decode()


def test_it_works(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Enigma", "A cipher machine. It had rotors.\n")
    claude.write("Ada", "First programmer.\n", type="entity")
    claude.write("Babbage", "# Only a heading\n", type="entity")
    jobs.drain()
    body = index_of(vault_folder).split("---\n", 2)[2]
    assert body == (
        "\n## Entities\n\n"
        "- [[wiki/entities/ada|Ada]] — First programmer.\n"
        "- [[wiki/entities/babbage|Babbage]]\n"
        "\n## Concepts\n\n"
        "- [[wiki/concepts/enigma|Enigma]] — A cipher machine.\n"
    )
    assert "auto_generated: true\ngenerator: synapse\n" in index_of(vault_folder)


def test_several_writes_give_one_job_and_no_history(vault_folder: VaultFolder, claude: Writer) -> None:
    for title in ("Ada", "Babbage", "Enigma"):
        claude.write(title)
    [job] = Job.objects.filter(kind="catalog")
    assert 0 < (job.run_after - job.created_at).total_seconds() <= 2
    assert jobs.run_due() == 0
    jobs.drain()
    assert Job.objects.filter(kind="catalog", finished_at__isnull=False).count() == 1
    assert history.versions(current_vault(), Page.objects.get(path="wiki/index.md").uid) == []


def test_our_own_bytes_are_indexed_and_a_scan_finds_nothing_new(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada")
    jobs.drain()
    report = scan()
    assert (report.added, report.changed, report.deleted) == (0, 0, 0)
    assert Page.objects.get(path="wiki/index.md").reserved
    link = Link.objects.get(source__path="wiki/index.md")
    assert (link.state, link.target_path) == ("resolved", "wiki/concepts/ada.md")


def test_nothing_is_written_when_nothing_changes(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada", "Same sentence. One.\n")
    jobs.drain()
    before = (vault_folder.root / "wiki/index.md").stat()
    claude.write("Ada", "Same sentence. Two.\n")
    assert write_index() is False
    after = (vault_folder.root / "wiki/index.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_deleted_and_reserved_pages_are_left_out(vault_folder: VaultFolder, claude: Writer) -> None:
    vault_folder.write("schema.md", "How to write.\n")
    vault_folder.write("wiki/overview.md", "The way in.\n")
    scan()
    written = claude.write("Ada")
    claude.do(page_delete, page=written.page)
    jobs.drain()
    assert "[[" not in index_of(vault_folder)


def test_pages_without_a_type_are_listed_where_agents_write(vault_folder: VaultFolder, claude: Writer) -> None:
    vault_folder.write("wiki/loose.md", "A loose page.\n")
    vault_folder.write("daily/2026-04-01.md", "Rain.\n")
    scan()
    write_index()
    assert index_of(vault_folder).endswith("## Other pages\n\n- [[wiki/loose|loose]] — A loose page.\n")


@pytest.mark.parametrize("theirs", [b"My own index.\n", b"---\nauto_generated: true\n---\nOf another program.\n", b""])
def test_the_users_index_is_never_rewritten(vault_folder: VaultFolder, claude: Writer, theirs: bytes) -> None:
    vault_folder.write("wiki/index.md", theirs)
    scan()
    claude.write("Ada")
    jobs.drain()
    assert vault_folder.read("wiki/index.md") == theirs


def test_a_changed_index_of_ours_is_made_again(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada")
    jobs.drain()
    made = vault_folder.read("wiki/index.md")
    vault_folder.write("wiki/index.md", made + b"- [[stray]]\n")
    assert write_index()
    assert vault_folder.read("wiki/index.md") == made


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    title=st.text(min_size=1, max_size=30).filter(lambda text: text.strip() and text.isprintable()),
    summary=st.text("ab [](){}|#`!\\$<>-*_.é", max_size=300),
)
def test_any_title_and_sentence_make_one_line_with_one_link(
    vault_folder: VaultFolder, claude: Writer, title: str, summary: str
) -> None:
    Page.objects.all().delete()
    Page.objects.create(path="wiki/concepts/x.md", title=title, type="concept", summary=summary)
    lines = render_index().split("---\n", 2)[2].splitlines()
    assert len(lines) == 4
    assert len(lines[3]) <= len("- [[wiki/concepts/x|]] — ") + len(title) + 20 + 120
    first = parse_body(lines[3]).links[0]
    assert (first.kind, first.target) == ("wikilink", "wiki/concepts/x")


@pytest.mark.parametrize("name", ["a#b", "a|b", "a]]b", "a[[b"])
def test_names_that_no_wikilink_can_hold(vault_folder: VaultFolder, name: str) -> None:
    vault_folder.write(f"wiki/concepts/{name}.md", "Text.\n")
    scan()
    write_index()
    scan()
    link = Link.objects.get(source__path="wiki/index.md")
    assert (link.kind, link.state, link.target_path) == ("markdown", "resolved", f"wiki/concepts/{name}.md")


def test_the_log_is_only_added_to(vault_folder: VaultFolder, claude: Writer) -> None:
    claude.write("Ada")
    first = vault_folder.read("wiki/log.md")
    written = claude.write("Babbage")
    claude.do(page_delete, page=written.page)
    log = vault_folder.read("wiki/log.md")
    assert log.startswith(first)
    assert [line.split("] ")[1] for line in log.decode().splitlines() if line.startswith("## [")] == [
        "write | Ada",
        "write | Babbage",
        "delete | Babbage",
    ]


def test_a_line_is_one_line() -> None:
    assert log_line("write", "two\nlines\u2028\x07 of  it").endswith("] write | two lines of it\n")


def test_a_log_cut_off_gets_its_line_end_first(vault_folder: VaultFolder) -> None:
    append_log("write", "Ada")
    file = vault_folder.root / "wiki/log.md"
    file.write_bytes(file.read_bytes() + b"a person's note")
    append_log("write", "Babbage")
    assert file.read_text().splitlines()[-2] == "a person's note"


@pytest.mark.parametrize("theirs", [b"# My log\n", b"---\ntitle: Log\n---\n"])
def test_the_users_log_is_left_alone(vault_folder: VaultFolder, claude: Writer, theirs: bytes) -> None:
    vault_folder.write("wiki/log.md", theirs)
    assert claude.write("Ada").warnings == []
    assert vault_folder.read("wiki/log.md") == theirs


def test_a_log_that_leads_elsewhere_takes_no_line(vault_folder: VaultFolder, claude: Writer) -> None:
    outside = vault_folder.root.parent / "outside.md"
    outside.write_text("canary")
    (vault_folder.root / "wiki/log.md").symlink_to(outside)
    assert claude.write("Ada").created
    assert outside.read_text() == "canary"


def test_read_only_covers_both(vault_folder: VaultFolder, settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    assert write_index() is False
    assert append_log("write", "Ada") is False
    assert vault_folder.files() == []
