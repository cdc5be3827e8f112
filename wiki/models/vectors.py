"""Passages of pages with their vectors, and how far embedding is."""

from __future__ import annotations

from django.db import models

from wiki.models.index import Page


class Chunk(models.Model):
    """A passage of a page and its vector: what meaning is searched by.

    Cut when a page is embedded (:mod:`wiki.vectors.chunks`). ``start`` and ``end`` are code points of the page's
    body as it is in the words index.
    """

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    ordinal = models.PositiveIntegerField(help_text="0 is the lead")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    heading = models.TextField(blank=True, default="", help_text="headings it stands under, from the outermost")
    hash = models.CharField(max_length=64, help_text="sha256 of the text that was embedded, hex")
    vector = models.BinaryField(help_text="float16, little-endian, of length 1")
    sparse = models.JSONField(null=True, blank=True, help_text="token id to weight, where the model has them")
    model_id = models.CharField(max_length=120)
    dim = models.PositiveIntegerField()
    seq = models.BigIntegerField(help_text="grows with each change of vectors: a reader loads what is past its last")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["page", "ordinal"], name="one_chunk_a_place")]
        indexes = [models.Index(fields=["seq"], name="chunk_seq")]

    def __str__(self) -> str:
        return f"{self.page_id} #{self.ordinal}"


class EmbeddingState(models.Model):
    """The one row (pk 1) that says which model the vectors are of, and how far they are."""

    model_id = models.CharField(max_length=120, blank=True, default="")
    dim = models.PositiveIntegerField(default=0)
    generation = models.BigIntegerField(default=0, help_text="the highest Chunk.seq given, removals counted")
    removed_at = models.BigIntegerField(default=0, help_text="generation of the last removal: readers load all anew")
    paused = models.BooleanField(default=False)
    last_error = models.TextField(blank=True, default="", help_text="why embedding stands still, for people")
    store_failed = models.BooleanField(default=False, help_text="it was the store of vectors that failed last")

    def __str__(self) -> str:
        return self.model_id or "no vectors"
