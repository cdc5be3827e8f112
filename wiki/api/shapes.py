"""What REST requests and answers look like; the OpenAPI document is made from these."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from wiki.models import PageType

Shape = serializers.Serializer[Any]


class ErrorShape(Shape):
    """The one envelope of every failure; some codes add fields that help to repair the request."""

    error = serializers.CharField(help_text="what went wrong and what to do")
    error_code = serializers.CharField(help_text="a code of docs/errors.md")


class PageRefShape(Shape):
    """A page in a list."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.ChoiceField(PageType.choices, allow_null=True)
    path = serializers.CharField(help_text="vault-relative")


class PageListShape(Shape):
    results = PageRefShape(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="pass it as `cursor` to go on; null at the end")
    total = serializers.IntegerField()


class BacklinkShape(Shape):
    id = serializers.UUIDField()
    title = serializers.CharField()
    path = serializers.CharField()


class PageShape(PageRefShape):
    """A page with its text, read from its file."""

    content = serializers.CharField(help_text="Markdown body without the frontmatter block")
    frontmatter = serializers.DictField()
    content_hash = serializers.CharField(help_text="sha256 of the file's bytes; also the ETag")
    backlinks = BacklinkShape(many=True)


class WrittenShape(PageRefShape):
    content_hash = serializers.CharField()
    created = serializers.BooleanField()
    warnings = serializers.ListField(child=serializers.CharField())


class CreateShape(Shape):
    """A new page. Its file is wiki/<folder of the type>/<slug of the title>.md."""

    title = serializers.CharField(trim_whitespace=False)
    content = serializers.CharField(trim_whitespace=False, help_text="Markdown body without a frontmatter block")
    frontmatter = serializers.DictField(help_text="at least type, title, sources (a list, not empty) and lang")
    origin_source = serializers.CharField(required=False, default="", allow_blank=True, help_text="added to sources")


class PutShape(Shape):
    """The new text: either the whole file as `text`, or `content` with `frontmatter` merged into what is there."""

    text = serializers.CharField(required=False, trim_whitespace=False, allow_blank=True)
    content = serializers.CharField(required=False, trim_whitespace=False, allow_blank=True)
    frontmatter = serializers.DictField(required=False, help_text="keys left out are kept, null removes")


class ListParams(Shape):
    type = serializers.ChoiceField(PageType.choices, required=False, allow_null=True, default=None)
    limit = serializers.IntegerField(required=False, default=100, help_text="1 to 500, clamped")
    cursor = serializers.CharField(required=False, default=None, allow_null=True)


class TitleParams(Shape):
    title = serializers.CharField(trim_whitespace=False, allow_blank=True, help_text="exact, case-sensitive")
    path = serializers.CharField(required=False, default=None, allow_null=True, help_text="decides between namesakes")


class MoveShape(Shape):
    path = serializers.CharField(help_text="the new vault-relative path, ending in .md; nothing may be there")


class RetitleShape(Shape):
    title = serializers.CharField(trim_whitespace=False)
    rename = serializers.BooleanField(required=False, default=False, help_text="give the file the new title's name too")
    preview = serializers.BooleanField(required=False, default=False, help_text="only tell which links would change")


class RestoreShape(Shape):
    version = serializers.IntegerField(min_value=1, help_text="a number of GET /pages/{id}/history")


class VersionShape(Shape):
    number = serializers.IntegerField()
    at = serializers.CharField()
    author = serializers.CharField()
    door = serializers.CharField()
    action = serializers.CharField()
    path = serializers.CharField()
    content_hash = serializers.CharField()
    displaced_hash = serializers.CharField(allow_null=True)
    size = serializers.IntegerField()


class DeletedShape(Shape):
    id = serializers.UUIDField()
    path = serializers.CharField()
    linked_from = BacklinkShape(many=True, help_text="pages whose links now lead nowhere")


class LinkChangeShape(Shape):
    path = serializers.CharField()
    changes = serializers.ListField(child=serializers.DictField(), help_text="before and after of each link")
    error_code = serializers.CharField(required=False, allow_null=True)


class RetitledShape(PageRefShape):
    content_hash = serializers.CharField()
    preview = serializers.BooleanField()
    files = LinkChangeShape(many=True)


class HistoryShape(Shape):
    results = VersionShape(many=True)


class SearchParams(Shape):
    q = serializers.CharField(trim_whitespace=False, allow_blank=True, help_text="words; operators have no meaning")
    k = serializers.IntegerField(required=False, default=8, help_text="1 to 50, clamped")
    type = serializers.ChoiceField(PageType.choices, required=False, default=None, allow_null=True)
    tag = serializers.CharField(required=False, default=None, allow_null=True)
    path = serializers.CharField(required=False, default=None, allow_null=True, help_text="a folder: path prefix")
    lang = serializers.CharField(required=False, default=None, allow_null=True)


class HitShape(PageRefShape):
    relevance_score = serializers.FloatField(help_text="0 to 1; 1 = first")
    why = serializers.ListField(child=serializers.CharField())
    snippet = serializers.CharField()


class SearchShape(Shape):
    results = HitShape(many=True)
    mode = serializers.CharField()
    degraded = serializers.DictField(allow_null=True)
    data_version = serializers.IntegerField()


class NeighborhoodParams(TitleParams):
    depth = serializers.IntegerField(required=False, default=1, help_text="1 or 2, clamped")


class NodeShape(Shape):
    id = serializers.UUIDField()
    title = serializers.CharField()
    type = serializers.CharField(allow_null=True)
    depth = serializers.IntegerField()


class EdgeShape(Shape):
    source = serializers.UUIDField()
    target = serializers.UUIDField()
    weight = serializers.FloatField()
    links = serializers.IntegerField()


class NeighborhoodShape(Shape):
    center = serializers.UUIDField()
    nodes = NodeShape(many=True)
    edges = EdgeShape(many=True)
    truncated = serializers.BooleanField()


class SourceShape(Shape):
    path = serializers.CharField()
    size_bytes = serializers.IntegerField()
    content_hash = serializers.CharField()


class SourceListShape(Shape):
    results = SourceShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class SourceListParams(Shape):
    limit = serializers.IntegerField(required=False, default=100)
    cursor = serializers.CharField(required=False, default=None, allow_null=True)


class SourceParams(Shape):
    offset = serializers.IntegerField(required=False, default=0, min_value=0, help_text="in characters")


class SourceTextShape(Shape):
    path = serializers.CharField()
    content = serializers.CharField(help_text="at most 100,000 characters")
    size_bytes = serializers.IntegerField()
    truncated = serializers.BooleanField()
    next_offset = serializers.IntegerField(allow_null=True)
    content_hash = serializers.CharField()


class RescanShape(Shape):
    started = serializers.BooleanField()
    job = serializers.IntegerField(allow_null=True)
    running = serializers.BooleanField()


class StatusShape(Shape):
    version = serializers.CharField()
    vault_id = serializers.UUIDField()
    data_version = serializers.IntegerField()
    pages = serializers.IntegerField()
    files = serializers.IntegerField()
    links = serializers.IntegerField()
    broken_links = serializers.IntegerField()
    flagged_pages = serializers.IntegerField()
    waiting_jobs = serializers.IntegerField()
    read_only = serializers.BooleanField()
    last_scan = serializers.DictField()
    last_scan_at = serializers.DateTimeField(allow_null=True)


class HealthShape(Shape):
    ok = serializers.BooleanField()
    checks = serializers.DictField(required=False)
