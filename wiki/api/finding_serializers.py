"""What search, graph, sources and status ask and answer; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from wiki.api.serializers import PageRefSerializer, TitleQuerySerializer
from wiki.models import PageType


class SearchQuerySerializer(serializers.Serializer[Any]):
    """What to look for, and among which pages."""

    q = serializers.CharField(
        trim_whitespace=False, allow_blank=True, help_text="words, at most 10,000 characters; operators mean nothing"
    )
    k = serializers.IntegerField(required=False, default=8, help_text="1 to 50, clamped")
    type = serializers.ChoiceField(PageType.choices, required=False, default=None)
    tag = serializers.CharField(required=False, default=None, help_text="with the tags nested in it")
    prefix = serializers.CharField(required=False, default=None, help_text="how the vault path begins: wiki/concepts/")
    lang = serializers.CharField(required=False, default=None, help_text="ISO 639-1")


class HitSerializer(PageRefSerializer):
    """A page that was found, and why."""

    path = serializers.CharField()
    why = serializers.CharField()
    snippet = serializers.CharField()


class SearchSerializer(serializers.Serializer[Any]):
    """The pages that fit, best first."""

    result = HitSerializer(many=True)
    mode = serializers.CharField(help_text="lexical: by words alone")
    degraded = serializers.DictField(allow_null=True, help_text="which way of finding failed, and why; null if none")
    data_version = serializers.IntegerField()


class NeighborhoodQuerySerializer(TitleQuerySerializer):
    """Which page, and how far around it."""

    depth = serializers.IntegerField(required=False, default=1, help_text="1 or 2, clamped")


class NodeSerializer(serializers.Serializer[Any]):
    """A page of the neighbourhood."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.ChoiceField(PageType.choices, allow_null=True)
    depth = serializers.IntegerField(help_text="steps from the centre")


class EdgeSerializer(serializers.Serializer[Any]):
    """The tie of two pages."""

    source = serializers.UUIDField()  # type: ignore[assignment]  # a field of a serializer may have any name
    target = serializers.UUIDField()
    weight = serializers.FloatField()
    links = serializers.IntegerField()


class NeighborhoodSerializer(serializers.Serializer[Any]):
    """The pages around one and the ties among them."""

    center = serializers.UUIDField()
    nodes = NodeSerializer(many=True, help_text="at most 200")
    edges = EdgeSerializer(many=True, help_text="heaviest first")
    truncated = serializers.BooleanField()


class SourceListQuerySerializer(serializers.Serializer[Any]):
    """Which part of the sources."""

    prefix = serializers.CharField(
        required=False, default="", trim_whitespace=False, help_text="how the vault path begins: raw/sources/2026/"
    )
    limit = serializers.IntegerField(required=False, default=100, help_text="1 to 500, clamped")
    cursor = serializers.CharField(required=False, default=None, help_text="`next_cursor` of the part before")


class SourceSerializer(serializers.Serializer[Any]):
    """A source in a list."""

    path = serializers.CharField(help_text="vault-relative")
    size_bytes = serializers.IntegerField()
    content_hash = serializers.CharField(allow_null=True)


class SourceListSerializer(serializers.Serializer[Any]):
    """A part of the sources, by path."""

    result = SourceSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class SourceQuerySerializer(serializers.Serializer[Any]):
    """Where to begin."""

    offset = serializers.IntegerField(
        required=False, default=0, min_value=0, help_text="in characters; `next_offset` of the part before"
    )


class SourceTextSerializer(serializers.Serializer[Any]):
    """A part of a source's text."""

    path = serializers.CharField(help_text="vault-relative")
    content = serializers.CharField(help_text="at most 100,000 characters")
    size_bytes = serializers.IntegerField()
    truncated = serializers.BooleanField()
    next_offset = serializers.IntegerField(allow_null=True)
    content_hash = serializers.CharField()


class RescanSerializer(serializers.Serializer[Any]):
    """What became of the request for a scan."""

    started = serializers.BooleanField(help_text="false: one waits or runs already")
    job = serializers.IntegerField(allow_null=True)
    running = serializers.BooleanField()


class StatusSerializer(serializers.Serializer[Any]):
    """The state of the index."""

    version = serializers.CharField()
    vault_id = serializers.UUIDField()
    data_version = serializers.IntegerField(help_text="grows with each write or scan that changed something")
    pages = serializers.IntegerField()
    files = serializers.IntegerField()
    sources = serializers.IntegerField()
    links = serializers.IntegerField()
    broken_links = serializers.IntegerField()
    flagged_pages = serializers.IntegerField()
    waiting_jobs = serializers.IntegerField()
    scan_running = serializers.BooleanField()
    read_only = serializers.BooleanField()  # type: ignore[assignment]  # as above
    last_scan = serializers.DictField(help_text="figures of the last scan that changed something, or why it stopped")
    last_scan_at = serializers.DateTimeField(allow_null=True)


class LiveSerializer(serializers.Serializer[Any]):
    """The process is up."""

    ok = serializers.BooleanField()


class ReadySerializer(LiveSerializer):
    """Whether the process can serve, and what it lacks."""

    checks = serializers.DictField(child=serializers.BooleanField())
