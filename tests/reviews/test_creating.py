"""Create really writes: the page is there, valid, linked, found; and when it can't be written the item says why."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.models import ReviewItem, Status
from reviews.producers import runner
from reviews.services import Finding, resolve
from reviews.services.creating import carry_out, is_edit, proposal
from reviews.services.stubs import standing_page
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE, BOB, CLAUDE, file_all, history
from vault import drafts
from vault import history as versions
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import load, split, validate
from vault.writing import exchange
from wiki import search
from wiki.models import Audit, Link, Page
from wiki.services import composing, page_content, page_delete, page_move, write_page
from wiki.sync import dump_index, scan, sync_paths

pytestmark = pytest.mark.django_db

ADA = "---\ntype: entity\ntitle: Ada Lovelace\nsources: [raw/sources/a.md]\nlang: en\n---\nShe wrote for the {link}.\n"
BABBAGE = (
    "---\ntype: entity\ntitle: Charles Babbage\nlang: en\n---\nHe drew the [[analytical-engine|Analytical Engine]].\n"
)
MENABREA = "---\ntype: entity\ntitle: Menabrea\nlang: it\n---\nLa [[Analytical Engine#Design|macchina]] analitica.\n"
STUB = "wiki/concepts/analytical-engine.md"
BOUND: dict[str, Any] = {"type": "concept", "title": "Tides", "sources": ["raw/sources/sea.md"], "lang": "en"}


def missing(*askers: str, target: str = "analytical engine", **values: Any) -> ReviewItem:
    """An item about a page that these pages ask for."""
    pages = [Page.objects.live().get(path=path) for path in askers]
    given = {"proposed_title": "Analytical Engine", "references": pages, "rests_on": [page.pk for page in pages]}
    found = Finding(item_type="missing-page", rule="missing-page", target=target, title=target, **{**given, **values})
    return stored(file_all(found).filed[0])


def proposed(**values: Any) -> ReviewItem:
    """A suggestion that an agent filed."""
    given = {"item_type": "suggestion", "rule": "agent", "target": "tides", "title": "Write about tides", **values}
    return stored(file_all(Finding(**given), origin="agent", author=CLAUDE).filed[0])


def stored(item: ReviewItem) -> ReviewItem:
    return ReviewItem.objects.select_related("page").get(pk=item.pk)


def create(item: ReviewItem, author: Any = ALICE) -> ReviewItem:
    resolved = resolve(item_id=item.pk, action="create", author=author)
    assert resolved.changed
    return stored(resolved.item)


def refused(item: ReviewItem, author: Any = ALICE) -> SynapseError:
    with pytest.raises(SynapseError) as caught:
        resolve(item_id=item.pk, action="create", author=author)
    return caught.value


def contents(folder: VaultFolder) -> dict[str, bytes]:
    return {path: folder.read(path) for path in folder.files()}


def tides(**options: Any) -> Page:
    return write_page(title="Tides", content="Twice a day.\n", frontmatter={**BOUND, **options}, author=CLAUDE).page


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- the stub of a missing page -------------------------------------------------------------------


@pytest.fixture
def asked_for(vault_folder: VaultFolder) -> VaultFolder:
    vault_folder.write("wiki/entities/ada.md", ADA.format(link="[[Analytical Engine]]"))
    vault_folder.write("wiki/entities/babbage.md", BABBAGE)
    vault_folder.write("people/menabrea.md", MENABREA)
    scan()
    return vault_folder


ASKERS = ("wiki/entities/ada.md", "wiki/entities/babbage.md", "people/menabrea.md")


def test_a_missing_page_is_made_as_a_stub_that_is_valid_linked_and_found(asked_for: VaultFolder) -> None:
    item = missing(*ASKERS)
    assert Link.objects.filter(state="broken").count() == 3

    item = create(item)

    assert (item.status, item.created_path, item.failure) == (Status.CREATED, STUB, "")
    page = item.created_page
    assert page is not None
    assert (page.title, page.type, page.lang, page.flags) == ("Analytical Engine", "concept", "en", [])
    text = asked_for.read(STUB).decode()
    properties = load(split(text).raw or "").data
    validate(properties, title="Analytical Engine")
    assert properties["sources"] == list(ASKERS)
    assert "a stub: nothing has been written here yet" in text
    assert "aliases" not in properties

    # both ways: those who asked lead to it, and it leads back to them
    assert list(Link.objects.filter(state="broken")) == []
    assert {link.source.path for link in page.backlinks.all()} == set(ASKERS)
    assert {link.target.path for link in page.links.all() if link.target} == set(ASKERS)
    assert "[[ada|Ada Lovelace]], [[babbage|Charles Babbage]], [[menabrea|Menabrea]]." in text
    backlinks = page_content(page)["backlinks"]
    assert {backlink["title"] for backlink in backlinks} == {"Ada Lovelace", "Charles Babbage", "Menabrea"}
    assert "Analytical Engine" in [hit.page.title for hit in search.search("analytical engine").hits]


def test_the_one_who_decides_is_the_author_and_the_audit_names_the_item(asked_for: VaultFolder) -> None:
    item = create(missing(*ASKERS), BOB)
    page = item.created_page
    assert page is not None
    (version,) = versions.versions(current_vault(), page.uid)
    assert (version.author, version.door, version.content_hash) == (BOB.name, BOB.door, sha256(asked_for.read(STUB)))
    assert item.write_hash == version.content_hash
    audit = Audit.objects.get(action="write")
    assert (audit.actor, audit.door, audit.detail) == (BOB.name, BOB.door, {"review": str(item.pk)})
    assert history(item)[-1] == ("decided", BOB.name, Status.CREATED)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[[Analytical Engine]]", "analytical engine"),
        ("[[analytical ENGINE|it]]", "analytical engine"),
        ("[[analytical-engine]]", "analytical-engine"),
        ("[[Analytical Engine.md]]", "analytical engine"),
        ("[[machines/Analytical Engine]]", "machines/analytical engine"),
        ("[[machines/Analytical Engine]]", "analytical engine"),
        ("[[the-engine|Analytical Engine]]", "the-engine"),
        ("[[analytical_engine]]", "analytical-engine"),
        ("[[Analytical — Engine]]", "analytical-engine"),
        ("[[../machines/Analytical Engine]]", "wiki/machines/analytical-engine"),
        ("![[Analytical Engine]]", "analytical engine"),
    ],
)
def test_whatever_the_links_call_it_they_lead_to_it_afterwards(
    vault_folder: VaultFolder, link: str, target: str
) -> None:
    vault_folder.write("wiki/entities/ada.md", ADA.format(link=link))
    scan()
    item = create(missing("wiki/entities/ada.md", target=target))
    (found,) = Link.objects.filter(source__path="wiki/entities/ada.md")
    assert (found.target, found.target_path) == (item.created_page, STUB)
    after_writing = list(dump_index())
    scan()
    assert list(dump_index()) == after_writing


def test_a_name_that_only_looks_alike_is_left_alone(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/a.md", "[[R & D]], [[R D]] and [[Other]].\n")
    scan()
    page = create(missing("wiki/a.md", target="r-&-d", proposed_title="R & D")).created_page
    assert page is not None
    leads = {link.text: link.target for link in Link.objects.filter(source__path="wiki/a.md")}
    assert leads == {"R & D": page, "R D": None, "Other": None}


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (["it", "it", "en"], "it"),
        (["pt-BR", "pt", "en"], "pt"),
        (["de", "fr"], "de"),
        (["", ""], "en"),
        (["gsw", ""], "en"),
        (["", "fr"], "fr"),
    ],
)
def test_a_stub_speaks_the_language_of_most_who_ask(
    vault_folder: VaultFolder, languages: list[str], expected: str
) -> None:
    paths = []
    for number, lang in enumerate(languages):
        paths.append(f"wiki/p{number}.md")
        front = f"---\nlang: {lang}\n---\n" if lang else ""
        vault_folder.write(paths[-1], f"{front}[[Analytical Engine]]\n")
    scan()
    page = create(missing(*paths)).created_page
    assert page is not None
    assert page.lang == expected


def test_a_stub_names_eight_of_many_who_ask(vault_folder: VaultFolder) -> None:
    paths = [f"wiki/p{number:02}.md" for number in range(11)]
    for path in paths:
        vault_folder.write(path, "[[Analytical Engine]]\n")
    scan()
    page = create(missing(*paths)).created_page
    assert page is not None
    assert page.sources == paths[:8]
    assert "[[p07]] and 3 more.\n" in page_content(page)["content"]
    assert page.backlinks.count() == 11


def test_awkward_names_are_linked_back_all_the_same(vault_folder: VaultFolder) -> None:
    paths = ["wiki/C# [notes].md", "a/twin.md", "b/twin.md", "wiki/ada.md", "wiki/other.md"]
    for path, title in zip(paths, ["C# [notes]", "One", "Two", "A | B ]] C", "ada"], strict=True):
        vault_folder.write(path, f"---\ntitle: '{title}'\n---\n[[Analytical Engine]]\n")
    scan()
    page = create(missing(*paths)).created_page
    assert page is not None
    assert sorted(page.links.values_list("target_path", flat=True)) == sorted(paths)


def test_a_page_that_is_proposed_is_written_in_place_of_a_stub(asked_for: VaultFolder) -> None:
    item = missing(
        *ASKERS,
        proposed_page_type="entity",
        proposed_frontmatter={"lang": "fr", "aliases": ["La machine"], "mood": "calm"},
        proposed_body="Drawn by [[Charles Babbage]].\n",
    )
    page = create(item).created_page
    assert page is not None
    assert page.path == "wiki/entities/analytical-engine.md"
    assert page_content(page)["content"] == "Drawn by [[babbage|Charles Babbage]].\n"
    assert page.frontmatter["mood"] == "calm"
    assert (page.lang, page.frontmatter["aliases"], page.sources) == ("fr", ["La machine"], list(ASKERS))


def test_a_missing_page_that_an_agent_names_rests_on_whoever_links_to_it(asked_for: VaultFolder) -> None:
    item = proposed(item_type="missing-page", target="analytical engine", proposed_title="Analytical Engine")
    page = create(item).created_page
    assert page is not None
    assert sorted(page.sources) == sorted(ASKERS)


def test_a_page_that_nobody_asks_for_is_not_made_up(vault_folder: VaultFolder) -> None:
    item = proposed(item_type="missing-page", target="nothing", proposed_title="Nothing")
    error = refused(item)
    assert error.code is ErrorCode.INVALID_FRONTMATTER
    assert list(error.repair["fields"]) == ["sources"]
    assert vault_folder.files() == []


@pytest.mark.parametrize("named", ["title: analytical ENGINE", "title: Mill\naliases: [Analytical engine]"])
def test_a_page_that_has_come_under_another_spelling_is_not_made_twice(named: str, asked_for: VaultFolder) -> None:
    item = missing(*ASKERS)
    asked_for.write("wiki/concepts/mill.md", f"---\n{named}\n---\nIt mills.\n")
    scan()
    before = contents(asked_for)
    error = refused(item)
    assert (error.code, error.repair["path"]) == (ErrorCode.CONFLICT, "wiki/concepts/mill.md")
    assert stored(item).status == Status.PENDING
    assert contents(asked_for) == before


# --- proposed pages and edits ---------------------------------------------------------------------


def test_a_proposed_page_is_made_with_its_frontmatter(vault_folder: VaultFolder) -> None:
    item = proposed(proposed_title="Tides", proposed_frontmatter=BOUND, proposed_body="Twice a day. [[Moon]]\n")
    shown = proposal(item, author=ALICE)
    page = create(item).created_page
    assert page is not None
    assert vault_folder.read(page.path).decode() == shown.text
    assert page_content(page)["content"] == "Twice a day. [[moon|Moon]]\n"


def test_an_edit_changes_the_page_it_is_about_and_nothing_it_does_not_name(vault_folder: VaultFolder) -> None:
    page = tides(mood="calm")
    base = sha256(vault_folder.read(page.path))
    item = proposed(page=page, proposed_body="Thrice a day.\n", base_hash=base)
    shown = proposal(item, author=ALICE)
    item = create(item)
    assert item.created_page == page
    assert vault_folder.read(page.path).decode() == shown.text
    page.refresh_from_db()
    assert page.frontmatter["mood"] == "calm"
    assert page_content(page)["content"] == "Thrice a day.\n"


def test_a_body_beside_another_title_is_a_new_page_and_the_old_one_stays(vault_folder: VaultFolder) -> None:
    page = tides()
    before = vault_folder.read(page.path)
    item = proposed(
        item_type="contradiction",
        page=page,
        proposed_title="Tides and floods",
        proposed_body="They differ.\n",
        base_hash=page.content_hash,
    )
    assert not is_edit(item)
    made = create(item).created_page
    assert made is not None
    assert (made.path, made.sources) == ("wiki/concepts/tides-and-floods.md", [page.path])
    assert vault_folder.read(page.path) == before


def test_an_edit_follows_the_page_where_it_was_moved(vault_folder: VaultFolder) -> None:
    page = tides()
    item = proposed(page=page, proposed_body="Thrice a day.\n", base_hash=page.content_hash)
    page_move(page=page, path="wiki/sea/tides.md", author=ALICE)
    vault_folder.write("wiki/concepts/tides.md", "Somebody else's.\n")
    sync_paths(["wiki/concepts/tides.md"])
    item = create(item)
    assert item.created_path == "wiki/sea/tides.md"
    assert vault_folder.read("wiki/sea/tides.md").endswith(b"Thrice a day.\n")
    assert vault_folder.read("wiki/concepts/tides.md") == b"Somebody else's.\n"


def test_an_edit_of_a_page_that_has_changed_is_a_conflict_with_the_three_texts(vault_folder: VaultFolder) -> None:
    page = tides()
    base = vault_folder.read(page.path).decode()
    item = proposed(page=page, proposed_body="Thrice a day.\n", base_hash=page.content_hash)
    write_page(title="Tides", content="Once a day.\n", frontmatter=BOUND, author=CLAUDE)
    before = contents(vault_folder)
    for author in (ALICE, BOB, CLAUDE):  # one code, whatever the door
        error = refused(item, author)
        assert error.code is ErrorCode.CONFLICT
        assert error.repair["base"] == base
        assert error.repair["current"] == before[page.path].decode()
        assert error.repair["proposed"].endswith("---\nThrice a day.\n")
        assert error.repair["content_hash"] == sha256(before[page.path])
    assert contents(vault_folder) == before
    assert drafts.list_drafts(current_vault()) == []
    item = stored(item)
    assert (item.status, item.failure) == (Status.PENDING, error.message)
    assert "Thrice" not in item.failure


def test_an_edit_of_a_page_that_is_gone_is_a_conflict(vault_folder: VaultFolder) -> None:
    page = tides()
    item = proposed(page=page, proposed_body="Thrice a day.\n", base_hash=page.content_hash)
    base = vault_folder.read(page.path).decode()
    page_delete(page=page, base_hash=page.content_hash, author=ALICE)
    error = refused(item)
    assert error.code is ErrorCode.CONFLICT
    assert (error.repair["base"], error.repair["current"]) == (base, None)
    assert vault_folder.files() == []
    Page.objects.all().delete()  # and when not even its row is left
    assert refused(stored(item)).code is ErrorCode.CONFLICT
    assert vault_folder.files() == []


def test_an_edit_that_names_no_version_is_not_written(vault_folder: VaultFolder) -> None:
    page = tides()
    before = contents(vault_folder)
    assert refused(proposed(page=page, proposed_body="x\n")).code is ErrorCode.BASE_REQUIRED
    assert contents(vault_folder) == before


# --- when it can't be written ---------------------------------------------------------------------


def read_only_folder(folder: VaultFolder, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    real = exchange.create_file

    def fail(directory: int, name: str, mode: int) -> int:
        if name.startswith(".synapse-"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(directory, name, mode)

    patch.setattr(exchange, "create_file", fail)
    return lambda: patch.setattr(exchange, "create_file", real)


def title_taken(folder: VaultFolder, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    file = folder.write("wiki/concepts/other.md", "---\ntitle: Tides\n---\nHere first.\n")
    sync_paths(["wiki/concepts/other.md"])

    def mend() -> None:
        file.unlink()
        sync_paths(["wiki/concepts/other.md"])

    return mend


def unindexed_file(folder: VaultFolder, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    return folder.write("wiki/concepts/tides.md", "---\ntitle: Tides\n---\nHere first.\n").unlink


def folder_not_allowed(folder: VaultFolder, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    from django.conf import settings as current

    patch.setattr(current, "SYNAPSE_WRITE_DIRS", ["notes"])
    return lambda: patch.setattr(current, "SYNAPSE_WRITE_DIRS", ["wiki"])


def too_large(folder: VaultFolder, patch: pytest.MonkeyPatch) -> Callable[[], None]:
    from django.conf import settings as current

    patch.setattr(current, "SYNAPSE_MAX_PAGE_BYTES", 20)
    return lambda: patch.setattr(current, "SYNAPSE_MAX_PAGE_BYTES", 5_000_000)


@pytest.mark.parametrize(
    ("obstacle", "code"),
    [
        (read_only_folder, ErrorCode.STORAGE_ERROR),
        (title_taken, ErrorCode.CONFLICT),
        (unindexed_file, ErrorCode.CONFLICT),
        (folder_not_allowed, ErrorCode.PATH_NOT_ALLOWED),
        (too_large, ErrorCode.PAYLOAD_TOO_LARGE),
    ],
)
def test_what_stands_in_the_way_is_said_and_once_it_is_gone_create_works(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch, obstacle: Any, code: ErrorCode
) -> None:
    item = proposed(proposed_title="Tides", proposed_frontmatter=BOUND, proposed_body="Twice a day.\n")
    mend = obstacle(vault_folder, monkeypatch)
    before, pages = contents(vault_folder), Page.objects.count()

    error = refused(item)

    assert error.code is code
    assert contents(vault_folder) == before
    assert Page.objects.count() == pages
    item = stored(item)
    assert (item.status, item.failure, item.claim, item.created_page) == (Status.PENDING, error.message, None, None)
    assert history(item)[-1] == ("failed", ALICE.name, "")
    mend()
    item = create(item)
    assert (item.status, item.failure) == (Status.CREATED, "")
    assert vault_folder.read("wiki/concepts/tides.md").endswith(b"Twice a day.\n")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"proposed_frontmatter": {**BOUND, "lang": "xx"}}, ErrorCode.INVALID_FRONTMATTER),
        ({"proposed_frontmatter": {**BOUND, "sources": []}}, ErrorCode.INVALID_FRONTMATTER),
        ({"proposed_frontmatter": {**BOUND, "title": "Other"}}, ErrorCode.INVALID_FRONTMATTER),
        ({"proposed_frontmatter": {**BOUND, "type": "person"}}, ErrorCode.INVALID_FRONTMATTER),
        ({"proposed_frontmatter": {**BOUND, "content_hash": "0"}}, ErrorCode.INVALID_FRONTMATTER),
        ({"proposed_frontmatter": {**BOUND, "title": "index"}, "proposed_title": "index"}, ErrorCode.PATH_NOT_ALLOWED),
        ({"proposed_body": ""}, ErrorCode.INVALID_CONTENT),
        ({"proposed_text": "no frontmatter\n"}, ErrorCode.INVALID_FRONTMATTER),
        (
            {"proposed_text": "---\ntype: concept\ntitle: Tides\nsources: [a]\nlang: en\n---\nx\n", "target": "a.md"},
            ErrorCode.PATH_NOT_ALLOWED,
        ),
        (
            {
                "proposed_text": "---\ntype: concept\ntitle: Tides\nsources: [a]\nlang: en\n---\nx\n",
                "target": "wiki/concepts/../../x.md",
            },
            ErrorCode.PATH_NOT_ALLOWED,
        ),
    ],
)
def test_what_no_page_may_be_is_not_written(
    vault_folder: VaultFolder, changes: dict[str, Any], code: ErrorCode
) -> None:
    given = {"proposed_title": "Tides", "proposed_frontmatter": BOUND, "proposed_body": "Twice.\n", **changes}
    item = proposed(**given)
    error = refused(item)
    assert error.code is code
    assert vault_folder.files() == []
    assert (stored(item).status, stored(item).failure) == (Status.PENDING, error.message)


def test_read_only_refuses(vault_folder: VaultFolder, settings: Any) -> None:
    item = proposed(proposed_title="Tides", proposed_frontmatter=BOUND, proposed_body="Twice a day.\n")
    settings.SYNAPSE_READ_ONLY = True
    assert refused(item).code is ErrorCode.READ_ONLY
    assert vault_folder.files() == []


# --- a crash in between ---------------------------------------------------------------------------


def items_to_create(folder: VaultFolder) -> dict[str, ReviewItem]:
    """One of each kind: a stub, a new page, an edit, and a staged text for either."""
    folder.write("wiki/entities/ada.md", ADA.format(link="[[Analytical Engine]]"))
    scan()
    page = tides()
    new = folder.read(page.path).decode().replace("Tides", "Floods").replace("Twice", "Once")
    change = folder.read(page.path).decode().replace("Twice", "Thrice")
    edit = {"page": page, "base_hash": page.content_hash}
    staged = {"rule": "staged", "proposed_title": "Tides", "proposed_page_type": "concept", "proposed_body": "x\n"}
    return {
        "stub": missing("wiki/entities/ada.md"),
        "new": proposed(proposed_title="Ebb", proposed_frontmatter={**BOUND, "title": "Ebb"}, proposed_body="Low.\n"),
        "edit": proposed(target="b", proposed_body="Thrice a day.\n", **edit),
        "staged new": proposed(
            **{**staged, "target": "wiki/concepts/floods.md", "proposed_title": "Floods", "proposed_text": new}
        ),
        "staged edit": proposed(**{**staged, "target": page.path, "proposed_text": change}, **edit),
    }


KINDS = ["stub", "new", "edit", "staged new", "staged edit"]


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "not yet indexed"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_retry_after_a_crash_knows_its_own_file_and_writes_no_second_time(
    vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch, kind: str, indexed: bool
) -> None:
    item = items_to_create(vault_folder)[kind]
    noted: list[str] = []
    with monkeypatch.context() as patch:
        if not indexed:

            def crash(*_: Any) -> None:
                raise KeyboardInterrupt

            patch.setattr("wiki.services.filing.record_bytes", crash)
        try:
            carry_out(item, author=ALICE, note_intent=noted.append)
        except KeyboardInterrupt:
            assert not indexed
    before = contents(vault_folder)
    item.write_hash = noted[0]
    monkeypatch.setattr(composing, "today", lambda: "2100-01-01")  # and the day has changed meanwhile

    written = carry_out(item, author=ALICE, note_intent=noted.append)

    assert contents(vault_folder) == before
    assert written.content_hash == noted[0] == sha256(before[written.page.path]) == written.page.content_hash
    assert written.created is (kind in ("stub", "new", "staged new"))
    after = list(dump_index())
    scan(full=True)
    assert list(dump_index()) == after


@pytest.mark.parametrize("kind", KINDS)
def test_a_retry_after_a_crash_before_the_write_writes(vault_folder: VaultFolder, kind: str) -> None:
    item = items_to_create(vault_folder)[kind]
    before = contents(vault_folder)

    class Crash(Exception):
        pass

    def crash(content_hash: str) -> None:
        item.write_hash = content_hash
        raise Crash

    with pytest.raises(Crash):
        carry_out(item, author=ALICE, note_intent=crash)
    assert contents(vault_folder) == before
    written = carry_out(item, author=ALICE)
    assert written.content_hash == item.write_hash == sha256(vault_folder.read(written.page.path))


@pytest.mark.parametrize("kind", KINDS)
def test_one_who_has_lost_the_claim_writes_nothing(vault_folder: VaultFolder, kind: str) -> None:
    item = items_to_create(vault_folder)[kind]
    before = contents(vault_folder)
    lost = SynapseError(ErrorCode.CONFLICT, "Somebody else is at it.")

    def refuse(content_hash: str) -> None:
        raise lost

    with pytest.raises(SynapseError) as caught:
        carry_out(item, author=ALICE, note_intent=refuse)
    assert caught.value is lost
    assert contents(vault_folder) == before
    assert not list(vault_folder.root.rglob(".synapse-*"))


def test_what_is_proposed_is_what_is_written_for_every_kind(vault_folder: VaultFolder) -> None:
    for kind, item in items_to_create(vault_folder).items():
        if kind == "staged edit":
            continue  # based on the version that the edit before it has replaced
        shown = proposal(item, author=ALICE)
        before = contents(vault_folder)
        assert shown.base_hash is None or shown.base_hash == sha256(before[shown.path])
        written = carry_out(item, author=ALICE)
        assert written.page.path == shown.path
        assert vault_folder.read(shown.path).decode() == shown.text, kind
        assert {path: data for path, data in contents(vault_folder).items() if path != shown.path} == {
            path: data for path, data in before.items() if path != shown.path
        }
        assert f"updated: {date.today():%Y}" in shown.text


# --- with the rule that finds them ----------------------------------------------------------------

_NAMES = st.sampled_from(
    [
        "Analytical Engine",
        "analytical-engine",
        "analytical_engine",
        "ANALYTICAL ENGINE.md",
        "machines/Analytical Engine",
        "./Analytical Engine",
        "wiki/entities/Difference Engine",
        "difference-engine|Difference Engine",
        "Difference Engine#Part|it",
        "R & D",
        "R D",
        "C++",
        "Ünïcödé 中文",
        "中文",
        "Café",
        "Cafe\u0301",
        "İstanbul",
        "index-of-things",
        "Claude",
        "CON",
        "Don't stop",
        "Don’t stop",
        "AC/DC",
        "x" * 120,
        "1984",
        "v2.0",
    ]
)


@given(links=st.lists(st.tuples(_NAMES, st.sampled_from(["[[{}]]", "![[{}]]"])), min_size=1, max_size=8))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_once_all_that_is_missing_has_been_made_nothing_is_missing(
    vault_folder: VaultFolder, links: list[tuple[str, str]]
) -> None:
    for path in vault_folder.files():
        (vault_folder.root / path).unlink()
    for number, (name, form) in enumerate(links):
        vault_folder.write(f"wiki/p{number}.md", f"See {form.format(name)}.\n")
    scan(allow_deletions=True)
    runner.run_everything()
    missing_pages = ReviewItem.objects.filter(status=Status.PENDING, rule="missing-page")

    while item := missing_pages.filter(failure="").order_by("target").first():
        if standing_page(item.proposed_title):  # asked for in another folder, too, or in capitals
            assert refused(item).code is ErrorCode.CONFLICT
            continue
        made = create(item).created_page
        assert made is not None
        assert made.flags == []
        asked = {page["path"] for page in item.referenced_pages}
        assert asked <= {link.source.path for link in made.backlinks.all()}, item.title
        runner.run()

    refused_before = set(missing_pages)
    scan()
    runner.run_everything()
    assert set(missing_pages) <= refused_before


# --- what Obsidian makes of the name ----------------------------------------------------------------


FORSTER = "wiki/concepts/e-m-forster.md"


def asked_for_forster(folder: VaultFolder, link: str) -> ReviewItem:
    for name in ("howards-end", "maurice"):
        folder.write(f"wiki/{name}.md", f"---\nlang: en\n---\nBy {link}.\n")
    scan()
    found = {"target": "e. m. forster", "proposed_title": "E. M. Forster"}
    return missing("wiki/howards-end.md", "wiki/maurice.md", **found)


def test_a_link_that_obsidian_does_not_follow_is_warned_of(vault_folder: VaultFolder) -> None:
    """Obsidian goes by the names of files: a page whose name is not its slug is found here by its title alone."""
    done = resolve(item_id=asked_for_forster(vault_folder, "[[E. M. Forster]]").pk, action="create", author=ALICE)
    (warning,) = done.warnings
    assert warning.startswith(f"obsidian_name: Obsidian does not lead [[E. M. Forster]] to {FORSTER}")
    assert "[[e-m-forster|E. M. Forster]]" in warning
    assert resolve(item_id=done.item.pk, action="create", author=ALICE).warnings == []
    # What it says to do is enough: moved to a file of that name, the links lead there by Obsidian's rule.
    page_move(page=Page.objects.get(path=FORSTER), path="wiki/concepts/E. M. Forster.md", author=ALICE)
    assert set(Link.objects.filter(text="E. M. Forster").values_list("state", flat=True)) == {"resolved"}


@pytest.mark.parametrize("link", ["[[e-m-forster]]", "[[e-m-forster|E. M. Forster]]", "[[concepts/e-m-forster|he]]"])
def test_a_link_that_obsidian_follows_is_not(vault_folder: VaultFolder, link: str) -> None:
    item = asked_for_forster(vault_folder, link)
    assert resolve(item_id=item.pk, action="create", author=ALICE).warnings == []


def test_of_many_spellings_the_most_asked_for_are_named(vault_folder: VaultFolder) -> None:
    links = ["[[E. M. Forster]]", "[[E.M. Forster]]", "[[e. m. forster]]", "[[E M Forster]]", "[[E. M. FORSTER]]"]
    item = asked_for_forster(vault_folder, " ".join(links))
    vault_folder.write("wiki/passage.md", "By [[E.M. Forster]].")
    scan()
    (warning,) = resolve(item_id=item.pk, action="create", author=ALICE).warnings
    assert warning.startswith("obsidian_name: Obsidian does not lead [[E.M. Forster]], ")
    assert warning.count("[[") == 4 and " and others to " in warning


def test_an_edit_says_nothing_of_names(vault_folder: VaultFolder) -> None:
    create(asked_for_forster(vault_folder, "[[E. M. Forster]]"))
    page = Page.objects.get(path=FORSTER)
    edit = proposed(page=page, proposed_body="He wrote.\n", base_hash=page.content_hash)
    assert resolve(item_id=edit.pk, action="create", author=ALICE).warnings == []
