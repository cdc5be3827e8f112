"""The lines of a table: its delimiters, its rows, and how many cells one has."""

from __future__ import annotations

import re
from typing import Final

#: The line below the head of a table.
DELIMITERS: Final = re.compile(r"\|?+ *+:?-++:? *+(?:\| *+:?-++:? *+)*+\|?+ *+\Z")
#: The lines of a table below its delimiters: to a blank line or what starts another block.
ROWS: Final = re.compile(r"(?:\n(?![ \t>]*+(?:\n|\Z|#{1,6} |[-*+] |```|~~~|<!--))[^\n]++)*+")
_BAR: Final = re.compile(r"(?<!\\)\|")
#: Where a cell ends, and with it its inline text.
CELL_END: Final = re.compile(r"(?<!\\)\||\n")


def cells_of(row: str) -> int:
    """How many cells a row has; a bar behind a backslash parts none, and those at its ends are not needed."""
    row = row.strip(" \t>")
    bars = len(_BAR.findall(row))
    return bars + 1 - row.startswith("|") - (bars > 0 and row.endswith("|") and not row.endswith("\\|"))
