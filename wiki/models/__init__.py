"""The rows of the wiki: the index of the vault, vectors, and records that are not the vault's."""

from __future__ import annotations

from wiki.models.index import (
    Alias,
    ChangeKind,
    Citation,
    Edge,
    File,
    FileKind,
    IndexChange,
    Link,
    LinkKind,
    LinkState,
    Page,
    PageQuerySet,
    PageType,
    Tag,
    VaultState,
)
from wiki.models.places import MapState, PagePlace
from wiki.models.prime import AtomRelation, AtomRow
from wiki.models.records import Audit, IdempotencyKey, Job, Scope, Token
from wiki.models.vectors import Chunk, EmbeddingState

__all__ = [
    "Alias",
    "AtomRelation",
    "AtomRow",
    "Audit",
    "ChangeKind",
    "Chunk",
    "Citation",
    "Edge",
    "EmbeddingState",
    "File",
    "FileKind",
    "IdempotencyKey",
    "IndexChange",
    "Job",
    "Link",
    "LinkKind",
    "LinkState",
    "MapState",
    "Page",
    "PagePlace",
    "PageQuerySet",
    "PageType",
    "Scope",
    "Tag",
    "Token",
    "VaultState",
]
