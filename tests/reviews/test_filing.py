"""Filing: what becomes an item, what refreshes one, and what was decided for good."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.models import BaseText, CitedSource, Evidence, LikenessKey, ProducerState, ResearchRun, ReviewItem, Status
from reviews.services import Finding, close, file, filing, forget_all, reopen, resolve
from reviews.services.events import REFRESHES_TOLD_EVERY
from reviews.services.findings import MAX_RATIONALE, MAX_TITLE, content_key
from tests.indexed import indexed
from tests.reviews.queue import ALICE, CLAUDE, SCAN, SWEEP, file_all, finding, history, pending, state
from vault.errors import ErrorCode, SynapseError

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("vault_folder")]

DECISIONS = {"skip": Status.SKIPPED, "dismiss": Status.DISMISSED, "mark-resolved": Status.RESOLVED}


def decide(item: ReviewItem, status: str) -> ReviewItem:
    """Have an item end in any status, as its own action would."""
    action = next((action for action, leads_to in DECISIONS.items() if leads_to == status), None)
    if action is not None:
        return resolve(item_id=item.pk, action=action, author=ALICE).item
    if status == Status.AUTO_RESOLVED:
        assert close(items=[item], note="no longer so", author=SWEEP) == 1
    else:
        ReviewItem.objects.filter(pk=item.pk).update(status=status, reviewed_at=item.created_at)
    return ReviewItem.objects.get(pk=item.pk)


# --- new items -------------------------------------------------------------------------------------


def test_an_item_holds_what_was_found() -> None:
    page, asker = indexed("Ada"), indexed("Asker")
    found = Finding(
        item_type="suggestion",
        rule="unlinked-mention",
        target="ada|asker",
        title="“Ada” is named\nhere ",
        rationale="Twice.",
        page=page,
        proposed_title="Ada Lovelace",
        proposed_page_type="entity",
        proposed_frontmatter={"type": "entity"},
        proposed_body="Body.\n",
        base_hash="a" * 64,
        references=[asker],
        search_queries=["ada", "lovelace", "babbage", "byron"],
        evidence=["one"],
        rests_on=[page.pk],
        rank=4,
    )
    (item,) = file_all(found).filed
    stored = ReviewItem.objects.get()
    assert stored == item
    shown = {name: getattr(stored, name) for name in ("status", "origin", "title", "rationale", "rank", "page_path")}
    assert shown == {
        "status": "pending",
        "origin": "rule",
        "title": "“Ada” is named here",
        "rationale": "Twice.",
        "rank": 4,
        "page_path": page.path,
    }
    assert (stored.page, stored.proposed_title, stored.proposed_page_type) == (page, "Ada Lovelace", "entity")
    assert (stored.proposed_frontmatter, stored.proposed_body) == ({"type": "entity"}, "Body.\n")
    assert stored.referenced_pages == [{"id": str(asker.uid), "title": "Asker", "path": asker.path}]
    assert stored.search_queries == ["ada", "lovelace", "babbage"]
    assert set(Evidence.objects.values_list("page", flat=True)) == {page.pk, asker.pk}
    assert (stored.filed_by, stored.filed_via) == ("synapse", "scan")
    assert history(stored) == [("filed", "synapse", "pending")]


def test_what_is_too_long_is_cut_and_text_no_database_holds_is_replaced() -> None:
    pages = [indexed(f"P{number}") for number in range(10)]
    item = pending(title="t" * 400, rationale="r" * 5_000 + "\0\ud800", references=pages, rank=-3)
    assert (len(item.title), item.title[-1], len(item.rationale)) == (MAX_TITLE, "…", MAX_RATIONALE)
    assert (len(item.referenced_pages), item.evidence.count(), item.rank) == (8, 10, 0)


def test_the_same_question_twice_in_one_call_is_one_item() -> None:
    filed = file_all(finding("a", title="First"), finding("b"), finding("a", title="Second"))
    assert [outcome.what for outcome in filed.outcomes] == ["filed", "filed", "filed"]
    assert filed.outcomes[0].item == filed.outcomes[2].item
    assert sorted(ReviewItem.objects.values_list("title", flat=True)) == ["First", "b is missing"]


def test_items_of_one_call_keep_their_order_in_a_list_by_time() -> None:
    file_all(*(finding(f"t{number:02}") for number in range(30)))
    assert list(ReviewItem.objects.values_list("target", flat=True)) == [f"t{number:02}" for number in range(30)]


def test_nothing_is_filed_while_the_vault_is_read_only(settings: Any) -> None:
    settings.SYNAPSE_READ_ONLY = True
    with pytest.raises(SynapseError) as refused:
        file_all(finding())
    assert refused.value.code is ErrorCode.READ_ONLY
    assert not ReviewItem.objects.exists()


# --- what is the same question ---------------------------------------------------------------------


def test_a_question_is_its_type_rule_target_and_page() -> None:
    ada, bob = indexed("Ada"), indexed("Bob")
    base = finding("x", page=ada, title="A", rationale="B", rank=1, evidence=["e"], proposed_body="body")
    same = [replace(base, title="other"), replace(base, rank=9), replace(base, proposed_body="else")]
    other = [
        replace(base, item_type="confirm"),
        replace(base, rule="orphan"),
        replace(base, target="y"),
        replace(base, page=bob),
        replace(base, page=None),
    ]
    keys = [content_key(one, origin="rule") for one in (base, *same, *other)]
    assert len(set(keys[: 1 + len(same)])) == 1
    assert len(set(keys)) == 1 + len(other)


def test_what_an_agent_proposes_is_part_of_its_question() -> None:
    base = finding("x", rule="agent", proposed_frontmatter={"a": 1, "b": 2}, proposed_body="body", base_hash="0" * 64)
    same = [replace(base, rationale="other"), replace(base, proposed_frontmatter={"b": 2, "a": 1})]
    other = [
        replace(base, proposed_frontmatter={"a": 1}),
        replace(base, proposed_frontmatter=None),
        replace(base, proposed_body=""),
        replace(base, proposed_body=None),
        replace(base, proposed_text="whole"),
        replace(base, base_hash="1" * 64),
    ]
    keys = [content_key(one, origin="agent") for one in (base, *same, *other)]
    assert len(set(keys[:3])) == 1
    assert len(set(keys)) == 1 + len(other)


def test_the_database_holds_one_pending_item_a_question() -> None:
    item = pending()
    item.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewItem(
            **{field.attname: getattr(item, field.attname) for field in item._meta.fields if field.name != "id"}
        ).save()


# --- filing again ----------------------------------------------------------------------------------


def test_a_pending_item_is_refreshed_in_place() -> None:
    asker, other = indexed("Asker"), indexed("Other")
    item = pending(rationale="old", references=[asker], evidence=["1"])
    again = finding(rationale="new", title="T", references=[other], search_queries=["q"], evidence=["2"], rank=7)
    filed = file_all(again)
    assert ([one.pk for one in filed.refreshed], filed.filed) == ([item.pk], [])
    stored = ReviewItem.objects.get()
    assert (stored.pk, stored.created_at, stored.status) == (item.pk, item.created_at, "pending")
    assert (stored.rationale, stored.title, stored.rank, stored.search_queries) == ("new", "T", 7, ["q"])
    assert stored.referenced_pages[0]["title"] == "Other"
    assert list(stored.evidence.values_list("page", flat=True)) == [other.pk]
    assert stored.evidence_hash != item.evidence_hash
    assert stored.refreshed_at is not None
    assert history(stored) == [("filed", "synapse", "pending"), ("refreshed", "synapse", "")]


def test_refreshes_by_one_hand_are_told_once_a_day() -> None:
    """What rests on a page that everybody links to changes with each write: its history must not grow with it."""
    item = pending()
    for number in range(20):
        assert len(file_all(finding(rank=number + 1)).refreshed) == 1
    assert ReviewItem.objects.get().rank == 20
    assert [what for what, *_ in history(item)] == ["filed", "refreshed"]
    file_all(finding(rank=30), author=SWEEP)
    assert [what for what, *_ in history(item)] == ["filed", "refreshed", "refreshed"]
    item.events.update(at=timezone.now() - REFRESHES_TOLD_EVERY - timedelta(minutes=1))
    file_all(finding(rank=31))
    item.events.update(at=timezone.now() + timedelta(days=2))  # the clock is set back
    file_all(finding(rank=32))
    assert [what for what, *_ in history(item)] == ["filed", *["refreshed"] * 4]


@pytest.mark.parametrize(
    "change",
    [
        {"title": "other"},
        {"rationale": "other"},
        {"rank": 5},
        {"search_queries": ["q"]},
        {"evidence": ["other"]},
        {"proposed_title": "Other"},
        {"rests_on": True},
    ],
)
def test_any_change_refreshes(change: dict[str, Any]) -> None:
    pending()
    if "rests_on" in change:
        change = {"rests_on": [indexed("Other").pk]}
    assert len(file_all(finding(**change)).refreshed) == 1


def test_a_page_that_moved_refreshes_where_it_lies() -> None:
    page = indexed("Ada")
    item = pending(page=page)
    page.path = "wiki/entities/ada.md"
    page.save()
    assert file_all(finding(page=page)).refreshed == [item]
    assert ReviewItem.objects.get().page_path == "wiki/entities/ada.md"


def test_filing_the_same_again_writes_nothing() -> None:
    pages = [indexed(f"P{number}") for number in range(5)]
    findings = [
        finding(
            f"t{number}",
            page=pages[number % 5] if number % 2 else None,
            references=pages[: number % 4],
            rests_on=[page.pk for page in pages[number % 3 :]],
            evidence=[str(number), "x"],
            proposed_frontmatter={"tags": ("a", "b"), "n": 1.5, "none": None} if number % 3 else None,
            proposed_body="" if number % 5 else None,
        )
        for number in range(20)
    ]
    file_all(*findings)
    before = state()
    random.Random(1).shuffle(findings)
    findings = [replace(one, evidence=one.evidence[::-1], rests_on=one.rests_on[::-1]) for one in findings]
    with CaptureQueriesContext(connection) as queries:
        filed = file_all(*findings)
    assert len(filed.unchanged) == 20
    assert all(query["sql"].startswith("SELECT") for query in queries), "nothing but looking"
    assert state() == before


@pytest.mark.parametrize("status", [status.value for status in Status if status != Status.PENDING])
@pytest.mark.parametrize("evidence", ["same", "other"])
def test_a_question_that_was_decided(status: str, evidence: str) -> None:
    item = decide(pending(evidence=["same"]), status)
    filed = file_all(finding(evidence=[evidence], rationale="once more"))
    comes_back = {
        Status.DISMISSED: None,
        Status.SKIPPED: "changed" if evidence == "other" else None,
        Status.RESOLVED: "changed" if evidence == "other" else None,
        Status.DEEP_RESEARCHED: "changed" if evidence == "other" else None,
        Status.CREATED: "regressed",
        Status.AUTO_RESOLVED: "regressed",
    }[Status(status)]
    before = ReviewItem.objects.get(pk=item.pk)
    assert (before.status, before.rationale) == (status, "")
    if comes_back is None:
        (refused,) = filed.refused
        assert (refused.item, ReviewItem.objects.count()) == (item, 1)
        assert ("dismissed" if status == "dismissed" else status) in refused.reason
    else:
        (new,) = filed.filed
        stored = ReviewItem.objects.get(pk=new.pk)
        assert (stored.previous, stored.previous_reason, stored.status) == (item, comes_back, "pending")


def test_the_latest_decision_decides_whatever_the_clocks_said() -> None:
    first = decide(pending(evidence=["1"]), "skipped")
    (second,) = file_all(finding(evidence=["2"])).filed
    ReviewItem.objects.filter(pk=second.pk).update(created_at=first.created_at.replace(year=2001))
    decide(ReviewItem.objects.get(pk=second.pk), "dismissed")
    (refused,) = file_all(finding(evidence=["3"])).refused
    assert refused.item == second


def test_a_cap_lets_the_best_through_and_counts_the_rest() -> None:
    file_all(finding("old", rank=0))
    decide(pending("gone"), "dismissed")
    findings = [finding("old", rank=1), finding("gone"), *(finding(f"t{rank}", rank=rank) for rank in (3, 9, 5, 7))]
    filed = file_all(*findings, cap=2)
    assert sorted(item.target for item in filed.filed) == ["t7", "t9"]
    assert (len(filed.refreshed), len(filed.refused), filed.held_back) == (1, 1, 2)
    assert file_all(*findings, cap=0).held_back == 2
    assert file_all(*findings, cap=2).held_back == 0
    assert ReviewItem.objects.filter(status="pending").count() == 5


def test_filing_takes_few_statements_however_many_findings() -> None:
    pages = [indexed(f"P{number}") for number in range(5)]

    def statements(count: int, start: int) -> int:
        findings = [finding(f"t{start + number}", references=pages) for number in range(count)]
        with CaptureQueriesContext(connection) as queries:
            file_all(*findings)
        return len(queries)

    assert statements(500, 0) <= statements(5, 1_000) + 4
    assert statements(1_500, 2_000) <= 40


def test_a_question_filed_by_somebody_else_meanwhile_is_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not take turns is caught by the constraint; the loser looks again."""
    insert, turns = filing._insert, []

    def too_late(*arguments: Any) -> None:
        monkeypatch.setattr(filing, "_insert", insert)
        raise IntegrityError

    def turn() -> None:
        turns.append(1)
        if len(turns) == 2:  # what the other one's transaction has left behind
            key = content_key(finding(), origin="rule")
            theirs = {"item_type": "missing-page", "rule": "missing-page", "origin": "rule", "target": "turing"}
            ReviewItem.objects.create(title="theirs", content_key=key, **theirs)

    monkeypatch.setattr(filing, "_insert", too_late)
    monkeypatch.setattr(filing, "filing_lock", turn)
    assert len(file_all(finding(title="ours")).refreshed) == 1
    assert ReviewItem.objects.get().title == "ours"


def test_a_question_that_is_always_taken_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_late(*arguments: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(filing, "_insert", too_late)
    with pytest.raises(SynapseError) as refused:
        file_all(finding())
    assert refused.value.code is ErrorCode.CONFLICT


# --- reopening -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [status.value for status in Status if status != Status.PENDING])
def test_reopening_files_a_new_item_that_names_the_old_one(status: str) -> None:
    asker = indexed("Asker")
    old = decide(pending(rationale="why", references=[asker], evidence=["1"], rank=3, proposed_title="T"), status)
    item = ReviewItem.objects.get(pk=reopen(item_id=str(old.pk), author=ALICE).pk)
    assert (item.previous, item.previous_reason, item.origin, item.status) == (old, "reopened", "system", "pending")
    assert (item.filed_by, item.filed_via) == ("user:alice", "admin")
    for name in ("title", "rationale", "rank", "rule", "target", "referenced_pages", "proposed_title", "content_key"):
        assert getattr(item, name) == getattr(old, name)
    assert list(item.evidence.values_list("page", flat=True)) == [asker.pk]
    assert ReviewItem.objects.get(pk=old.pk).status == status
    assert reopen(item_id=old.pk, author=ALICE) == item, "once more is the same item"
    assert file_all(finding(rationale="new", references=[asker], evidence=["1"], rank=3)).refreshed == [item]


@pytest.mark.parametrize(
    ("setting", "code"), [("SYNAPSE_READ_ONLY", ErrorCode.READ_ONLY), ("SYNAPSE_AGENT_MAY_DECIDE", ErrorCode.FORBIDDEN)]
)
def test_reopening_is_a_decision(settings: Any, setting: str, code: ErrorCode) -> None:
    old = decide(pending(), "dismissed")
    setattr(settings, setting, setting == "SYNAPSE_READ_ONLY")
    with pytest.raises(SynapseError) as refused:
        reopen(item_id=old.pk, author=CLAUDE)
    assert refused.value.code is code
    assert ReviewItem.objects.count() == 1


def test_forgetting_leaves_nothing() -> None:
    page = indexed("Asker")
    old = decide(pending(references=[page]), "dismissed")
    reopen(item_id=old.pk, author=ALICE)
    ResearchRun.objects.create(topic="T", backend="agent")
    LikenessKey.objects.create(page=page, kind="title", key="k")
    CitedSource.objects.create(path="raw/sources/a.md", content_hash="0")
    ProducerState.objects.create(rule="orphan")
    BaseText.objects.create(content_hash="0", text="The text that a proposal was made from.")
    models = list(apps.get_app_config("reviews").get_models())
    assert all(model._default_manager.exists() for model in models), "a row of each"
    forget_all()
    assert [model for model in models if model._default_manager.exists()] == []


# --- any sequence, against a model of the table ----------------------------------------------------


class Model:
    """The filing table, over items as (status, evidence) in the order in which they were filed."""

    def __init__(self) -> None:
        self.items: dict[str, list[list[str]]] = {}

    def file(self, target: str, evidence: str) -> str:
        items = self.items.setdefault(target, [])
        if not items:
            items.append(["pending", evidence])
            return "filed"
        status, old = items[-1]
        if status == "pending":
            items[-1][1] = evidence
            return "unchanged" if evidence == old else "refreshed"
        if status == "dismissed" or (status in ("skipped", "resolved", "deep_researched") and evidence == old):
            return "refused"
        items.append(["pending", evidence])
        return "filed"

    def decide(self, target: str, status: str) -> bool:
        items = self.items.get(target, [])
        if not items or items[-1][0] != "pending":
            return False
        items[-1][0] = status
        return True

    def reopen(self, target: str) -> bool:
        items = self.items.get(target, [])
        if not items or items[-1][0] == "pending":
            return False
        items.append(["pending", items[-1][1]])
        return True


TARGETS = st.sampled_from("abc")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("file"), st.lists(st.tuples(TARGETS, st.sampled_from("12")), min_size=1, max_size=4)),
        st.tuples(st.just("decide"), TARGETS, st.sampled_from([status.value for status in Status][1:])),
        st.tuples(st.just("reopen"), TARGETS),
    ),
    max_size=14,
)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_any_sequence_of_filing_and_deciding_follows_the_table(steps: list[Any]) -> None:
    model = Model()
    with transaction.atomic():
        for what, *details in steps:
            if what == "file":
                asked = dict(details[0])  # each target once, as one run of a producer
                filed = file(findings=[finding(t, evidence=[e]) for t, e in asked.items()], origin="rule", author=SCAN)
                assert [one.what for one in filed.outcomes] == [model.file(t, e) for t, e in asked.items()]
            elif what == "decide":
                target, status = details
                item = ReviewItem.objects.filter(target=target, status="pending").first()
                assert model.decide(target, status) == (item is not None)
                if item is not None:
                    decide(item, status)
            elif model.reopen(details[0]):
                chain = ReviewItem.objects.filter(target=details[0], next=None)
                reopen(item_id=chain.get().pk, author=ALICE)
        for target, expected in model.items.items():
            found = list(
                ReviewItem.objects.filter(target=target).order_by("created_at").values_list("status", flat=True)
            )
            assert found == [status for status, _ in expected]
            assert ReviewItem.objects.filter(target=target, previous=None).count() == 1, "one chain"
        transaction.set_rollback(True)
