"""The plain kind of frontmatter, read without a YAML parser: one key a line, and values that need no thought.

Most notes have nothing but ``key: value``, ``key: [one, two]`` and lists of ``- item`` lines, of letters, digits and
a few signs that mean nothing to YAML. Those are read here in a third of the time. Anything else is left to
:mod:`vault.frontmatter.yaml_core`, and what is read here is what that would read.
"""

from __future__ import annotations

import re
from typing import Any, Final

from vault.frontmatter.yaml_core import plain_value

#: A longer block is no longer plain: neither it nor its keys come near what the parser bounds.
_CHARACTERS: Final = 4_000
_KEY: Final = r"[A-Za-z_][\w-]{0,80}+"
_VALUE: Final = r"\w[\w ./()+-]*+(?<! )"
_LINE: Final = re.compile(
    rf"({_KEY}):(?: ({_VALUE})| \[({_VALUE}(?:, {_VALUE})*+)?\]|((?:\n- {_VALUE})++|(?:\n  - {_VALUE})++))?\n"
)


def read_plain(raw: str) -> dict[str, Any] | None:
    """The mapping that a block of plain lines holds; None for a block that has any other line, or a key twice."""
    if len(raw) > _CHARACTERS:
        return None
    data: dict[str, Any] = {}
    position = 0
    while line := _LINE.match(raw, position):
        key, value, flow, items = line.groups()
        if key in data:
            return None
        if value is not None:
            data[key] = plain_value(value)
        elif flow is not None:
            data[key] = [plain_value(item) for item in flow.split(", ")]
        elif items is not None:
            data[key] = [plain_value(item.partition("- ")[2]) for item in items[1:].split("\n")]
        else:
            data[key] = [] if raw[line.end() - 2] == "]" else None
        position = line.end()
    return data if position == len(raw) else None
