"""A bounded YAML 1.2 core reader for frontmatter: one pass over the parser's events, no constructor.

Obsidian reads properties by YAML 1.2, PyYAML's loaders by 1.1 (``no`` is False there, ``12:30`` is 750), build Python
objects from tags, recurse once per level and keep the last of two equal keys. Here only libyaml's tokenizer is used:
the data is built from its events on a list, so neither time nor memory nor the Python stack depends on an attacker.

A scalar becomes a number only if writing that number gives the same text back. ``1.10``, ``007``, ``+5``, ``0x1f``,
``1_000``, ``.inf`` and integers beyond 2**53 - 1 (which JSON readers and Obsidian round) stay text as written, so
reading loses nothing. Dates and times stay text too.

Source of the rules: https://yaml.org/spec/1.2.2/#103-core-schema and RFC 7493 (I-JSON) for the integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

try:
    from yaml import CSafeLoader as _Parser
except ImportError:  # PyYAML built without libyaml: the same events, some ten times slower
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

MAX_CHARACTERS: Final = 256 * 1024
MAX_NODES: Final = 10_000
MAX_DEPTH: Final = 32
MAX_INTEGER: Final = 2**53 - 1

_CONSTANTS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER: Final = re.compile(r"-?[0-9]{1,16}")
_FLOAT: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
# libyaml takes these for line breaks, as YAML 1.1 did; in YAML 1.2 they are ordinary characters.
_OLD_BREAKS: Final = re.compile("[\x85\u2028\u2029]")
_TEXT_TAGS: Final = frozenset({"!", "tag:yaml.org,2002:str"})


class YamlProblem(Exception):  # noqa: N818 - it never leaves the vault room; load() makes a flag of it
    """Why a block is not data: a flag's code, our own reason, and the line (from 0, inside the block) or None."""

    def __init__(self, code: str, reason: str, line: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason
        self.line = line


@dataclass(slots=True)
class Entry:
    """Where one top-level key and its value stand in the block: offsets in characters.

    ``value_end`` is behind the last character that belongs to the value: for block collections that of their last
    leaf. ``style`` is the value's: "" plain, ``'`` or ``"`` quoted, ``|`` or ``>`` block text, "flow" or "block"
    for a collection. ``column`` is the value's first. ``block_text`` is where the last leaf starts if it is block
    text, else -1.
    """

    key: str
    key_start: int
    key_end: int
    value_start: int = 0
    value_end: int = 0
    style: str = ""
    column: int = 0
    block_text: int = -1


@dataclass(slots=True)
class Mapping:
    """A block's data, and where its top-level keys stand. ``flow`` tells ``{a: 1}`` from the usual block form."""

    data: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    flow: bool = False
    column: int = 0


def read_mapping(raw: str) -> Mapping:
    """The mapping that a frontmatter block holds; an empty block or ``null`` is an empty mapping.

    Takes at most MAX_CHARACTERS of text, MAX_NODES values, MAX_DEPTH levels.

    Raises:
        YamlProblem: with code yaml_size, yaml_depth, yaml_alias, yaml_tag, yaml_key, duplicate_key, not_a_mapping
            or invalid_yaml.
    """
    if len(raw) > MAX_CHARACTERS:
        raise YamlProblem("yaml_size", f"The properties are longer than {MAX_CHARACTERS // 1024} thousand characters.")
    text, restore = _hide_old_breaks(raw)
    try:
        return _Builder(restore).build(_events(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark is not None else None
        raise YamlProblem("invalid_yaml", _explain(error.problem or "", text, mark), line) from None
    except (yaml.YAMLError, UnicodeError):
        raise YamlProblem("invalid_yaml", "The properties hold a control or half character; remove it.") from None


def _events(text: str) -> Iterator[Any]:
    parser = _Parser(text)
    try:
        while True:
            event = parser.get_event()
            if event is None or type(event) is yaml.StreamEndEvent:
                return
            yield event
    finally:
        dispose = getattr(parser, "dispose", None)
        if dispose is not None:
            dispose()


def _hide_old_breaks(raw: str) -> tuple[str, dict[int, str]]:
    """Private-use stand-ins for the characters that only YAML 1.1 breaks lines at, and the table that undoes it."""
    found = set(_OLD_BREAKS.findall(raw))
    if not found:
        return raw, {}
    used = set(raw)
    free = (point for point in range(0xF0000, 0xFFFFE) if chr(point) not in used)
    stand_ins = {ord(character): next(free) for character in sorted(found)}
    return raw.translate(stand_ins), {point: chr(character) for character, point in stand_ins.items()}


def plain_value(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar by the core schema, narrowed as the module says."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "-0123456789":
        return text
    if _INTEGER.fullmatch(text):
        integer = int(text)
        return integer if str(integer) == text and abs(integer) <= MAX_INTEGER else text
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if repr(number) == text else text
    return text


class _Builder:
    """Builds the data on an explicit stack; ``keys`` holds, per open mapping, the key that waits for its value."""

    def __init__(self, restore: dict[int, str]) -> None:
        self.restore = restore
        self.result = Mapping()
        self.containers: list[Any] = []
        self.keys: list[str | None] = []
        self.nodes = 0
        self.documents = 0

    def build(self, events: Iterator[Any]) -> Mapping:
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._open(event, {} if kind is yaml.MappingStartEvent else [])
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                raise YamlProblem(
                    "yaml_alias", "An alias (*name) is not read; write the value out or in quotes.", _line(event)
                )
            elif kind is yaml.DocumentStartEvent:
                self.documents += 1
                if self.documents > 1:
                    raise YamlProblem("invalid_yaml", "More than one YAML document; keep the first.", _line(event))
                if event.tags:
                    raise YamlProblem("yaml_tag", "A %TAG directive is not read; remove it.", _line(event))
        return self.result

    def _scalar(self, event: Any) -> None:
        text: str = event.value.translate(self.restore) if self.restore else event.value
        tag = event.tag
        if tag is not None and tag not in _TEXT_TAGS:
            raise YamlProblem("yaml_tag", "A tag (!name) is not read; remove it.", _line(event))
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise YamlProblem("yaml_size", f"The properties hold more than {MAX_NODES} values.", _line(event))
        if not self.containers:
            if event.style or plain_value(text) is not None:
                raise YamlProblem("not_a_mapping", "The block is no list of `key: value` lines.", _line(event))
            return
        container = self.containers[-1]
        if type(container) is dict and self.keys[-1] is None:
            self._key(event, container, text)
            return
        value = text if event.style or tag is not None else plain_value(text)
        self._add(container, value)
        if self.result.entries:
            self._mark_leaf(event, event.style or "")

    def _key(self, event: Any, container: dict[str, Any], key: str) -> None:
        if key in container:
            raise YamlProblem("duplicate_key", "The same key stands here twice; keep one.", _line(event))
        self.keys[-1] = key
        if len(self.containers) == 1:
            self.result.entries.append(Entry(key, event.start_mark.index, event.end_mark.index))

    def _open(self, event: Any, container: Any) -> None:
        line = _line(event)
        if event.tag is not None:
            raise YamlProblem("yaml_tag", "A tag (!name) is not read; remove it.", line)
        if len(self.containers) >= MAX_DEPTH:
            raise YamlProblem("yaml_depth", f"Values are nested more than {MAX_DEPTH} levels deep.", line)
        if not self.containers:
            if type(container) is not dict:
                raise YamlProblem("not_a_mapping", "The block is a list, not `key: value` lines.", line)
            self.result = Mapping(container, flow=bool(event.flow_style), column=event.start_mark.column)
        else:
            parent = self.containers[-1]
            if type(parent) is dict and self.keys[-1] is None:
                raise YamlProblem("yaml_key", "A key is itself a list or mapping; put `{…}` in quotes.", line)
            if len(self.containers) == 1:
                self._mark_start(event, "flow" if event.flow_style else "block")
            self._add(parent, container)
        self.nodes += 1
        self.containers.append(container)
        self.keys.append(None)

    def _close(self, event: Any) -> None:
        self.containers.pop()
        self.keys.pop()
        # The end of a block collection is where the next key starts; only brackets end at a character of their own.
        if self.containers and event.end_mark.index > event.start_mark.index:
            self._mark_end(event)

    def _add(self, container: Any, value: Any) -> None:
        if type(container) is dict:
            container[self.keys[-1]] = value
            self.keys[-1] = None
        else:
            container.append(value)

    def _mark_leaf(self, event: Any, style: str) -> None:
        if len(self.containers) == 1:
            self._mark_start(event, style)
        self._mark_end(event, event.start_mark.index if style in {"|", ">"} else -1)

    def _mark_start(self, event: Any, style: str) -> None:
        entry = self.result.entries[-1]
        entry.value_start, entry.style, entry.column = event.start_mark.index, style, event.start_mark.column

    def _mark_end(self, event: Any, block_text: int = -1) -> None:
        entry = self.result.entries[-1]
        entry.value_end = event.end_mark.index
        entry.block_text = block_text


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line


_EXPLANATIONS: Final = (
    ("mapping values are not allowed", "A value with `: ` inside needs quotes, or a key starts in the wrong column."),
    ("expected ':'", "A key has no `: ` behind it, or a list item has no space behind its dash."),
    ("unexpected end of stream", "A quote is opened and not closed."),
    ("document indicator", "A quote is opened and not closed."),
    ("or ']'", "A list in `[ ]` is not closed, or lacks a comma."),
    ("or '}'", "A mapping in `{ }` is not closed, or lacks a comma."),
    ("node content", "A bracket is opened and not closed, or a value is missing."),
    ("escape", 'An escape in "…" is unknown; use single quotes or double the backslash.'),
    ("expected key", "A key starts in the wrong column."),
    ("'-' indicator", "A list item starts in the wrong column or has no space behind its dash."),
    ("tab", "A tab stands where only spaces can; use spaces."),
    ("alias", "A name behind * or & is missing; put the value in quotes."),
    ("anchor", "A name behind * or & is missing; put the value in quotes."),
    ("tag", "A tag (!name) is not read; remove it or put the value in quotes."),
    ("block sequence entries", "A list item can't start here; put it on a line of its own."),
)


def _explain(problem: str, text: str, mark: Any) -> str:
    """A sentence of ours for a parser's message, which itself never goes further."""
    if "cannot start any token" in problem and mark is not None:
        if text[mark.index : mark.index + 1] == "\t":
            return "A tab stands where only spaces can; use spaces."
        return "A value starts with a character that YAML reserves; put the value in quotes."
    return next((reason for part, reason in _EXPLANATIONS if part in problem), "The properties are not valid YAML.")
