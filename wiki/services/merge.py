"""What a page's file becomes when an agent writes it: its frontmatter merged with the file's, its body replaced.

Pure: no disk, no database. Source: the write rules in docs/writing.md.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from vault import frontmatter
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.properties import sources_of


def new_file(given: Mapping[str, Any], body: str, *, origin_source: str, today: str) -> str:
    """The text of a page that was not there before; ``today`` is YYYY-MM-DD."""
    kept = {key: value for key, value in given.items() if value is not None}
    kept["sources"] = union(sources_of(given), [origin_source])
    kept["created"] = kept.get("created") or today
    kept["updated"] = today
    return frontmatter.compose(kept, body)


def merged_file(
    text: str, given: Mapping[str, Any], body: str, *, origin_source: str, sources_replace: bool, today: str
) -> str:
    """The text of a page's file with what is given put in; equal to ``text`` when nothing changes.

    Keys left out are kept, null removes, lists replace, ``sources`` are united (or set), ``created`` is kept and
    ``updated`` moves; keys that do not change keep their bytes. Raises ``invalid_frontmatter`` when the file's own
    block does not parse.
    """
    block = frontmatter.split(text)
    existing = existing_properties(block)
    changes = _changes(existing, given, origin_source=origin_source, sources_replace=sources_replace)
    body = in_the_style_of(block.body, body)
    if not changes and body == block.body:
        return text
    if existing.get("updated") != today:
        changes["updated"] = today
    if block.raw is None:
        return _with_first_block(text, body, changes)
    return frontmatter.update(text[: block.body_offset] + body, changes)


def with_properties(text: str, content: str | None, properties: Mapping[str, Any] | None) -> str:
    """The text of a file with another body, or with exactly these properties; None leaves that part as it is.

    Properties that do not change keep their bytes. Raises ``invalid_frontmatter`` when properties are given and the
    file's own block does not parse.
    """
    block = frontmatter.split(text)
    body = block.body if content is None else in_the_style_of(block.body, content)
    front = text[: block.body_offset]
    if properties is None:
        if block.raw is None and frontmatter.split(front + body).raw is not None:
            return _with_first_block(text, body, {})  # a body that begins with --- stays body
        return front + body
    existing = existing_properties(block)
    changes = {key: value for key, value in properties.items() if not same(existing.get(key), value)}
    changes |= {key: None for key in existing if key not in properties}
    if block.raw is None:
        return _with_first_block(text, body, changes) if changes else front + body
    return frontmatter.update(front + body, changes)


def existing_properties(block: frontmatter.Split, *, whose: str = "The page's own") -> dict[str, Any]:
    """A file's own properties; ``invalid_frontmatter`` when its block does not parse: then it is never rewritten."""
    if block.raw is None:
        return {}
    loaded = frontmatter.load(block.raw)
    if loaded.flags:
        raise SynapseError(
            ErrorCode.INVALID_FRONTMATTER,
            f"{whose} frontmatter can't be read, so nothing is written. Mend it first. {loaded.flags[0].reason}",
        )
    return loaded.data


def _with_first_block(text: str, body: str, changes: dict[str, Any]) -> str:
    """A file that had no block gets one; a byte order mark stays in front."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + frontmatter.compose(changes, body)


def _changes(
    existing: Mapping[str, Any], given: Mapping[str, Any], *, origin_source: str, sources_replace: bool
) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key, value in given.items():
        if key in ("sources", "updated") or (key == "created" and existing.get("created") is not None):
            continue
        if value is None:
            if key in existing:
                changes[key] = None
        elif not same(existing.get(key), value):
            changes[key] = value
    old = [] if sources_replace else sources_of(existing)
    sources = union(old, sources_of(given), [origin_source])
    if sources_of(existing) != sources:
        changes["sources"] = sources
    return changes


def same(old: Any, new: Any) -> bool:
    """Whether two values mean the same in a file: by their JSON, so that 1 is not true; texts by NFC."""
    if isinstance(old, str) and isinstance(new, str):
        return unicodedata.normalize("NFC", old) == unicodedata.normalize("NFC", new)
    return type(old) is type(new) and json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def union(*lists: Iterable[str]) -> list[str]:
    """All that is not blank, stripped, in the order of the lists, each once."""
    found = dict.fromkeys(item.strip() for items in lists for item in items)
    found.pop("", None)
    return list(found)


def in_the_style_of(old: str, new: str) -> str:
    """The new body with the line ends of the old one, if that had CR LF throughout."""
    if "\r\n" not in old or "\r" in new or old.count("\n") != old.count("\r\n"):
        return new
    return new.replace("\n", "\r\n")
