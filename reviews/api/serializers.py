"""What the queue asks and answers over REST; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from reviews.actions import ACTIONS
from reviews.api.fields import Choice, Ids, Objects
from reviews.models import ItemType, Origin, Status
from reviews.services.bulk import MAX_IDS
from reviews.services.proposals import MAX_ITEMS
from reviews.services.reading import ORDERS, STATUS_GROUPS
from reviews.services.rules import MAX_NOTE
from wiki.api.fields import Text, VaultPath
from wiki.api.serializers import ErrorSerializer
from wiki.models import PageType

#: Each action, and the other names that it has.
ACTION_CHOICES: Final = [(name, name) for action in ACTIONS for name in (action.name, *action.aliases)]
#: The statuses that somebody can choose.
CHOSEN_STATUSES: Final = [(action.status.value, action.status.label) for action in ACTIONS]
_NOTE: Final = "why, if there is something to say"


class NamedPageSerializer(serializers.Serializer[Any]):
    """A page as it is called now; only its path where it is no longer in the index."""

    id = serializers.UUIDField(allow_null=True)
    title = serializers.CharField(allow_null=True)
    path = serializers.CharField()


class NamedFileSerializer(serializers.Serializer[Any]):
    """A file that is not a page."""

    path = serializers.CharField()


class ItemSerializer(serializers.Serializer[Any]):
    """One decision that somebody is asked for, or that was taken."""

    id = serializers.UUIDField()
    item_type = serializers.ChoiceField(ItemType.choices)
    rule = serializers.CharField(help_text="the producer's name, `agent`, or `staged`")
    origin = serializers.ChoiceField(Origin.choices)
    status = serializers.ChoiceField(Status.choices)
    title = serializers.CharField(help_text="what is asked, in one line")
    rationale = serializers.CharField(help_text="why")
    rank = serializers.IntegerField(
        help_text="how much rests on it; 1,000 of a staged write, 500 of what an agent files"
    )
    page = NamedPageSerializer(allow_null=True, help_text="what it is about")
    file = NamedFileSerializer(allow_null=True)
    proposed_title = serializers.CharField()
    proposed_page_type = serializers.ChoiceField(PageType.choices, allow_blank=True)
    proposed_frontmatter = serializers.DictField(allow_null=True)
    proposed_body = serializers.CharField(allow_null=True, help_text="whole where one item is asked for, else null")
    has_proposal = serializers.BooleanField(help_text="`create` has a text to write")
    base_hash = serializers.CharField(help_text="sha256 of the version that the proposal is based on, or empty")
    referenced_pages = NamedPageSerializer(many=True, help_text="at most 8")
    search_queries = serializers.ListField(child=serializers.CharField(), help_text="at most 3")
    created_page = NamedPageSerializer(allow_null=True)
    research_run = serializers.UUIDField(allow_null=True)
    note = serializers.CharField()
    failure = serializers.CharField(help_text="why the last attempt to carry it out failed")
    previous = serializers.UUIDField(allow_null=True, help_text="the item that it follows")
    previous_reason = serializers.CharField()
    filed_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    reviewed_at = serializers.DateTimeField(allow_null=True)
    reviewed_by = serializers.CharField()
    reviewed_via = serializers.CharField(help_text="the door: admin, rest, mcp-http, mcp-stdio, command, sweep")


class EventSerializer(serializers.Serializer[Any]):
    """Something that happened to an item."""

    at = serializers.DateTimeField()
    what = serializers.CharField(help_text="filed, refreshed, decided, failed, closed, researched, …")
    who = serializers.CharField()
    door = serializers.CharField()
    from_status = serializers.CharField()
    to_status = serializers.CharField()
    note = serializers.CharField()


class DiffPartSerializer(serializers.Serializer[Any]):
    """A stretch of a line."""

    text = serializers.CharField()
    changed = serializers.BooleanField()
    left_out = serializers.IntegerField(required=False, help_text="so many characters are not shown here")


class DiffRowSerializer(serializers.Serializer[Any]):
    """A line of both texts, side by side."""

    kind = serializers.CharField(help_text="equal, changed, added, removed or skipped")
    old_line = serializers.IntegerField(allow_null=True)
    new_line = serializers.IntegerField(allow_null=True)
    old = DiffPartSerializer(many=True)
    new = DiffPartSerializer(many=True)
    count = serializers.IntegerField(required=False, help_text="how many lines were skipped")


class ConflictTextsSerializer(serializers.Serializer[Any]):
    """The three texts of a conflict, each cut at 200,000 characters."""

    base = serializers.CharField(allow_null=True, help_text="what the proposal was made from, if it is still kept")
    current = serializers.CharField(allow_null=True)
    proposed = serializers.CharField()


class DiffSerializer(serializers.Serializer[Any]):
    """What the item proposes beside what the page holds now."""

    path = serializers.CharField()
    new_page = serializers.BooleanField()
    base_hash = serializers.CharField()
    current_hash = serializers.CharField()
    conflict = serializers.BooleanField(help_text="the page is not what the proposal was made from")
    added = serializers.IntegerField(help_text="lines")
    removed = serializers.IntegerField(help_text="lines")
    unified = serializers.CharField(help_text="as `diff -u` has it")
    rows = DiffRowSerializer(many=True)
    coarse = serializers.BooleanField()
    truncated = serializers.BooleanField(help_text="not all of the change is shown")
    texts = ConflictTextsSerializer(allow_null=True)
    problem = serializers.CharField(allow_null=True)


class ResearchSerializer(serializers.Serializer[Any]):
    """Where the item's research stands, and the page that came of it."""

    id = serializers.UUIDField()
    status = serializers.CharField(help_text="queued, claimed, done or failed")
    page = NamedPageSerializer(allow_null=True)
    note = serializers.CharField()


class ItemDetailSerializer(ItemSerializer):
    """An item whole: with its newest events, the actions that can be taken now, and what it proposes as a diff."""

    actions = serializers.ListField(child=serializers.CharField(), help_text="none once it is decided")
    conflict = serializers.BooleanField()
    diff = DiffSerializer(allow_null=True)
    events = EventSerializer(many=True, help_text="the newest 100, oldest first")
    research = ResearchSerializer(allow_null=True)


@extend_schema_serializer(many=False)  # the method is named `list`, and yet it answers one object
class ItemListSerializer(serializers.Serializer[Any]):
    """A part of the queue."""

    result = ItemSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="pass it as `cursor` to go on; null at the end")
    total = serializers.IntegerField()


class ItemListQuerySerializer(serializers.Serializer[Any]):
    """Which part of the queue."""

    status = serializers.ChoiceField(
        [(name, name) for name in STATUS_GROUPS],
        required=False,
        default="pending",
        help_text="resolved: created, resolved, auto_resolved and deep_researched. dismissed: dismissed and skipped",
    )
    item_type = serializers.ChoiceField(ItemType.choices, required=False, default=None)
    origin = serializers.ChoiceField(Origin.choices, required=False, default=None)
    page = VaultPath(required=False, default=None, help_text="a page's id or path: items about it, or resting on it")
    order = serializers.ChoiceField(
        [(name, name) for name in ORDERS], required=False, default="oldest", help_text="rank: most rests on it first"
    )
    limit = serializers.IntegerField(required=False, default=50, help_text="1 to 100, clamped")
    cursor = serializers.CharField(required=False, default=None, help_text="`next_cursor` of the part before")


class ProposalSerializer(serializers.Serializer[Any]):
    """Something that a person should decide."""

    item_type = serializers.ChoiceField(ItemType.choices)
    title = serializers.CharField(help_text="what is asked, in one line; at most 200 characters")
    rationale = serializers.CharField(required=False, help_text="why; at most 4,000 characters")
    page = serializers.CharField(required=False, help_text="what it is about: a page's id, path or exact title")
    proposed_title = serializers.CharField(required=False, help_text="of the page that `create` would make")
    proposed_page_type = serializers.ChoiceField(PageType.choices, required=False)
    proposed_frontmatter = serializers.DictField(required=False)
    proposed_body = serializers.CharField(required=False, help_text="Markdown without a frontmatter block")
    base_hash = serializers.CharField(required=False, help_text="content_hash of the page that proposed_body changes")
    referenced_pages = serializers.ListField(
        child=serializers.CharField(), required=False, max_length=8, help_text="ids, paths or exact titles"
    )
    search_queries = serializers.ListField(child=serializers.CharField(), required=False, max_length=3)


class FileItemsSerializer(serializers.Serializer[Any]):
    """What is to be put before the queue."""

    items = Objects(child=ProposalSerializer(), min_length=1, max_length=MAX_ITEMS)


class FiledItemSerializer(serializers.Serializer[Any]):
    """What became of one item that was sent."""

    index = serializers.IntegerField(help_text="its place in `items`, from 0")
    outcome = serializers.ChoiceField(
        [(what, what) for what in ("filed", "refreshed", "unchanged", "refused")],
        help_text="refreshed, unchanged: the question is pending already",
    )
    id = serializers.UUIDField(required=False, help_text="of the item in the queue")
    status = serializers.ChoiceField(Status.choices, required=False)
    error = serializers.CharField(required=False)
    error_code = serializers.CharField(required=False)


class FiledSerializer(serializers.Serializer[Any]):
    """What became of each item, in the order given, and the counts."""

    result = FiledItemSerializer(many=True)
    filed = serializers.IntegerField()
    refreshed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()


class NoteSerializer(serializers.Serializer[Any]):
    """What may be said with a decision."""

    note = Text(required=False, default="", max_length=MAX_NOTE, help_text=_NOTE)


class DecisionSerializer(serializers.Serializer[Any]):
    """One transition: by the action, or by the status that it leads to, but not both."""

    action = Choice(ACTION_CHOICES, required=False)
    status = Choice(CHOSEN_STATUSES, required=False)
    note = Text(required=False, default="", max_length=MAX_NOTE, help_text=_NOTE)


class DecidedSerializer(serializers.Serializer[Any]):
    """An item after a decision."""

    item = ItemSerializer()
    changed = serializers.BooleanField(help_text="false: it had been decided so before")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="of the page that was written")


class ReopenedSerializer(serializers.Serializer[Any]):
    """The pending item that asks the question anew."""

    item = ItemSerializer()


class BulkSerializer(serializers.Serializer[Any]):
    """One action on the items that are named. A filter is not taken."""

    action = Choice(ACTION_CHOICES)
    ids = Ids(
        child=serializers.CharField(),
        min_length=1,
        max_length=MAX_IDS,
        help_text="an id given twice counts once; the answer names what is no text by its JSON text",
    )
    note = Text(required=False, default="", max_length=MAX_NOTE, help_text=_NOTE)


class FailedIdSerializer(ErrorSerializer):
    """An item about which nothing was decided, and why."""

    id = serializers.CharField()


def _warnings() -> serializers.DictField:
    return serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="of the pages that were written, by the item's id; absent where there are none",
    )


class BulkDoneSerializer(serializers.Serializer[Any]):
    """What became of each id, each once and in the order given."""

    updated = serializers.ListField(child=serializers.CharField(), help_text="decided by this call")
    skipped_terminal = serializers.ListField(child=serializers.CharField(), help_text="decided before; they stay so")
    failed = FailedIdSerializer(many=True)
    warnings = _warnings()


class BulkResolvedSerializer(serializers.Serializer[Any]):
    """What became of each id, each once and in the order given."""

    resolved = serializers.ListField(child=serializers.CharField(), help_text="decided by this call")
    not_found = serializers.ListField(child=serializers.CharField(), help_text="unknown, or no id at all")
    already = serializers.ListField(child=serializers.CharField(), help_text="decided before; they stay so")
    failed = FailedIdSerializer(many=True)
    count = serializers.IntegerField(help_text="how many this call decided")
    warnings = _warnings()


class SweptSerializer(serializers.Serializer[Any]):
    """How many items a sweep has closed."""

    auto_resolved = serializers.IntegerField()
