"""The review queue: items, what happened to them, and research they asked for.

An item is one decision. Its state is changed by :mod:`reviews.services` alone, out of ``pending`` only and once.
Pages and files are named by row and by path: rows can be rebuilt, and an export must be readable without them.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from wiki.models import File, Page, PageType


class ItemType(models.TextChoices):
    """What kind of decision is asked for."""

    MISSING_PAGE = "missing-page"
    SUGGESTION = "suggestion"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    CONFIRM = "confirm"


class Origin(models.TextChoices):
    """Who asks: a deterministic producer, an agent, or Synapse itself (a reopened item)."""

    RULE = "rule"
    AGENT = "agent"
    SYSTEM = "system"


class Status(models.TextChoices):
    """Where an item stands: ``pending``, then one of the others for good."""

    PENDING = "pending"
    CREATED = "created"
    SKIPPED = "skipped"
    DISMISSED = "dismissed"
    RESOLVED = "resolved"
    DEEP_RESEARCHED = "deep_researched"
    AUTO_RESOLVED = "auto_resolved"


class RunStatus(models.TextChoices):
    """Where a research run stands."""

    QUEUED = "queued"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


class ResearchRun(models.Model):
    """A question handed to whoever researches: a topic and queries, and the page that came of it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    topic = models.TextField()
    queries = models.JSONField(default=list, blank=True, help_text="list of strings, at most 3")
    backend = models.CharField(max_length=24)
    status = models.CharField(max_length=8, choices=RunStatus.choices, default=RunStatus.QUEUED)
    claimed_by = models.CharField(max_length=120, blank=True, default="")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="after this a claim is nobody's")
    attempts = models.PositiveIntegerField(default=0)
    page = models.ForeignKey(Page, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    page_path = models.TextField(blank=True, default="", help_text="vault path of the page it wrote")
    note = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [models.CheckConstraint(condition=Q(status__in=RunStatus.values), name="run_status_known")]
        indexes = [models.Index(fields=["status", "created_at", "id"], name="run_status")]

    def __str__(self) -> str:
        return self.topic


class ReviewItem(models.Model):
    """One decision that somebody is asked for."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    item_type = models.CharField(max_length=16, choices=ItemType.choices)
    rule = models.CharField(max_length=32, help_text="the producer's name, `agent`, or `staged`")
    origin = models.CharField(max_length=8, choices=Origin.choices)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.PENDING)
    title = models.TextField(help_text="what is asked, in one line")
    rationale = models.TextField(blank=True, default="", help_text="why, in one paragraph")
    rank = models.PositiveIntegerField(default=0, help_text="how much rests on it; higher first in lists for people")

    page = models.ForeignKey(Page, on_delete=models.SET_NULL, null=True, blank=True, related_name="reviews")
    page_path = models.TextField(blank=True, default="", help_text="vault path of the page when it was filed")
    file = models.ForeignKey(File, on_delete=models.SET_NULL, null=True, blank=True, related_name="reviews")
    file_path = models.TextField(blank=True, default="")
    target = models.TextField(help_text="what the rule looked at, normalised: with the rule it finds the item again")

    proposed_title = models.TextField(blank=True, default="")
    proposed_page_type = models.CharField(max_length=12, choices=PageType.choices, blank=True, default="")
    proposed_frontmatter = models.JSONField(null=True, blank=True)
    proposed_body = models.TextField(null=True, blank=True)  # noqa: DJ001 - null proposes no body, "" an empty one
    proposed_text = models.TextField(blank=True, default="", help_text="the whole file as staged, written as it is")
    base_hash = models.CharField(
        max_length=64, blank=True, default="", help_text="sha256 of the version it is based on"
    )

    referenced_pages = models.JSONField(default=list, blank=True, help_text="list of {id, title, path}, at most 8")
    search_queries = models.JSONField(default=list, blank=True, help_text="list of strings, at most 3")
    content_key = models.CharField(max_length=64, help_text="sha256 hex of what makes two items the same question")
    evidence_hash = models.CharField(max_length=64, blank=True, default="", help_text="sha256 hex of what it rests on")

    filed_by = models.CharField(max_length=120, blank=True, default="")
    filed_via = models.CharField(max_length=12, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    refreshed_at = models.DateTimeField(null=True, blank=True)
    previous = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="next", help_text="the item it follows"
    )
    previous_reason = models.CharField(
        max_length=12, blank=True, default="", help_text="regressed, reopened or changed"
    )

    created_page = models.ForeignKey(Page, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    created_path = models.TextField(blank=True, default="")
    research_run = models.ForeignKey(
        ResearchRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="items"
    )
    note = models.TextField(blank=True, default="")
    failure = models.TextField(blank=True, default="", help_text="why the last attempt to carry it out failed")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    reviewed_by = models.CharField(max_length=120, blank=True, default="")
    reviewed_via = models.CharField(max_length=12, blank=True, default="")

    claim = models.UUIDField(null=True, blank=True, help_text="who is carrying it out at this moment")
    claimed_at = models.DateTimeField(null=True, blank=True)
    write_hash = models.CharField(
        max_length=64, blank=True, default="", help_text="sha256 of what a claim sets out to write"
    )

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["content_key"], condition=Q(status="pending"), name="one_pending_item_a_question"
            ),
            models.CheckConstraint(
                condition=Q(status="pending", reviewed_at__isnull=True)
                | (~Q(status="pending") & Q(reviewed_at__isnull=False)),
                name="decided_items_say_when",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="review_status_known"),
            models.CheckConstraint(condition=Q(item_type__in=ItemType.values), name="review_type_known"),
        ]
        indexes = [
            models.Index(fields=["status", "created_at", "id"], name="review_queue"),
            models.Index(fields=["status", "-rank", "created_at", "id"], name="review_rank"),
            models.Index(fields=["content_key", "created_at"], name="review_content"),
            models.Index(fields=["rule", "status"], name="review_rule"),
        ]

    def __str__(self) -> str:
        return self.title


class ReviewEvent(models.Model):
    """What happened to an item: appended, never edited."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    what = models.CharField(max_length=16, help_text="filed, refreshed, decided, failed, closed, imported")
    who = models.CharField(max_length=120)
    door = models.CharField(max_length=12)
    from_status = models.CharField(max_length=16, blank=True, default="")
    to_status = models.CharField(max_length=16, blank=True, default="")
    note = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.what} {self.to_status}".strip()


class Evidence(models.Model):
    """A page that an item rests on: when it changes, the item is looked at again."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="evidence")
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "page"], name="one_evidence_a_page")]

    def __str__(self) -> str:
        return f"{self.item_id} {self.page_id}"


class BaseText(models.Model):
    """The version of a page that a proposal was made from, while the proposal waits (reviews.services.bases)."""

    content_hash = models.CharField(max_length=64, unique=True, help_text="sha256 of the file's bytes, hex")
    text = models.TextField()

    def __str__(self) -> str:
        return self.content_hash


class LikenessKey(models.Model):
    """A key under which pages that may be the same meet: a canonical title, or a hash of their words."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=5, help_text="title or body")
    key = models.CharField(max_length=64)

    class Meta:
        indexes = [models.Index(fields=["kind", "key"], name="likeness_key")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class CitedSource(models.Model):
    """A raw source that pages cite, as it was when they were last known to agree with it."""

    path = models.TextField(unique=True, help_text="the source's key (wiki.services.citations)")
    content_hash = models.CharField(max_length=64)
    noticed_hash = models.CharField(
        max_length=64, blank=True, default="", help_text="what it has become since; empty while it is the same"
    )
    waiting = models.JSONField(
        default=dict, blank=True, help_text="pages that have not been rewritten since then: {id: their sha256}"
    )

    def __str__(self) -> str:
        return self.path


class ProducerState(models.Model):
    """What a producer found when it last looked at everything, and what it held back."""

    rule = models.CharField(max_length=32, unique=True)
    held_back = models.PositiveIntegerField(default=0, help_text="findings over the cap of one run")
    last_full_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.rule
