"""Writing properties as YAML that readers of 1.1 and of 1.2 understand alike, one line a scalar.

Strings that any of them would take for something else (``no``, ``12:30``, ``1.10``, ``2026-01-01``) are quoted;
strings with line breaks or other control characters are written with escapes, so no value can hold a line that ends
the block. Lists stand in block form, two spaces before the dash, as Obsidian writes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import yaml

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.yaml_core import MAX_INTEGER

# Dates that Synapse itself writes stay plain; elsewhere a date is quoted text, lest a 1.1 reader makes an object of it.
DATE_KEYS: Final = frozenset({"created", "updated"})

_MAP: Final = "tag:yaml.org,2002:map"
_SEQ: Final = "tag:yaml.org,2002:seq"
_STR: Final = "tag:yaml.org,2002:str"
_BOOL: Final = "tag:yaml.org,2002:bool"
_INT: Final = "tag:yaml.org,2002:int"
_FLOAT: Final = "tag:yaml.org,2002:float"
_NULL: Final = "tag:yaml.org,2002:null"
_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MUST_ESCAPE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# Between double quotes the emitter writes these as escapes; single quotes keep them readable.
_BETTER_SINGLE: Final = re.compile('["\\\\\U00010000-\U0010ffff]')
_NO_WRAPPING: Final = 1 << 30


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below a key, which YAML leaves open and Obsidian does."""
        super().increase_indent(flow, False)

    def choose_scalar_style(self) -> str:
        """Double quotes where quotes are needed, as Obsidian writes them, unless that would cost escapes."""
        style: str = super().choose_scalar_style()
        event = self.event
        readable = isinstance(event, yaml.ScalarEvent) and not _BETTER_SINGLE.search(event.value)
        return '"' if style == "'" and readable else style


# PyYAML knows the special words of YAML 1.1; these are special in 1.2, or in readers that follow 1.1 to the letter.
_Dumper.add_implicit_resolver(_BOOL, re.compile(r"[yYnN]\Z"), list("yYnN"))
_Dumper.add_implicit_resolver(_INT, re.compile(r"[-+]?(?:0o[0-7]+|0x[0-9a-fA-F]+|[0-9]+)\Z"), list("-+0123456789"))
_Dumper.add_implicit_resolver(
    _FLOAT,
    re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"),
    list("-+.0123456789"),
)


def emit_pair(key: str, value: Any, *, flow: bool = False, plain_date: bool = False) -> str:
    """``key: value`` as YAML lines, each ending in LF, for a value that ``checked_value`` gave.

    ``flow`` writes collections in brackets on the key's line; ``plain_date`` leaves a date unquoted.
    """
    written = _scalar_node(value, plain_date) if not isinstance(value, dict | list) else _node(value, flow)
    root = yaml.MappingNode(_MAP, [(_scalar_node(key), written)], flow_style=False)
    text: str = yaml.serialize(root, Dumper=_Dumper, allow_unicode=True, width=_NO_WRAPPING)
    return text


def emit_value(value: Any, *, flow: bool = False, plain_date: bool = False) -> str:
    """What emit_pair writes behind ``key:``: " text" and LF, or LF and the lines of a block collection."""
    return emit_pair("k", value, flow=flow, plain_date=plain_date).removeprefix("k:")


def checked_value(value: Any, key: str) -> Any:
    """A copy of a property's value made of dict, list, str, int, float, bool and None; dates become ISO text.

    Raises:
        SynapseError: invalid_frontmatter for anything else, and for numbers that readers would round or can't read.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) <= MAX_INTEGER:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [checked_value(part, key) for part in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: checked_value(part, key) for name, part in value.items()}
    if isinstance(value, int | float):
        sentence = "Write this number as text: it is too large, or no number that a file can hold."
    else:
        sentence = "Give text, a number, true, false, a list, or a mapping with text keys."
    raise SynapseError(ErrorCode.INVALID_FRONTMATTER, f"{key[:80]}: {sentence}", fields={key: sentence})


def _node(value: Any, flow: bool) -> Any:
    if isinstance(value, dict):
        pairs = [(_scalar_node(name), _node(part, flow)) for name, part in value.items()]
        return yaml.MappingNode(_MAP, pairs, flow_style=flow)
    if isinstance(value, list):
        return yaml.SequenceNode(_SEQ, [_node(part, flow) for part in value], flow_style=flow)
    return _scalar_node(value)


def _scalar_node(value: str | int | float | bool | None, plain_date: bool = False) -> Any:
    if isinstance(value, str):
        if plain_date and _DATE.fullmatch(value):
            return yaml.ScalarNode(_TIMESTAMP, value)
        return yaml.ScalarNode(_STR, value, style='"' if _MUST_ESCAPE.search(value) else None)
    if isinstance(value, bool):
        return yaml.ScalarNode(_BOOL, "true" if value else "false")
    if value is None:
        return yaml.ScalarNode(_NULL, "null")
    return yaml.ScalarNode(_INT if isinstance(value, int) else _FLOAT, repr(value))
