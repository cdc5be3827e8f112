"""The admin: every page opens, costs the same for many rows, and changes nothing but tokens and accounts."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import conditional_escape

from tests.conftest import VaultFolder
from vault.history import Author
from wiki.admin.display import visible
from wiki.models import Alias, Audit, EmbeddingState, File, Job, Link, Page, Scope, Token, VaultState
from wiki.prime.atoms.levels import Level, tokens
from wiki.prime.atoms.reading import atoms, level_texts
from wiki.services import request_rescan, write_page
from wiki.sync import scan
from wiki.tokens import create_token, find_token
from wiki.vectors.rows import ensure_state

MODELS = [Page, Link, File, Token, Audit, Job, VaultState, EmbeddingState, User, Group]
READ_ONLY = [Page, Link, File, Audit, Job, VaultState, EmbeddingState]
TRICKY = '<script>alert(1)</script> "quoted" \u202egnp.exe'


def url(model: Any, rest: str = "") -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/{rest}"


@pytest.fixture
def filled(vault_folder: VaultFolder, db: None) -> VaultFolder:
    """A vault with something of everything in it."""
    vault_folder.write("raw/sources/turing.md", "A source.\n")
    vault_folder.write(
        "notes/tricky.md", f"---\ntitle: '{TRICKY}'\naliases: ['{TRICKY}']\ntags: ['<b>']\n---\n[[Gone]]\n"
    )
    vault_folder.write("notes/bad.md", "---\na: [\n---\n![[raw/sources/turing.md]] [[tricky]]\n")
    frontmatter = {"type": "entity", "title": "Alan Turing", "sources": ["raw/sources/turing.md"], "lang": "en"}
    write_page(
        title="Alan Turing",
        content="See [[notes/tricky|that]] and [[bad]]. #history\n",
        frontmatter=frontmatter,
        author=Author("claude\u202e", "mcp-stdio"),
    )
    scan()
    request_rescan()
    create_token(name="laptop")
    Group.objects.create(name="editors")
    ensure_state()
    return vault_folder


@pytest.fixture
def boss(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


def staff(*permissions: str) -> Client:
    user = User.objects.create_user(f"staff{User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_every_row_opens(filled: VaultFolder, boss: Client, model: Any) -> None:
    assert model.objects.exists()
    assert boss.get(url(model)).status_code == 200
    for row in model.objects.all():
        answer = boss.get(url(model, f"{row.pk}/change/"))
        assert answer.status_code == 200
        assert b"<script>alert" not in answer.content
        assert "\u202e" not in answer.content.decode()


@pytest.mark.parametrize("model", [Token, User, Group])
def test_every_form_opens(boss: Client, model: Any) -> None:
    assert boss.get(url(model, "add/")).status_code == 200


def test_the_front_page_and_the_login_open(boss: Client) -> None:
    assert boss.get("/admin/").status_code == 200
    assert Client().get("/admin/login/").status_code == 200
    assert boss.get(url(User, f"{User.objects.get().pk}/password/")).status_code == 200
    assert boss.get("/admin/password_change/").status_code == 200


def test_the_sidebar_shows_what_a_person_may_see(filled: VaultFolder, boss: Client) -> None:
    assert f"{url(Link)}?state__exact=broken" in boss.get("/admin/").content.decode()
    shown = staff("view_page").get("/admin/").content.decode()
    assert url(Page) in shown
    assert url(Token) not in shown


@pytest.mark.parametrize("model", READ_ONLY)
def test_rows_of_the_index_can_not_be_changed(filled: VaultFolder, boss: Client, model: Any) -> None:
    row = model.objects.first()
    for path in ("add/", f"{row.pk}/delete/"):
        assert boss.get(url(model, path)).status_code == 403
        assert boss.post(url(model, path), {"post": "yes"}).status_code == 403
    assert boss.post(url(model, f"{row.pk}/change/"), {"title": "x"}).status_code == 403
    ticked = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    boss.post(url(model), ticked)
    assert model.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", MODELS)
def test_only_staff_with_the_permission_see_anything(filled: VaultFolder, model: Any) -> None:
    assert Client().get(url(model)).status_code == 302
    assert staff().get(url(model)).status_code == 403
    assert staff(f"view_{model._meta.model_name}").get(url(model)).status_code == 200


@pytest.mark.parametrize(
    ("model", "query", "shown"),
    [
        (Page, "", 3),
        (Page, "q=turing", 1),
        (Page, "q=notes/", 2),
        (Page, "type__exact=entity", 1),
        (Page, "lang=en", 1),
        (Page, "flagged=yes", 1),
        (Page, "flagged=no", 2),
        (Page, "flagged=invalid_yaml", 1),
        (Page, "flagged=no_such_flag", 0),
        (Page, "links=broken", 1),
        (Page, "links=resolved", 2),
        (Page, "links=none", 1),
        (Page, "tag=history", 1),
        (Page, "tag=nowhere", 0),
        (Page, "reserved__exact=1", 0),
        (Page, "file=deleted", 0),
        (Page, "file=all", 3),
        (Link, "", 5),
        (Link, "state__exact=broken", 1),
        (Link, "kind__exact=embed", 1),
        (Link, "embed__exact=1", 1),
        (Link, "q=tricky", 3),
        (File, "kind__exact=source", 1),
        (File, "q=turing", 1),
        (File, "deleted_at__isempty=0", 0),
        (Token, "q=laptop", 1),
        (Token, "scope__exact=write", 0),
        (Audit, "action__exact=write&q=claude", 1),
        (Job, "kind__exact=rescan", 1),
    ],
)
def test_search_and_filters(filled: VaultFolder, boss: Client, model: Any, query: str, shown: int) -> None:
    answer = boss.get(f"{url(model)}?{query}")
    assert answer.status_code == 200
    assert len(answer.context["cl"].result_list) == shown


def test_a_list_without_rows_says_how_they_come(boss: Client) -> None:
    bare = boss.get("/admin/wiki/page/").content.decode()
    assert "There is nothing here yet" in bare and "manage.py rescan" in bare
    assert "Nothing here fits" not in bare and "Create a new item" not in bare
    searched = boss.get("/admin/wiki/page/", {"q": "nowhere"}).content.decode()
    assert "Nothing here fits" in searched and "There is nothing here yet" not in searched
    assert "Nothing here fits" in boss.get("/admin/wiki/page/", {"type": "entity"}).content.decode()


def test_deleted_pages_are_shown_when_asked_for(filled: VaultFolder, boss: Client) -> None:
    (filled.root / "notes/bad.md").unlink()
    scan(allow_deletions=True)
    assert len(boss.get(url(Page)).context["cl"].result_list) == 2
    deleted = boss.get(f"{url(Page)}?file=deleted").context["cl"].result_list
    assert [page.path for page in deleted] == ["notes/bad.md"]
    assert boss.get(url(Page, f"{deleted[0].pk}/change/")).status_code == 200


def test_a_page_shows_its_links_both_ways_and_its_versions(filled: VaultFolder, boss: Client) -> None:
    turing = Page.objects.get(title="Alan Turing")
    shown = boss.get(url(Page, f"{turing.pk}/change/")).content.decode()
    tricky = Page.objects.get(path="notes/tricky.md")
    assert url(Page, f"{tricky.pk}/change/") in shown
    assert "mcp-stdio" in shown
    assert "claude\\u202e" in shown
    back = boss.get(url(Page, f"{tricky.pk}/change/")).content.decode()
    assert url(Page, f"{turing.pk}/change/") in back


@pytest.mark.parametrize(("model", "path"), [(Page, "notes/tricky.md"), (Link, "notes/tricky.md")])
def test_lists_lead_to_the_reader_and_the_versions(filled: VaultFolder, boss: Client, model: Any, path: str) -> None:
    listed = boss.get(url(model)).content.decode()
    assert f'href="/read/{path}"' in listed and f'href="/read/{path}/history"' in listed
    row = model.objects.filter(**({"path": path} if model is Page else {"source__path": path})).first()
    shown = boss.get(url(model, f"{row.pk}/change/")).content.decode()
    assert f'href="/read/{path}"' in shown and f'href="/read/{path}/history"' in shown


def test_each_version_leads_to_what_it_changed_and_to_its_restore(filled: VaultFolder, boss: Client) -> None:
    turing = Page.objects.get(title="Alan Turing")
    write_page(
        title="Alan Turing",
        content="Changed.\n",
        frontmatter=turing.frontmatter | {"sources": turing.sources},
        base_hash=turing.content_hash,
        author=Author("claude", "mcp-stdio"),
    )
    address = f"/read/{turing.path}"
    shown = boss.get(url(Page, f"{turing.pk}/change/")).content.decode()
    assert f'href="{address}/history?old=2d&amp;new=2"' in shown
    assert f'href="{address}/restore?version=1"' in shown
    assert boss.get(f"{address}/history?old=2d&new=2").status_code == 200
    assert boss.get(f"{address}/restore?version=1").status_code == 200


def test_the_way_to_a_page_with_an_odd_path_is_its_own(filled: VaultFolder, boss: Client) -> None:
    filled.write("notes/a\u200bb.md", "x\n")
    scan()
    page = Page.objects.get(path="notes/a\u200bb.md")
    shown = boss.get(url(Page, f"{page.pk}/change/")).content.decode()
    assert "notes/a\\u200bb.md" in shown
    assert f'href="{page.get_absolute_url()}"' in shown
    assert boss.get(page.get_absolute_url()).status_code == 200


def test_a_deleted_page_leads_to_its_versions_alone(filled: VaultFolder, boss: Client) -> None:
    (filled.root / "notes/bad.md").unlink()
    scan(allow_deletions=True)
    listed = boss.get(f"{url(Page)}?file=deleted").content.decode()
    assert 'href="/read/notes/bad.md/history"' in listed and 'href="/read/notes/bad.md"' not in listed
    assert boss.get("/read/notes/bad.md/history").status_code == 200


def test_a_page_shows_its_three_levels_and_what_each_costs(filled: VaultFolder, boss: Client) -> None:
    tricky = Page.objects.get(path="notes/tricky.md")
    shown = boss.get(url(Page, f"{tricky.pk}/change/")).content.decode()
    (atom,) = [atom for atom in atoms() if atom.pk == tricky.pk]
    assert shown.count("<details") == 3  # drawn, and not shown as text
    for level in Level:
        text = level_texts([tricky.pk], level)[tricky.pk]
        assert f"{level}: {tokens(text)} tokens" in shown
        assert conditional_escape(text.replace("\u202e", "\\u202e")) in shown
    assert atom.id in shown and f"quality {atom.quality:.2f}" in shown
    assert "[[Gone]]" in shown
    assert "<script>alert" not in shown and "\u202e" not in shown


def test_of_a_long_page_a_part_is_shown(filled: VaultFolder, boss: Client) -> None:
    filled.write("notes/long.md", "A line\tof it.\n" * 4_000)
    scan()
    long = Page.objects.get(path="notes/long.md")
    shown = boss.get(url(Page, f"{long.pk}/change/")).content.decode()
    length = len(level_texts([long.pk], Level.FULL)[long.pk])
    assert f"{length - 20_000} more characters" in shown
    assert "A line\tof it.\nA line" in shown


def test_a_deleted_page_has_no_levels(filled: VaultFolder, boss: Client) -> None:
    (filled.root / "notes/bad.md").unlink()
    scan(allow_deletions=True)
    bad = Page.objects.get(path="notes/bad.md")
    assert "agents do not get this page" in boss.get(url(Page, f"{bad.pk}/change/")).content.decode()


def test_a_source_shows_which_pages_rest_on_it(filled: VaultFolder, boss: Client) -> None:
    source = File.objects.get(path="raw/sources/turing.md")
    shown = boss.get(url(File, f"{source.pk}/change/")).content.decode()
    assert "Alan Turing" in shown  # names it in its frontmatter
    assert "notes/bad.md" in shown  # embeds it
    assert "notes/tricky.md" not in shown
    assert 'href="/read/raw/sources/turing.md"' in shown
    cells = re.sub(r"<[^>]+>", " ", boss.get(url(File)).content.decode()).split()
    assert cells[cells.index("raw/sources/turing.md") :][:4] == ["raw/sources/turing.md", "Source", "10", "2"]


def test_names_are_shown_as_they_are(filled: VaultFolder, boss: Client) -> None:
    assert visible("a\u202eb\u200bc\x00d\ud800") == "a\\u202eb\\u200bc\\x00d\\ud800"
    assert visible("Grüße 日本語 – “ok”") == "Grüße 日本語 – “ok”"
    listed = boss.get(url(Page)).content.decode()
    assert "\\u202egnp.exe" in listed
    assert "<script>alert" not in listed


@pytest.mark.parametrize("model", [Page, Link, File, Token, Audit, Job])
def test_more_rows_cost_no_more_queries(filled: VaultFolder, boss: Client, model: Any) -> None:
    with CaptureQueriesContext(
        connection,
    ) as few:
        boss.get(url(model))
    user = User.objects.create_user("someone")
    for number in range(30):
        filled.write(f"notes/more{number}.md", f"---\naliases: [m{number}]\n---\n#tag{number} [[tricky]] [[bad]]\n")
        filled.write(f"raw/sources/more{number}.txt", "x")
        create_token(name=f"t{number}", user=user)
        Audit.objects.create(actor="a", door="rest", action="write")
        Job.objects.create(kind="rescan", key=str(number), run_after=timezone.now())
    scan()
    with CaptureQueriesContext(connection) as many:
        boss.get(url(model))
    assert len(many) == len(few) <= 12


def test_the_page_of_a_page_with_many_links_is_bounded(filled: VaultFolder, boss: Client) -> None:
    filled.write("notes/many.md", "".join(f"[[tricky|{number}]] " for number in range(300)))
    scan()
    tricky, many = (Page.objects.get(path=f"notes/{name}.md") for name in ("tricky", "many"))
    atoms()  # read once in a process, by several queries
    for page, total in ((tricky, 302), (many, 300)):
        with CaptureQueriesContext(connection) as queries:
            shown = boss.get(url(Page, f"{page.pk}/change/")).content.decode()
        assert f"{total - 50} more" in shown
        assert len(queries) <= 20
    assert Alias.objects.filter(page=tricky).exists()


# --- tokens --------------------------------------------------------------------------------------


def make(client: Client, **given: str) -> Any:
    body = {"name": "phone", "scope": "read", "expires_at_0": "", "expires_at_1": "", **given}
    return client.post(url(Token, "add/"), body, follow=True)


def test_a_token_is_shown_once_and_works(boss: Client, vault_folder: VaultFolder) -> None:
    answer = make(boss, scope="write")
    raws = re.findall(r"syn_[A-Za-z0-9_-]{43}", answer.content.decode())
    assert len(raws) == 1
    token = Token.objects.get()
    assert find_token(raws[0]) == token
    assert (token.name, token.scope, token.user) == ("phone", "write", User.objects.get())
    for path in ("", f"{token.pk}/change/"):
        shown = boss.get(url(Token, path)).content.decode()
        assert raws[0] not in shown
        assert token.digest not in shown


def test_a_token_is_never_changed(boss: Client) -> None:
    token, _ = create_token(name="phone")
    assert boss.post(url(Token, f"{token.pk}/change/"), {"name": "x", "scope": "write"}).status_code == 403
    assert boss.post(url(Token, f"{token.pk}/delete/"), {"post": "yes"}).status_code == 403
    token.refresh_from_db()
    assert (token.name, token.scope) == ("phone", "read")


@pytest.mark.parametrize(
    "given",
    [
        {"name": ""},
        {"name": "\u202e"},
        {"name": "a" * 81},
        {"scope": "admin"},
        {"expires_at_0": "2001-01-01", "expires_at_1": "00:00:00"},
    ],
)
def test_what_no_token_can_be_is_said_in_the_form(boss: Client, given: dict[str, str]) -> None:
    answer = make(boss, **given)
    assert answer.status_code == 200
    assert answer.context["adminform"].form.errors
    assert not Token.objects.exists()


def test_an_end_is_kept(boss: Client) -> None:
    later = timezone.now() + timedelta(days=3)
    make(boss, expires_at_0=f"{later:%Y-%m-%d}", expires_at_1="12:00:00")
    assert Token.objects.get().expires_at is not None


def test_nobody_grants_more_than_they_have(db: None) -> None:
    clerk = staff("add_token", "view_token")
    assert make(clerk, scope="write").context["adminform"].form.errors
    assert not Token.objects.exists()
    make(clerk, scope="read")
    assert Token.objects.get().scope == Scope.READ
    editor = staff("add_token", "view_token", "change_page", "change_reviewitem")
    make(editor, name="b", scope="write")
    assert Token.objects.get(name="b").scope == Scope.WRITE


def test_without_the_permission_no_token_is_made(db: None) -> None:
    viewer = staff("view_token")
    assert viewer.get(url(Token, "add/")).status_code == 403
    assert make(viewer).status_code == 403
    assert not Token.objects.exists()


def test_revoking_names_the_tokens_first_and_a_second_time_changes_nothing(boss: Client) -> None:
    tokens = [create_token(name=name)[0] for name in ("lost", "stolen", "kept")]
    ticked = {"action": "revoke_selected", "_selected_action": [token.pk for token in tokens[:2]], "index": "0"}
    asked = boss.post(url(Token), ticked).content.decode()
    assert "lost" in asked and "stolen" in asked and "kept" not in asked
    assert not Token.objects.filter(revoked_at__isnull=False).exists()
    confirmed = {**ticked, "confirmed": "yes"}
    del confirmed["index"]
    assert "2 revoked" in boss.post(url(Token), confirmed, follow=True).content.decode()
    assert set(Token.objects.filter(revoked_at__isnull=True)) == {tokens[2]}
    before = Token.objects.get(name="lost").revoked_at
    assert "already" in boss.post(url(Token), confirmed, follow=True).content.decode()
    assert Token.objects.get(name="lost").revoked_at == before


def test_tokens_that_came_after_the_question_are_left_alone(boss: Client) -> None:
    lost, _ = create_token(name="lost")
    across = {"action": "revoke_selected", "_selected_action": [lost.pk], "index": "0", "select_across": "1"}
    asked = boss.post(url(Token), across).content.decode()
    create_token(name="newcomer")
    named = re.findall(r'name="_selected_action" value="(\d+)"', asked)
    boss.post(url(Token), {"action": "revoke_selected", "_selected_action": named, "confirmed": "yes"})
    assert [token.name for token in Token.objects.filter(revoked_at__isnull=True)] == ["newcomer"]


def test_the_link_in_a_row_only_asks(boss: Client) -> None:
    token, _ = create_token(name="lost")
    listed = boss.get(url(Token)).content.decode()
    link = re.search(r'href="([^"]*revoke_one[^"]*)"', listed)
    assert link is not None
    asked = boss.get(link[1])
    assert asked.status_code == 200
    assert "lost" in asked.content.decode()
    token.refresh_from_db()
    assert token.revoked_at is None


def test_only_those_who_may_change_tokens_revoke_them(db: None) -> None:
    token, _ = create_token(name="lost")
    viewer = staff("view_token")
    ticked = {"action": "revoke_selected", "_selected_action": [token.pk], "confirmed": "yes"}
    viewer.post(url(Token), ticked)
    token.refresh_from_db()
    assert token.revoked_at is None
    assert "revoke_one" not in viewer.get(url(Token)).content.decode()
    staff("view_token", "change_token").post(url(Token), ticked)
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_another_site_can_not_revoke(db: None) -> None:
    token, _ = create_token(name="lost")
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("boss"))
    ticked = {"action": "revoke_selected", "_selected_action": [token.pk], "confirmed": "yes"}
    assert client.post(url(Token), ticked).status_code == 403
    token.refresh_from_db()
    assert token.revoked_at is None


def test_embedding_is_paused_and_goes_on_by_a_post_alone(filled: VaultFolder, boss: Client) -> None:
    def chosen(client: Client, action: str) -> bool:
        given = {"action": action, "_selected_action": [str(EmbeddingState.objects.get().pk)]}
        assert client.post(url(EmbeddingState), given).status_code in (200, 302, 403)
        return EmbeddingState.objects.get().paused

    assert chosen(boss, "pause_embedding") and chosen(boss, "pause_embedding")
    assert "paused" in boss.get(url(EmbeddingState)).content.decode()
    assert chosen(staff("view_embeddingstate"), "resume_embedding")
    boss.get(url(EmbeddingState), {"action": "resume_embedding"})
    assert EmbeddingState.objects.get().paused
    assert not chosen(boss, "resume_embedding")
