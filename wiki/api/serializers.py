"""What REST requests and answers look like; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from vault.errors import ErrorCode
from wiki.api.fields import Flag, Text, VaultPath, Whole
from wiki.models import PageType


class ErrorSerializer(serializers.Serializer[Any]):
    """The one envelope of every failure; some codes add fields that help to repair the request."""

    error = serializers.CharField(help_text="what went wrong and what to do")
    error_code = serializers.ChoiceField([(code.value, code.name) for code in ErrorCode])


class NothingSerializer(serializers.Serializer[Any]):
    """No parameters at all."""


class PageRefSerializer(serializers.Serializer[Any]):
    """A page in a list."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.ChoiceField(PageType.choices, allow_null=True)
    relevance_score = serializers.FloatField(help_text="0 to 1; 0 where nothing was searched for")


class LocatedPageSerializer(serializers.Serializer[Any]):
    """A page and where it is."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.ChoiceField(PageType.choices, allow_null=True)
    path = serializers.CharField(help_text="vault-relative")


@extend_schema_serializer(many=False)  # the method is named `list`, and yet it answers one object
class PageListSerializer(serializers.Serializer[Any]):
    """A part of the pages, by title."""

    result = PageRefSerializer(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="pass it as `cursor` to go on; null at the end")
    total = serializers.IntegerField()


class BacklinkSerializer(serializers.Serializer[Any]):
    """A page that links to another."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    path = serializers.CharField()


class PageSerializer(LocatedPageSerializer):
    """A page with its text, read from its file."""

    content = serializers.CharField(help_text="Markdown body without the frontmatter block")
    frontmatter = serializers.DictField()
    content_hash = serializers.CharField(help_text="sha256 of the file's bytes; also the ETag")
    size_bytes = serializers.IntegerField()
    backlinks = BacklinkSerializer(many=True, help_text="at most 100")
    backlinks_total = serializers.IntegerField()


class WrittenSerializer(LocatedPageSerializer):
    """A page as it stands after a change."""

    content_hash = serializers.CharField()
    created = serializers.BooleanField()
    warnings = serializers.ListField(child=serializers.CharField())


class CreateSerializer(serializers.Serializer[Any]):
    """A new page. Its file is wiki/<folder of the type>/<slug of the title>.md."""

    title = Text()
    content = Text(help_text="Markdown body without a frontmatter block")
    frontmatter = serializers.DictField(help_text="at least type, title, sources (a list, not empty) and lang")
    origin_source = Text(required=False, default="", help_text="added to sources")


class PutSerializer(serializers.Serializer[Any]):
    """The new text: either the whole file as `text`, or `content`, `frontmatter` or both."""

    text = Text(required=False, help_text="the whole file")
    content = Text(required=False, help_text="the body; left out, it stays")
    frontmatter = serializers.DictField(
        required=False, help_text="all properties: those it lacks are removed; left out, they stay"
    )


class PageListQuerySerializer(serializers.Serializer[Any]):
    """Which part of the pages."""

    type = serializers.ChoiceField(PageType.choices, required=False, default=None)
    limit = serializers.IntegerField(required=False, default=100, help_text="1 to 500, clamped")
    cursor = serializers.CharField(required=False, default=None, help_text="`next_cursor` of the part before")


class TitleQuerySerializer(serializers.Serializer[Any]):
    """Which page."""

    title = serializers.CharField(trim_whitespace=False, allow_blank=True, help_text="exact, case-sensitive")
    path = VaultPath(required=False, default=None, help_text="decides between namesakes; title may be empty")


class MoveSerializer(serializers.Serializer[Any]):
    """Where the page's file is to go."""

    path = VaultPath(help_text="the new vault-relative path, ending in .md; nothing may be there")
    preview = Flag(required=False, default=False, help_text="only tell which links would change")


class RetitleSerializer(serializers.Serializer[Any]):
    """What the page is to be called."""

    title = Text()
    rename = Flag(required=False, default=False, help_text="give the file the new title's name too")
    preview = Flag(required=False, default=False, help_text="only tell which links would change")


class RestoreSerializer(serializers.Serializer[Any]):
    """Which version is to stand again."""

    version = Whole(min_value=1, help_text="a number of GET /pages/{id}/history")
    displaced = Flag(required=False, default=False, help_text="what that change took away, instead of what it left")


class HistoryQuerySerializer(serializers.Serializer[Any]):
    """How far back."""

    limit = serializers.IntegerField(required=False, default=100, help_text="1 to 500, clamped")


class VersionSerializer(serializers.Serializer[Any]):
    """One change of a page."""

    number = serializers.IntegerField()
    at = serializers.CharField(help_text="UTC, ISO 8601")
    author = serializers.CharField()
    door = serializers.CharField()
    action = serializers.CharField()
    path = serializers.CharField()
    content_hash = serializers.CharField()
    displaced_hash = serializers.CharField(allow_null=True)
    size = serializers.IntegerField()
    restorable = serializers.BooleanField(help_text="whether what it left is still kept")


class HistorySerializer(serializers.Serializer[Any]):
    """The changes of a page, newest first."""

    result = VersionSerializer(many=True)


class DeletedSerializer(serializers.Serializer[Any]):
    """What was deleted, and the pages whose links now lead to nothing."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    path = serializers.CharField()
    content_hash = serializers.CharField(help_text="of what was deleted")
    linked_from = BacklinkSerializer(many=True, help_text="at most 100")
    linked_from_total = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


class ChangedLineSerializer(serializers.Serializer[Any]):
    """A line whose links are written anew."""

    line = serializers.IntegerField()
    before = serializers.CharField()
    after = serializers.CharField()


class ChangedFileSerializer(BacklinkSerializer):
    """A file that links to the page, with the lines that change."""

    lines = ChangedLineSerializer(many=True)


class FailedFileSerializer(ErrorSerializer):
    """A file whose links could not be written."""

    path = serializers.CharField()


class RenamedPageSerializer(PageRefSerializer):
    """The page under its new name."""

    path = serializers.CharField()


class RenamedSerializer(serializers.Serializer[Any]):
    """A page with its new path or title, and what became of the files that link to it."""

    page = RenamedPageSerializer()
    content_hash = serializers.CharField()
    preview = serializers.BooleanField(help_text="true: nothing was written")
    files = ChangedFileSerializer(many=True, help_text="at most 200")
    files_total = serializers.IntegerField()
    failed = FailedFileSerializer(many=True)
    warnings = serializers.ListField(child=serializers.CharField())
