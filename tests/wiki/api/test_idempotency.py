"""A request sent again under its Idempotency-Key is answered again, byte for byte, and done once."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from tests.conftest import VaultFolder
from tests.wiki.api.conftest import Rest, frontmatter, page, refused
from vault.errors import ErrorCode, SynapseError
from wiki import idempotency, services
from wiki.idempotency import Answer, Asked, Run, SignsOfLife
from wiki.models import IdempotencyKey, Page, Scope
from wiki.tokens import create_token

ADA = {"title": "Ada", "content": "Text.\n", "frontmatter": frontmatter("Ada")}
ASKED = Asked(caller="token:1", method="POST", path="/pages", key="k", digest="d")
KEPT = Answer(201, {"ETag": '"e"'}, b"{}")


@pytest.fixture(autouse=True)
def signs(monkeypatch: pytest.MonkeyPatch) -> SignsOfLife:
    """Those of the runs of one test, which beat when it says so."""
    made = SignsOfLife()
    made._working = True  # no thread
    monkeypatch.setattr(idempotency, "_alive", made)
    return made


def again(rest: Rest, path: str, body: Any, *, key: str, method: str = "POST", **headers: str) -> Any:
    return rest.call(method, path, body, Idempotency_Key=key, **headers)


def same(first: Any, second: Any) -> None:
    """The second answer is a copy of the first."""
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.content) == (first.status_code, first.content)
    for name in ("Content-Type", "ETag", "Location", "Allow"):
        assert second.get(name) == first.get(name), name


def test_a_page_is_created_once_and_every_retry_says_so(wanda: Rest) -> None:
    first = again(wanda, "/pages", ADA, key="one")
    assert (first.status_code, first["Location"][:7]) == (201, "/pages/")
    for path in ("/pages", "/pages/", "/pages", "/pages/"):
        same(first, again(wanda, path, ADA, key="one"))
    assert Page.objects.count() == 1
    assert IdempotencyKey.objects.count() == 1


def test_without_a_key_nothing_is_kept(wanda: Rest) -> None:
    wanda.post("/pages", ADA)
    refused(wanda.post("/pages", ADA), 409, "conflict")
    assert not IdempotencyKey.objects.exists()


def test_a_refusal_is_for_good(wanda: Rest, vault: VaultFolder) -> None:
    """A stale PUT keeps the text as a draft: once, however often it is sent."""
    written = page("Ada")
    sent: dict[str, Any] = {"method": "PUT", "key": "two", "If_Match": f'"{"0" * 64}"'}
    first = again(wanda, f"/pages/{written.uid}", {"text": "Mine.\n"}, **sent)
    drafts = refused(first, 412, "stale_base")["draft"], len(list((vault.root / ".synapse/drafts").iterdir()))
    same(first, again(wanda, f"/pages/{written.uid}", {"text": "Mine.\n"}, **sent))
    assert (first.json()["draft"], len(list((vault.root / ".synapse/drafts").iterdir()))) == drafts


def test_a_replaced_page_is_replaced_once(wanda: Rest, turing: Page) -> None:
    url, etag = f"/pages/{turing.uid}", wanda.get(f"/pages/{turing.uid}")["ETag"]
    first = again(wanda, url, {"text": "Mine.\n"}, method="PUT", key="k", If_Match=etag)
    assert first.status_code == 200
    wanda.put(url, {"text": "Theirs.\n"}, If_Match=first["ETag"])
    same(first, again(wanda, url, {"text": "Mine.\n"}, method="PUT", key="k", If_Match=etag))
    assert wanda.get(url).json()["content"] == "Theirs.\n"
    assert len(wanda.get(f"{url}/history").json()["result"]) == 3


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({**ADA, "content": "Other.\n"}, {}),
        (json.dumps(ADA, indent=1).encode(), {}),
        (ADA, {"If_Match": "*"}),
        (ADA, {"Content_Type": "application/json; charset=utf-8"}),
        (b"{", {}),
    ],
)
def test_a_key_stands_for_one_request(wanda: Rest, body: Any, headers: dict[str, str]) -> None:
    first = again(wanda, "/pages", ADA, key="k")
    refused(again(wanda, "/pages", body, key="k", **headers), 422, "idempotency_conflict")
    same(first, again(wanda, "/pages", ADA, key="k"))


def test_keys_of_other_callers_methods_and_addresses_are_other_keys(wanda: Rest) -> None:
    first, second = page("First"), page("Second")
    move = {"path": "wiki/moved.md", "preview": True}
    answers = [again(wanda, f"/pages/{one.uid}/move", move, key="k") for one in (first, second)]
    assert [answer.json()["page"]["title"] for answer in answers] == ["First", "Second"]
    namesake = Rest(create_token(name="wanda", scope=Scope.WRITE)[1])
    other = again(namesake, f"/pages/{first.uid}/move", move, key="k")
    assert "Idempotency-Replayed" not in other
    again(wanda, f"/pages/{first.uid}/restore", {"version": 1}, key="k")
    assert IdempotencyKey.objects.count() == 4


def test_a_person_in_a_session_has_keys_of_their_own(wanda: Rest) -> None:
    person = User.objects.create_superuser("paula", password="x")
    client = Client()
    client.force_login(person)

    def create() -> Any:
        headers = {"Idempotency-Key": "k"}
        return client.post("/pages", json.dumps(ADA), content_type="application/json", headers=headers)

    first = create()
    assert first.status_code == 201
    same(first, create())
    refused(again(wanda, "/pages", ADA, key="k"), 409, "conflict")
    assert set(IdempotencyKey.objects.values_list("caller", flat=True)) > {f"user:{person.pk}"}


@pytest.mark.parametrize("key", ["", "a b", "é", "\x7f", "a" * 256, "a\tb"])
def test_keys_that_are_none(wanda: Rest, key: str) -> None:
    refused(again(wanda, "/pages", ADA, key=key), 400, "invalid_param_value")
    assert not Page.objects.exists()


@pytest.mark.parametrize("key", ["a", "~" * 255, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "!"])
def test_keys_that_are_some(wanda: Rest, key: str) -> None:
    same(again(wanda, "/pages", ADA, key=key), again(wanda, "/pages", ADA, key=key))


def test_reads_and_deletes_do_not_look_at_keys(wanda: Rest, turing: Page) -> None:
    url = f"/pages/{turing.uid}"
    for _ in range(2):
        assert "Idempotency-Replayed" not in wanda.get(url, Idempotency_Key="no key")
    assert wanda.delete(url, If_Match="*", Idempotency_Key="no key").status_code == 200
    refused(wanda.call("PUT", "/pages", {}, Idempotency_Key="k"), 405, "method_not_allowed")
    assert not IdempotencyKey.objects.exists()


def test_a_stranger_or_a_reader_leaves_no_row(nobody: Rest, rita: Rest) -> None:
    refused(again(nobody, "/pages", ADA, key="k"), 401, "unauthenticated")
    refused(again(rita, "/pages", ADA, key="k"), 403, "forbidden")
    assert not IdempotencyKey.objects.exists()


def test_what_a_token_may_no_more_it_is_not_told_again(wanda: Rest, vault: VaultFolder) -> None:
    from wiki.models import Token

    assert again(wanda, "/pages", ADA, key="k").status_code == 201
    Token.objects.update(scope=Scope.READ)
    refused(again(wanda, "/pages", ADA, key="k"), 403, "forbidden")


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("boom"),
        SynapseError(ErrorCode.STORAGE_ERROR, "The disk is full."),
        SynapseError(ErrorCode.CONFLICT, "It is being carried out.", retry_after=2),
        SynapseError(ErrorCode.RATE_LIMITED, "Slowly.", retry_after=2),
    ],
)
def test_a_failure_that_may_pass_is_tried_again(
    wanda: Rest, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    def fail(**_: Any) -> Any:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(services, "create_page", fail)
        answer = again(wanda, "/pages", ADA, key="k")
        assert answer.status_code in (409, 429, 500, 507)
        assert answer.get("Retry-After") == ("2" if answer.status_code in (409, 429) else None)
    assert not IdempotencyKey.objects.exists()
    assert again(wanda, "/pages", ADA, key="k").status_code == 201


def test_while_the_first_runs_the_others_wait(wanda: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    create = services.create_page
    meanwhile: list[Any] = []

    def slow(**given: Any) -> Any:
        meanwhile.append(again(wanda, "/pages", ADA, key="k"))
        meanwhile.append(again(wanda, "/pages", {**ADA, "title": "Bob"}, key="k"))
        return create(**given)

    monkeypatch.setattr(services, "create_page", slow)
    first = again(wanda, "/pages", ADA, key="k")
    assert first.status_code == 201
    refused(meanwhile[0], 409, "conflict")
    assert meanwhile[0]["Retry-After"] == "1"
    refused(meanwhile[1], 422, "idempotency_conflict")
    same(first, again(wanda, "/pages", ADA, key="k"))


def test_a_body_that_is_no_json_is_refused_alike(wanda: Rest) -> None:
    first = again(wanda, "/pages", b"{", key="k")
    refused(first, 400, "malformed_body")
    same(first, again(wanda, "/pages", b"{", key="k"))


def test_a_body_over_the_limit_leaves_no_row(wanda: Rest, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    refused(again(wanda, "/pages", ADA, key="k"), 413, "payload_too_large")
    assert not IdempotencyKey.objects.exists()


def test_a_form_of_a_person_is_refused_as_one(vault: VaultFolder) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("paula", password="x"))
    client.cookies["csrftoken"] = "a" * 32
    sent = {"csrfmiddlewaretoken": "a" * 32, "title": "Ada"}
    refused(client.post("/pages", sent, headers={"Idempotency-Key": "k"}), 415, "unsupported_media_type")


def test_an_answer_that_is_too_large_is_not_done_again(wanda: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "MAX_ANSWER_PAGES", 0)
    assert again(wanda, "/pages", ADA, key="k").status_code == 201
    assert "answered 201" in refused(again(wanda, "/pages", ADA, key="k"), 409, "conflict")["error"]


def test_an_answer_that_could_not_be_kept_is_given_all_the_same(wanda: Rest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr("django.db.models.query.QuerySet.update", broken)
        idempotency.finish(Run(1, uuid4()), KEPT)
    with monkeypatch.context() as patch:
        patch.setattr("django.db.models.query.QuerySet.delete", broken)
        idempotency.release(Run(1, uuid4()))


def begun(asked: Asked = ASKED) -> Run:
    run = idempotency.begin(asked)
    assert isinstance(run, Run)
    return run


def aged(**ages: timedelta) -> None:
    """Let times of all rows lie this far back."""
    now = timezone.now()
    IdempotencyKey.objects.update(**{name: now - age for name, age in ages.items()})


@pytest.mark.parametrize("back", [timedelta(seconds=61), -timedelta(seconds=61), timedelta(days=365)])
def test_a_dead_run_is_retaken_by_one(db: None, back: timedelta) -> None:
    dead = begun()
    aged(alive_at=back)
    run = begun()
    assert (run.pk, run.run != dead.run) == (dead.pk, True)
    with pytest.raises(SynapseError) as waits:
        idempotency.begin(ASKED)
    assert waits.value.code is ErrorCode.CONFLICT
    # The dead one was only slow: what it has to say comes too late.
    idempotency.finish(dead, Answer(500, {}, b""))
    idempotency.release(dead)
    idempotency.finish(run, KEPT)
    assert idempotency.begin(ASKED) == KEPT


def test_of_two_who_find_a_run_dead_one_retakes_it(db: None) -> None:
    begun()
    aged(alive_at=timedelta(minutes=2))
    row = IdempotencyKey.objects.get()
    assert [idempotency._retake(row, uuid4()) for _ in range(2)] == [True, False]


def test_a_run_is_not_dead_within_a_minute_nor_its_key_free_for_another_request(db: None) -> None:
    begun()
    aged(alive_at=timedelta(seconds=55))
    with pytest.raises(SynapseError) as waits:
        idempotency.begin(ASKED)
    assert (waits.value.code, waits.value.repair) == (ErrorCode.CONFLICT, {"retry_after": 1})
    aged(alive_at=timedelta(minutes=2))
    with pytest.raises(SynapseError) as other:
        idempotency.begin(Asked(**{**{name: getattr(ASKED, name) for name in Asked.__slots__}, "digest": "other"}))
    assert other.value.code is ErrorCode.IDEMPOTENCY_CONFLICT


def test_a_run_that_takes_long_gives_signs_of_life(db: None, signs: SignsOfLife) -> None:
    run = begun()
    aged(alive_at=timedelta(minutes=2))
    assert signs.beat() == 0, "a quick one costs no statement"
    assert signs.beat() == 1
    with pytest.raises(SynapseError):
        idempotency.begin(ASKED)
    idempotency.finish(run, KEPT)
    assert signs.beat() == 0


def test_every_run_that_ends_is_not_spoken_for_any_more(wanda: Rest, signs: SignsOfLife) -> None:
    for body in (ADA, ADA, b"{"):
        again(wanda, "/pages", body, key="k")
    assert signs._beats == {}


def test_the_thread_speaks_while_there_are_runs_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    signs, run = SignsOfLife(every=0.001), Run(1, uuid4())
    beats: list[int] = []
    done = threading.Event()

    def beat() -> int:
        beats.append(1)
        if len(beats) == 3:
            signs.drop(run)
            done.set()
        raise RuntimeError("boom")

    monkeypatch.setattr(signs, "beat", beat)
    signs.add(run)
    assert done.wait(10)
    for thread in threading.enumerate():
        if thread.name == "signs-of-life":
            thread.join(10)
    assert (len(beats), signs._working) == (3, False)


def test_answers_are_forgotten_after_a_day(db: None) -> None:
    idempotency.finish(begun(), KEPT)
    aged(created_at=timedelta(hours=23, minutes=59))
    assert idempotency.begin(ASKED) == KEPT
    assert idempotency.forget_expired() == 0
    for back in (timedelta(hours=24, seconds=1), -timedelta(days=365)):
        aged(created_at=back)
        idempotency.finish(begun(), KEPT)  # forgotten though its row is there still
        aged(created_at=back)
        assert idempotency.forget_expired() == 1
        assert not IdempotencyKey.objects.exists()


def test_many_are_forgotten_in_steps(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "_PURGED_AT_ONCE", 2)
    for number in range(5):
        begun(Asked(caller="token:1", method="POST", path="/pages", key=str(number), digest="d"))
    aged(created_at=timedelta(days=2))
    assert idempotency.forget_expired() == 5


def test_no_two_requests_share_a_slot() -> None:
    told = ["a", "ab", "", "a1:b"]
    slots = {Asked(caller, "POST", path, key, "").slot for caller in told for path in told for key in told}
    assert len(slots) == len(told) ** 3
    digests = {idempotency.digest_of(b"", {"If-Match": one, "Content-Type": two}) for one in told for two in told}
    assert len(digests) == len(told) ** 2


def test_the_document_shows_the_key_at_each_address_that_takes_one() -> None:
    document = json.loads((settings.BASE_DIR / "docs/openapi.json").read_text())
    taking = {
        (method, path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for parameter in operation.get("parameters", [])
        if parameter["name"] == "Idempotency-Key"
    }
    all_of_them = {(method, path) for path, item in document["paths"].items() for method in item}
    assert taking == {(method, path) for method, path in all_of_them if method in ("post", "put", "patch")}
    assert ("post", "/pages") in taking


def test_every_view_of_ours_stands_on_the_base() -> None:
    """A view that did not would do twice what is sent twice."""
    from django.urls import URLPattern, get_resolver

    from wiki.api.base import RestView

    def views(patterns: Any) -> Any:
        for pattern in patterns:
            if isinstance(pattern, URLPattern):
                yield getattr(pattern.callback, "cls", None)
            else:
                yield from views(pattern.url_patterns)

    ours = [view for view in views(get_resolver().url_patterns) if view and view.__module__.split(".")[1:2] == ["api"]]
    assert len(ours) > 10
    assert [view for view in ours if not issubclass(view, RestView)] == []
