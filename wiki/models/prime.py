"""Pages as prime gives them: at three lengths, with what they write of others. Made from the page's file alone."""

from __future__ import annotations

from django.db import models

from wiki.models.index import Page


class AtomRow(models.Model):
    """A live page that is not reserved, as an atom. A new row takes its place whenever the page is written.

    ``id`` grows with each write: a reader loads what is past its last. The full text is not kept: it is
    ``core``, the body from ``rest`` on, and ``tail`` (:func:`wiki.prime.atoms.levels.full_of`).
    """

    page = models.OneToOneField(Page, on_delete=models.CASCADE, related_name="atom")
    kind = models.CharField(max_length=12, help_text="the page's type, or page")
    slug = models.TextField(help_text="of the file's stem; namesakes are told apart when they are read")
    description = models.TextField(blank=True, default="", help_text="at most 240 characters")
    tokens_summary = models.PositiveIntegerField(help_text="chars4-v1")
    tokens_core = models.PositiveIntegerField(help_text="chars4-v1")
    tokens_full = models.PositiveIntegerField(help_text="chars4-v1")
    quality = models.FloatField(help_text="share of the checks that it passes")
    failed = models.JSONField(default=list, blank=True, help_text="names of the others (wiki.prime.atoms.quality)")
    contract = models.JSONField(default=dict, blank=True, help_text="must_include, must_avoid, conditionals")
    lifecycle = models.CharField(max_length=40, blank=True, default="")
    version = models.CharField(max_length=40, blank=True, default="")
    created = models.CharField(max_length=40, blank=True, default="", help_text="as the frontmatter has it")
    updated = models.CharField(max_length=40, blank=True, default="", help_text="as the frontmatter has it")
    rules = models.PositiveSmallIntegerField(help_text="version of the rules that made it (wiki.prime.atoms.rows)")
    summary = models.TextField()
    core = models.TextField()
    rest = models.PositiveIntegerField(help_text="where in the body full goes on, in code points")
    tail = models.TextField(blank=True, default="")

    class Meta:
        verbose_name = "atom"

    def __str__(self) -> str:
        return f"{self.kind}-{self.slug}"


class AtomRelation(models.Model):
    """A relation that a page writes with a verb, in its frontmatter or its text. Plain links are not repeated here."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="relations")
    order = models.PositiveIntegerField()
    verb = models.CharField(max_length=16)
    text = models.TextField(help_text="the other page as written")
    link_order = models.PositiveIntegerField(
        null=True, blank=True, help_text="Link.order of the link it is written as; null for a name that is no link"
    )

    class Meta:
        ordering = ["page_id", "order"]

    def __str__(self) -> str:
        return f"{self.verb}: {self.text}"
