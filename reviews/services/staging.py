"""Writes that a person decides on: composed as they would be written, and filed instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviews.models import ReviewItem
from vault.history import Author


def stage_write(
    *,
    title: str,
    content: str,
    frontmatter: Mapping[str, Any],
    origin_source: str = "",
    base_hash: str | None = None,
    path: str | None = None,
    author: Author,
) -> ReviewItem:
    """File the write of a page as a suggestion: refused as ``write_page`` refuses, and nothing in the vault changes."""
    raise NotImplementedError
