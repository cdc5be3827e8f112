"""What research runs ask and answer over REST; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from reviews.api.serializers import NamedPageSerializer
from reviews.models import ItemType, RunStatus
from reviews.services.research import LEASE_SECONDS, LONGEST_LEASE, MAX_CLAIMS, SHORTEST_LEASE
from reviews.services.rules import MAX_NOTE
from wiki.api.fields import Flag, Text, VaultPath, Whole

_NOTE = "what whoever asked should know"


class RunItemSerializer(serializers.Serializer[Any]):
    """The review item that asked for the research."""

    id = serializers.UUIDField()
    item_type = serializers.ChoiceField(ItemType.choices)
    title = serializers.CharField()
    rationale = serializers.CharField()
    page = NamedPageSerializer(allow_null=True)
    referenced_pages = NamedPageSerializer(many=True)


class RunSerializer(serializers.Serializer[Any]):
    """A question that waits for research, is being researched, or was."""

    id = serializers.UUIDField()
    topic = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField(), help_text="at most 3 leads")
    backend = serializers.CharField()
    status = serializers.ChoiceField(RunStatus.choices)
    claimed_by = serializers.CharField(allow_null=True)
    lease_until = serializers.DateTimeField(allow_null=True, help_text="after this the claim is nobody's")
    attempts = serializers.IntegerField()
    attempts_left = serializers.IntegerField(help_text=f"of {MAX_CLAIMS}")
    page = NamedPageSerializer(allow_null=True, help_text="what came of it")
    note = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    item = RunItemSerializer(allow_null=True, help_text="null once it has been removed")


@extend_schema_serializer(many=False)  # the method is named `list`, and yet it answers one object
class RunListSerializer(serializers.Serializer[Any]):
    """A part of the runs, oldest first."""

    result = RunSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="pass it as `cursor` to go on; null at the end")
    total = serializers.IntegerField()


class RunListQuerySerializer(serializers.Serializer[Any]):
    """Which runs."""

    status = serializers.ChoiceField(
        [*RunStatus.choices, ("all", "all")],
        required=False,
        default="queued",
        help_text="queued: can be claimed now, runs whose lease has ended too",
    )
    limit = serializers.IntegerField(required=False, default=50, help_text="1 to 100, clamped")
    cursor = serializers.CharField(required=False, default=None, help_text="`next_cursor` of the part before")


class ClaimSerializer(serializers.Serializer[Any]):
    """For how long the run is to be held."""

    lease_seconds = Whole(
        required=False,
        default=LEASE_SECONDS,
        min_value=SHORTEST_LEASE,
        max_value=LONGEST_LEASE,
        help_text=f"{SHORTEST_LEASE} to {LONGEST_LEASE}",
    )


class CompleteSerializer(serializers.Serializer[Any]):
    """The page that answers the question: by its id, or by its exact title or its path."""

    page_id = Text(required=False, default=None)
    title = Text(required=False, default=None)
    path = VaultPath(required=False, default=None, help_text="decides between namesakes")
    note = Text(required=False, default="", max_length=MAX_NOTE, help_text=_NOTE)


class FailSerializer(serializers.Serializer[Any]):
    """Why no page came of it, and whether somebody else shall try."""

    note = Text(required=False, default="", max_length=MAX_NOTE, help_text=_NOTE)
    retry = Flag(required=False, default=False, help_text="put it back among those that wait, while tries are left")


class RunChangedSerializer(serializers.Serializer[Any]):
    """A run as it stands."""

    run = RunSerializer()
    changed = serializers.BooleanField(
        help_text="false: it had ended so before; of a claim: the caller holds it already, and has a new lease"
    )
