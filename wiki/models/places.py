"""Where pages stand on the map of the vault: computed by a job, read by whoever draws it."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from wiki.models.index import Page


class PagePlace(models.Model):
    """A page's place on the map, and the community it belongs to."""

    page = models.OneToOneField(Page, on_delete=models.CASCADE, primary_key=True, related_name="place")
    community = models.IntegerField(null=True, blank=True, help_text="0 is the largest; null for a page without edges")
    x = models.FloatField(help_text="-1 to 1 when all places were made; pages that came later may stand further out")
    y = models.FloatField(help_text="as x")

    def __str__(self) -> str:
        return f"{self.page_id} at {self.x:.2f}, {self.y:.2f}"


class MapState(models.Model):
    """The one row (pk 1) that says of which version of the index the map is."""

    data_version = models.PositiveBigIntegerField()
    pages = models.PositiveIntegerField()
    edges = models.PositiveIntegerField()
    communities = models.PositiveIntegerField()
    modularity = models.FloatField(help_text="of the communities when all places were made, -0.5 to 1")
    reach = models.FloatField(default=0.0, help_text="what 1 on the map is in the units of wiki.graph.placing")
    moved = models.PositiveIntegerField(
        default=0, help_text="pages that came, went or moved since all places were made"
    )
    picture = models.BinaryField(default=b"", help_text="what draws it: wiki.graph.picture")
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"version {self.data_version}"
