"""What search, graph, sources and status ask and answer; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from wiki.api.serializers import PageRefSerializer, TitleQuerySerializer
from wiki.embedding.progress import STATES as EMBEDDING_STATES
from wiki.faults import Fault
from wiki.models import PageType
from wiki.search import PRESETS
from wiki.search.budget import DEFAULT_WINDOW, MAX_WINDOW, MIN_WINDOW

_PHASES = ("words", "meaning", "both", "link")


class SearchQuerySerializer(serializers.Serializer[Any]):
    """What to look for, and among which pages."""

    q = serializers.CharField(
        trim_whitespace=False, allow_blank=True, help_text="words, at most 10,000 characters; operators mean nothing"
    )
    preset = serializers.ChoiceField(
        list(PRESETS),
        required=False,
        default="standard",
        help_text="k and depth: fast 4 and 0, standard 8 and 2, deep 12 and 2",
    )
    k = serializers.IntegerField(required=False, default=None, help_text="1 to 50, clamped; else as the preset has it")
    depth = serializers.IntegerField(
        required=False,
        default=None,
        help_text="links away from what matches: 0 to 2, clamped; else as the preset has it",
    )
    context = serializers.BooleanField(  # type: ignore[assignment]  # a field of a serializer may have any name
        required=False, default=True, help_text="false: only the pages, no text of them"
    )
    context_window = serializers.IntegerField(
        required=False,
        default=DEFAULT_WINDOW,
        help_text=f"tokens of the reading model, {MIN_WINDOW:,} to {MAX_WINDOW:,}, clamped; the budget is a fifth",
    )
    type = serializers.ChoiceField(PageType.choices, required=False, default=None)
    tag = serializers.CharField(required=False, default=None, help_text="with the tags nested in it")
    prefix = serializers.CharField(required=False, default=None, help_text="how the vault path begins: wiki/concepts/")
    lang = serializers.CharField(required=False, default=None, help_text="ISO 639-1")
    updated_since = serializers.DateTimeField(required=False, default=None, help_text="ISO 8601; UTC unless it says so")


class HitSerializer(PageRefSerializer):
    """A page that was found, and why."""

    path = serializers.CharField()
    phase = serializers.ChoiceField(_PHASES, help_text="what found it; link: a page that is tied to what matches")
    why = serializers.CharField()
    snippet = serializers.CharField()


class PlaceSerializer(serializers.Serializer[Any]):
    """A part of a page's body, in characters of its NFC: a file may have accents as characters of their own."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()


class CitationSerializer(serializers.Serializer[Any]):
    """What a number of the context stands for."""

    n = serializers.IntegerField(help_text="from 1, without gaps")
    id = serializers.UUIDField()
    title = serializers.CharField()
    path = serializers.CharField()
    score = serializers.FloatField(help_text="relevance_score")
    phase = serializers.ChoiceField(_PHASES)
    why = serializers.CharField()
    passages = PlaceSerializer(many=True, help_text="what of the page is in the context")


class SearchSerializer(serializers.Serializer[Any]):
    """The pages that fit, best first, and what of them fits into the window of the model that reads it."""

    result = HitSerializer(many=True)
    mode = serializers.ChoiceField(
        ["hybrid", "lexical", "semantic"], help_text="by words and meaning, by words alone, by meaning alone"
    )
    degraded = serializers.DictField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="which way of finding (words, meaning) failed, and why; null if none. Switched off is no failure",
    )
    data_version = serializers.IntegerField()
    citations = CitationSerializer(many=True, required=False)
    context = serializers.CharField(  # type: ignore[assignment]  # as above
        required=False, help_text="of each page `[n] Title (path)` and the passages that matched"
    )
    tokens = serializers.IntegerField(required=False, help_text="of the context, about")
    budget = serializers.IntegerField(required=False, help_text="tokens that the context may have")


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

    source = serializers.UUIDField()  # type: ignore[assignment]  # as above
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


class EmbeddingSerializer(serializers.Serializer[Any]):
    """How far the vectors are that meaning is searched by."""

    state = serializers.ChoiceField(
        EMBEDDING_STATES,
        help_text="off: by the settings; waiting: nobody makes vectors at this moment; failed: it is tried again",
    )
    model = serializers.CharField(help_text="whose vectors these are; empty before the first")
    pages = serializers.IntegerField()
    pages_done = serializers.IntegerField(help_text="all of what they say now has vectors")
    lead_done = serializers.IntegerField(help_text="meaning finds them, by their beginning at least")
    chunks = serializers.IntegerField(help_text="passages with a vector")
    waiting = serializers.IntegerField(help_text="pages that lack vectors")
    eta_seconds = serializers.IntegerField(allow_null=True, help_text="null: not known")
    error = serializers.CharField(allow_null=True, help_text="why it stands still, for people")


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
    embedding = EmbeddingSerializer()
    last_scan = serializers.DictField(help_text="figures of the last scan that changed something, or why it stopped")
    last_scan_at = serializers.DateTimeField(allow_null=True)


class LiveSerializer(serializers.Serializer[Any]):
    """The process is up."""

    ok = serializers.BooleanField()


class ProblemSerializer(serializers.Serializer[Any]):
    """A fault around the server: its name, what people are told, and whether it keeps all from being served."""

    fault = serializers.ChoiceField(choices=[fault.value for fault in Fault])
    text = serializers.CharField()
    stops = serializers.BooleanField()


class ReadySerializer(LiveSerializer):
    """Whether the process can serve, and what it lacks."""

    checks = serializers.DictField(child=serializers.BooleanField())
    problems = ProblemSerializer(many=True)
