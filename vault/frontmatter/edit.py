"""Writing frontmatter: a new file's block, and changes to a block that leave every other byte as it stands.

A change replaces the value where it stands on its line, or the lines of its key; new keys go before the closing
`---`. What results is read again and compared with what was meant before anybody sees it, so an oddity of YAML that
this module does not foresee ends in a refusal, never in a spoilt file.

A block written in braces (JSON is valid YAML) is rewritten as lines when it changes, as Obsidian does.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn, TypeVar

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.block import Split, flag_of, load, split
from vault.frontmatter.page_rules import check_characters
from vault.frontmatter.yaml_core import Entry, YamlProblem, read_mapping
from vault.frontmatter.yaml_core import Mapping as Block
from vault.frontmatter.yaml_emit import DATE_KEYS, checked_value, emit_pair, emit_value

KEY_ORDER: Final = ("type", "title", "aliases", "tags", "sources", "lang", "created", "updated")

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NEWLINE: Final = re.compile(r"\r\n|\r|\n")
# What block text above would swallow once the key between them is gone: blank lines and indented comments.
_SPILL: Final = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?(?:\r\n|\r|\n))*+")

FileText = TypeVar("FileText", str, bytes)
# Replace the block's characters from the first to the second by the text.
_Edit = tuple[int, int, str]


def compose(frontmatter: Mapping[str, Any], body: str) -> str:
    """A new file: the properties in KEY_ORDER, then the rest as given, and the body as it is.

    The block is always written, so that a body which starts with `---` stays body.

    Raises:
        SynapseError: invalid_content for NUL or lone surrogates; invalid_frontmatter for values that YAML frontmatter
            can't hold, or more of them than the reader takes.
    """
    check_characters([body, frontmatter])
    data = _checked(frontmatter)
    lines = "".join(emit_pair(key, data[key], plain_date=key in DATE_KEYS) for key in _ordered(data))
    text = f"---\n{lines}---\n{body}"
    _verify(text, data, body)
    return text


def update(data: FileText, changes: Mapping[str, Any]) -> FileText:
    """Change top-level properties of a whole file, given and returned as text or as bytes; None removes a key.

    A key whose value is already the one asked for is left alone, so its spelling stays; without any real change the
    same bytes come back. A file without a block gets one. Line ends and a byte order mark stay; new lines end as the
    opening `---` does. The body's bytes need not be UTF-8 (UTF-16 is refused).

    Raises:
        SynapseError: invalid_frontmatter when the block that stands there can't be read (nothing is changed then), or
            when a value can't be written; invalid_content for NUL or lone surrogates in the changes.
    """
    check_characters(changes)
    wanted = {key: None if value is None else checked_value(value, key) for key, value in changes.items()}
    if isinstance(data, bytes):
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            _refuse("The file is UTF-16; save it as UTF-8.")
        text = data.decode("utf-8", "surrogateescape")
        return _updated(text, wanted).encode("utf-8", "surrogateescape")
    return _updated(data, wanted)


def _updated(text: str, wanted: Mapping[str, Any]) -> str:
    parts = split(text)
    try:
        block = read_mapping(parts.raw or "")
    except YamlProblem as problem:
        _refuse(flag_of(problem).reason)
    real = {key: value for key, value in wanted.items() if not _stands(block.data, key, value)}
    if not real:
        return text
    expected = {key: value for key, value in (block.data | real).items() if value is not None or key not in real}
    if parts.raw is None:
        newline = _newline_of(text)
        lines = _lines(
            (emit_pair(key, expected[key], plain_date=key in DATE_KEYS) for key in _ordered(expected)), newline
        )
        changed = f"{text[: parts.body_offset]}---{newline}{lines}---{newline}{parts.body}"
    else:
        newline = _newline_of(text[: parts.raw_offset])
        raw = _rewritten(expected, newline) if block.flow else _edited(parts.raw, block, real, newline)
        changed = text[: parts.raw_offset] + raw + text[parts.raw_offset + len(parts.raw) :]
    _verify(changed, expected, parts.body)
    return changed


def _edited(raw: str, block: Block, real: Mapping[str, Any], newline: str) -> str:
    """The block's text with the values that really change, each in its place, and new keys at the end."""
    edits: list[_Edit] = []
    for before, entry in zip([None, *block.entries], block.entries, strict=False):
        if entry.key in real and real[entry.key] is None:
            edits.append(_removal(raw, before, entry))
        elif entry.key in real:
            edits.append(_replacement(raw, block, entry, real[entry.key], newline))
    for start, end, text in reversed(edits):
        raw = raw[:start] + text + raw[end:]
    new = (key for key in _ordered(real) if key not in block.data and real[key] is not None)
    pairs = (emit_pair(key, real[key], plain_date=key in DATE_KEYS) for key in new)
    return raw + _lines(pairs, newline, " " * block.column)


def _rewritten(data: Mapping[str, Any], newline: str) -> str:
    return _lines((emit_pair(key, value, plain_date=key in DATE_KEYS) for key, value in data.items()), newline)


def _removal(raw: str, before: Entry | None, entry: Entry) -> _Edit:
    start, end = _line_start(raw, entry.key_start), _line_end(raw, entry)
    if before is not None and before.block_text >= 0:
        spill = _SPILL.match(raw, end)
        end = spill.end() if spill else end
    return start, end, ""


def _replacement(raw: str, block: Block, entry: Entry, value: Any, newline: str) -> _Edit:
    """The smallest edit that gives a key another value: in its place, items at the end of a list, or whole lines."""
    old = block.data[entry.key]
    plain_date = entry.key in DATE_KEYS or (not entry.style and isinstance(old, str) and bool(_DATE.fullmatch(old)))
    text = emit_value(value, flow=entry.style == "flow", plain_date=plain_date)
    start = _line_start(raw, entry.key_start)
    explicit = bool(raw[start : entry.key_start].strip(" "))  # a key that is written as `? key`
    if not explicit and not text.startswith("\n") and _fits_in_line(raw, entry):
        # The place of an empty value is right behind the colon.
        return entry.value_start, entry.value_end, text[:-1] if entry.value_start == entry.value_end else text[1:-1]
    end = _line_end(raw, entry)
    if entry.style == "block" and _grows(old, value):
        items = emit_value(value[len(old) :])[1:]
        return end, end, _lines([_shift(items, entry.column)], newline)
    same_kind = entry.style == "block" and type(old) is type(value)
    written = _shift(text, entry.column if same_kind else block.column + 2)
    key = emit_pair(entry.key, None).removesuffix(": null\n") if explicit else raw[entry.key_start : entry.key_end]
    return start, end, _lines([f"{' ' * block.column}{key}:{written}"], newline)


def _fits_in_line(raw: str, entry: Entry) -> bool:
    return entry.style not in {"block", "|", ">"} and not _NEWLINE.search(raw, entry.key_start, entry.value_end)


def _grows(old: Any, new: Any) -> bool:
    """Whether a list keeps its items and gets more behind them."""
    return isinstance(old, list) and isinstance(new, list) and 0 < len(old) < len(new) and _same(old, new[: len(old)])


def _shift(text: str, column: int) -> str:
    """Move the lines of a collection, emitted with two spaces, to the column that its neighbours have."""
    return re.sub(r"^  ", " " * column, text, flags=re.MULTILINE)


def _line_start(raw: str, position: int) -> int:
    return max(raw.rfind("\n", 0, position), raw.rfind("\r", 0, position)) + 1


def _line_end(raw: str, entry: Entry) -> int:
    """Behind the line in which a value ends; blank lines behind block text count only if the text keeps them."""
    position = entry.value_end
    if entry.block_text >= 0:
        text = raw[entry.block_text : entry.value_end]
        if "+" in text[:3]:
            return position
        position = entry.block_text + len(text.rstrip(" \t\r\n"))
    newline = _NEWLINE.search(raw, position)
    return newline.end() if newline else len(raw)


def _newline_of(text: str) -> str:
    found = _NEWLINE.search(text)
    return found[0] if found else "\n"


def _lines(texts: Iterable[str], newline: str, indent: str = "") -> str:
    """Emitted lines with the file's line ends; an emitter's own LF is always the end of a line, never content."""
    lines = (line for text in texts for line in text.split("\n")[:-1])
    return "".join(f"{indent}{line}{newline}" for line in lines)


def _ordered(data: Mapping[str, Any]) -> list[str]:
    return [key for key in KEY_ORDER if key in data] + [key for key in data if key not in KEY_ORDER]


def _checked(frontmatter: Mapping[str, Any]) -> dict[str, Any]:
    checked: dict[str, Any] = checked_value(frontmatter, "frontmatter")
    return checked


def _stands(data: Mapping[str, Any], key: str, value: Any) -> bool:
    return key not in data if value is None else key in data and _same(data[key], value)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1, 1.0, true and "1" are four values; the order of keys does not count."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _verify(text: str, data: Mapping[str, Any], body: str) -> None:
    """Read back what is about to be written."""
    parts: Split = split(text)
    loaded = load(parts.raw or "")
    if loaded.flags:
        _refuse(loaded.flags[0].reason)
    if parts.raw is None or parts.body != body or not _same(loaded.data, data):
        _refuse("It is written in a way that can't be changed safely.")


def _refuse(reason: str) -> NoReturn:
    raise SynapseError(
        ErrorCode.INVALID_FRONTMATTER,
        f"The page's frontmatter can't be read or kept. {reason} Put it right first; nothing was changed.",
    )
