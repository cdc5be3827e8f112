"""Frontmatter: the properties in front of a page, read leniently, written strictly.

Reading never raises: what is wrong with a block is a Flag, and the page goes on without properties. Writing refuses
what it could not read back, and keeps every byte that it was not asked to change.
"""

from __future__ import annotations

from vault.frontmatter.block import Flag, Loaded, Split, load, split
from vault.frontmatter.edit import compose, update
from vault.frontmatter.page_rules import LANGUAGES, OWNED_KEYS, PAGE_TYPES, check_characters, validate
from vault.frontmatter.properties import aliases_of, lang_of, sources_of, tags_of, text_of

__all__ = [
    "LANGUAGES",
    "OWNED_KEYS",
    "PAGE_TYPES",
    "Flag",
    "Loaded",
    "Split",
    "aliases_of",
    "check_characters",
    "compose",
    "lang_of",
    "load",
    "sources_of",
    "split",
    "tags_of",
    "text_of",
    "update",
    "validate",
]
