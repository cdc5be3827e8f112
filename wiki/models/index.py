"""The index of the vault: rows that can be rebuilt from its files at any time.

Text that comes from files (titles, paths, targets) is stored NFC-normalised for look-up in the ``*_key``
columns (:mod:`vault.links`; cut at 500 characters, since PostgreSQL bounds an index entry), while ``path``
keeps the name on disk so that opening works. Deletions are soft: ``deleted_at`` is set and the row revives
when a file comes back under the same id.
"""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import F, Q


class PageType(models.TextChoices):
    """The five kinds of page that an agent may write."""

    ENTITY = "entity"
    CONCEPT = "concept"
    SOURCE = "source"
    SYNTHESIS = "synthesis"
    COMPARISON = "comparison"


class PageQuerySet(models.QuerySet["Page"]):
    """Reads of pages, chainable."""

    def live(self) -> PageQuerySet:
        """Pages whose file is in the vault."""
        return self.filter(deleted_at__isnull=True)

    def listed(self) -> PageQuerySet:
        """Live pages that search, lists and the graph show: reserved ones left out."""
        return self.live().filter(reserved=False)


class Page(models.Model):
    """A Markdown page of the vault (any ``.md`` outside raw/, dot folders and SYNAPSE_EXCLUDE)."""

    uid = models.UUIDField("id", unique=True, default=uuid.uuid4, editable=False)
    path = models.TextField(help_text="vault-relative path as on disk")
    path_key = models.TextField(help_text="vault.links.path_key(path)")
    name_key = models.TextField(help_text="vault.links.name_key(path)")
    title = models.TextField(help_text="NFC, at most 500 characters")
    title_key = models.TextField(help_text="vault.links.text_key(title)")
    type = models.CharField(max_length=12, choices=PageType.choices, null=True, blank=True)  # noqa: DJ001 - null is "no type"
    lang = models.CharField(max_length=16, blank=True, default="")
    summary = models.TextField(blank=True, default="", help_text="first sentence, at most 240 characters")
    frontmatter = models.JSONField(default=dict, blank=True)
    sources = models.JSONField(default=list, blank=True, help_text="list of strings from frontmatter")
    flags = models.JSONField(default=list, blank=True, help_text="list of {code, reason}: what is wrong with the file")
    reserved = models.BooleanField(default=False)
    words = models.PositiveIntegerField(default=0)
    content_hash = models.CharField(max_length=64, help_text="sha256 of the file's bytes, hex")
    size = models.PositiveBigIntegerField(default=0, help_text="bytes")
    mtime_ns = models.BigIntegerField(default=0)
    inode = models.PositiveBigIntegerField(default=0)
    birth_ns = models.BigIntegerField(null=True, blank=True, help_text="where the file system tells")
    read_ns = models.BigIntegerField(default=0, help_text="clock when its bytes were read: tells a doubtful mtime")
    graph_dirty = models.BooleanField(default=False, help_text="its edges wait to be computed again")
    lead_hash = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="content_hash whose first chunk has its vector"
    )
    vectors_hash = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="content_hash whose chunks all have their vectors",
    )
    indexed_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = PageQuerySet.as_manager()

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(fields=["path"], condition=Q(deleted_at__isnull=True), name="one_live_page_a_path"),
        ]
        indexes = [
            models.Index(fields=["graph_dirty"], condition=Q(graph_dirty=True), name="page_graph_dirty"),
            models.Index(
                fields=["id"],
                condition=~Q(vectors_hash=F("content_hash")) & Q(deleted_at__isnull=True, reserved=False),
                name="page_waits_for_vectors",
            ),
            models.Index(fields=["path_key"], name="page_path_key"),
            models.Index(fields=["name_key"], name="page_name_key"),
            models.Index(fields=["title_key"], name="page_title_key"),
            models.Index(fields=["title"], name="page_title"),
            models.Index(fields=["type"], name="page_type"),
            models.Index(fields=["inode"], name="page_inode"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Where a person reads the page; "" where its file is gone, and where the settings name no reader."""
        return ""


class Alias(models.Model):
    """A name that a page gives itself in frontmatter (``aliases``)."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="aliases")
    name = models.TextField()
    key = models.TextField(help_text="vault.links.text_key(name)")

    class Meta:
        verbose_name_plural = "aliases"
        indexes = [models.Index(fields=["key"], name="alias_key")]

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    """A tag of a page, from frontmatter or the body, without its ``#``."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="tags")
    name = models.TextField()
    key = models.TextField(help_text="casefolded")

    class Meta:
        indexes = [models.Index(fields=["key"], name="tag_key")]

    def __str__(self) -> str:
        return self.name


class Citation(models.Model):
    """A raw source that a page's frontmatter names (``sources``): who cites a source is one look-up."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="citations")
    key = models.TextField(help_text="the source's vault path, NFC, at most 500 characters")

    class Meta:
        indexes = [models.Index(fields=["key"], name="citation_key")]

    def __str__(self) -> str:
        return self.key


class FileKind(models.TextChoices):
    """What a file that is not a page is."""

    SOURCE = "source"
    CONFLICT = "conflict"
    ATTACHMENT = "attachment"


class File(models.Model):
    """Any other file of the vault: a link target; hashed when it is a source."""

    path = models.TextField()
    path_key = models.TextField()
    name_key = models.TextField()
    kind = models.CharField(max_length=10, choices=FileKind.choices, default=FileKind.ATTACHMENT)
    content_hash = models.CharField(max_length=64, blank=True, default="", help_text="sha256 of a source, hex")
    size = models.PositiveBigIntegerField(default=0)
    mtime_ns = models.BigIntegerField(default=0)
    inode = models.PositiveBigIntegerField(default=0)
    read_ns = models.BigIntegerField(default=0, help_text="clock when it was looked at")
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["path"], name="one_file_a_path")]
        indexes = [
            models.Index(fields=["path_key"], name="file_path_key"),
            models.Index(fields=["name_key"], name="file_name_key"),
            models.Index(fields=["kind"], condition=Q(kind="conflict"), name="file_conflict"),
        ]

    def __str__(self) -> str:
        return self.path

    def get_absolute_url(self) -> str:
        """Where a person looks at the file; "" where it is gone, and where the settings name no reader."""
        return ""


class LinkKind(models.TextChoices):
    """How a link is written."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    PROPERTY = "property"


class LinkState(models.TextChoices):
    """What a link resolves to; ``pending`` until the scan that found it has resolved it."""

    PENDING = "pending"
    RESOLVED = "resolved"
    BY_TITLE = "by_title"
    BY_ALIAS = "by_alias"
    AMBIGUOUS = "ambiguous"
    BROKEN = "broken"
    SELF = "self"


class Link(models.Model):
    """One link of one page, in the order of its body; property links apart (``kind`` property)."""

    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="links", db_index=False)
    order = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=LinkKind.choices)
    embed = models.BooleanField(default=False)
    text = models.TextField("target", help_text="target as written, without subpath and alias")
    subpath = models.TextField(blank=True, default="", help_text="from the first '#', with it")
    alias = models.TextField(null=True, blank=True)  # noqa: DJ001 - `[[a|]]` has an empty alias, `[[a]]` none
    property = models.TextField(blank=True, default="", help_text="frontmatter key of a property link, e.g. related.0")
    name_key = models.TextField(help_text="last segment of the target, as vault.links.name_key")
    text_key = models.TextField(help_text="whole target, as vault.links.text_key")
    state = models.CharField(max_length=9, choices=LinkState.choices, default=LinkState.PENDING)
    target_path = models.TextField(null=True, blank=True, help_text="vault path it leads to")  # noqa: DJ001
    target = models.ForeignKey(Page, on_delete=models.SET_NULL, null=True, blank=True, related_name="backlinks")

    class Meta:
        ordering = ["source_id", "order"]
        indexes = [
            # With the name, so that all names that are asked for in vain are read from the index alone; behind the
            # number, by which those that wait are taken in turn.
            models.Index(
                fields=["state", "id", "name_key"],
                condition=Q(state="pending") | Q(state="broken"),
                name="link_open",
            ),
            models.Index(fields=["source", "order"], name="link_source_order"),
            models.Index(fields=["name_key"], name="link_name_key"),
            # Where the two keys are the same the index of the other one serves both: a third less to write for a link.
            models.Index(fields=["text_key"], condition=~Q(text_key=F("name_key")), name="link_text_key"),
        ]

    def __str__(self) -> str:
        return f"[[{self.text}{self.subpath}]]"


class Edge(models.Model):
    """The weighted tie of two pages with at least one resolved link between them (a.pk < b.pk)."""

    a = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_a", db_index=False)
    b = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="edges_b")
    links = models.PositiveIntegerField(help_text="resolved links, both ways")
    weight = models.FloatField(help_text="wiki.graph.weights")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["a", "b"], name="one_edge_a_pair"),
            models.CheckConstraint(condition=Q(a__lt=F("b")), name="edge_ordered"),
        ]

    def __str__(self) -> str:
        return f"{self.a_id} - {self.b_id}"


class VaultState(models.Model):
    """The one row (pk 1) that ties this database to a vault and counts its versions."""

    vault_id = models.UUIDField()
    root = models.TextField()
    data_version = models.PositiveBigIntegerField(
        default=0, help_text="grows with each write or scan that changed something"
    )
    scanning = models.BooleanField(default=False, help_text="a scan has written rows and has not finished")
    levels_by = models.PositiveSmallIntegerField(
        default=0, help_text="version of the rules by which all pages have their levels (wiki.prime.atoms.rows)"
    )
    last_scan = models.JSONField(default=dict, blank=True, help_text="the last finished scan's report")
    last_scan_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = verbose_name_plural = "vault state"

    def __str__(self) -> str:
        return str(self.vault_id)


class ChangeKind(models.TextChoices):
    """What a row of the feed of changes names."""

    PAGE = "page"
    FILE = "file"
    ALL = "all"


class IndexChange(models.Model):
    """Something of the index changed, and whoever follows it has not looked yet (:mod:`wiki.changes`)."""

    kind = models.CharField(max_length=4, choices=ChangeKind.choices)
    key = models.BigIntegerField(default=0, help_text="number of the page or file; 0 for everything")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"
