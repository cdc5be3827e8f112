"""What a page's properties mean to the wiki: aliases, tags, sources, language, whatever shape they were written in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

_TAG_BREAK: Final = re.compile(r"[,\s]+")
_ALIAS_BREAK: Final = re.compile(r"[,\r\n]+")
_LANGUAGE: Final = re.compile(r"([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*")


def text_of(value: Any) -> str:
    """A scalar property as text: numbers as written, booleans as YAML writes them; "" for null, lists, mappings."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else ""


def aliases_of(data: Mapping[str, Any]) -> list[str]:
    """The other names of a page, stripped, in order, each once: from `aliases`, or else the older `alias`.

    A list gives its items as they are ("Lovelace, Ada" is one), a single text is cut at its commas and line ends, as
    Obsidian was observed to do (https://github.com/obsidianmd/obsidian-importer/issues/64).
    """
    texts = _texts(data, "aliases", "alias")
    if isinstance(_first(data, "aliases", "alias"), str):
        texts = _ALIAS_BREAK.split(texts[0])
    return _unique(text.strip() for text in texts)


def tags_of(data: Mapping[str, Any]) -> list[str]:
    """The tags of a page without `#`, nested ones whole, each once: from `tags`, or else the older `tag`.

    A text may hold several, separated by commas or blanks. Purely numeric ones are no tags. Tags that differ in case
    only are one, spelled as it stands first. Source: https://obsidian.md/help/tags.
    """
    written = (part for text in _texts(data, "tags", "tag") for part in _TAG_BREAK.split(text))
    tags = (part.lstrip("#").strip("/") for part in written)
    return _unique((tag for tag in tags if not tag.isnumeric()), fold=True)


def sources_of(data: Mapping[str, Any]) -> list[str]:
    """Where a page's statements come from: the texts of `sources` that are not blank, stripped, in order, each once."""
    return _unique(text.strip() for text in _texts(data, "sources"))


def lang_of(data: Mapping[str, Any]) -> str:
    """The page's language in lower case without region ("pt" for "pt-BR"), or "" when `lang` names none."""
    match = _LANGUAGE.fullmatch(text_of(data.get("lang")).strip().lower())
    return match[1] if match else ""


def _texts(data: Mapping[str, Any], *keys: str) -> list[str]:
    """The texts under the first of the keys that is there and not null."""
    value = _first(data, *keys)
    return [text_of(item) for item in (value if isinstance(value, list | tuple) else [value])]


def _first(data: Mapping[str, Any], *keys: str) -> Any:
    """The first value that is not null: by the keys in turn, each as written here, then in any case."""
    for key in keys:
        for name in (key, *(name for name in data if name.lower() == key)):
            if data.get(name) is not None:
                return data[name]
    return None


def _unique(texts: Iterable[str], *, fold: bool = False) -> list[str]:
    kept: dict[str, str] = {}
    for text in texts:
        if text:
            kept.setdefault(unicodedata.normalize("NFC", text).casefold() if fold else text, text)
    return list(kept.values())
