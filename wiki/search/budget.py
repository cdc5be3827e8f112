"""How much text an answer may hand to a model: tokens, estimated without any model's tokenizer."""

from __future__ import annotations

import re
from typing import Final

MIN_WINDOW: Final = 4_096
MAX_WINDOW: Final = 1_000_000
DEFAULT_WINDOW: Final = 32_768
SHARE: Final = 5  # one part in so many of the window is for what was found
CHARS_A_TOKEN: Final = 4
# Characters that are a token each: Han, kana, bopomofo, Hangul, their punctuation and full-width forms.
_WIDE: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3000-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff00-\uffef\U00020000-\U000323af]"
)
_ASCII: Final = bytes(range(0x80))


def tokens(text: str) -> int:
    """About how many tokens a text is: four characters one, rounded up; a Chinese, Japanese or Korean one is one.

    Parts come to as many as the whole, or more.
    """
    wide = 0
    if not text.isascii():
        # Most of most texts is ASCII, and taken out of its bytes at many times the speed of a pattern.
        beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
        wide = len(beyond) - len(_WIDE.sub("", beyond))
    return wide - (wide - len(text)) // CHARS_A_TOKEN


def budget(context_window: int) -> int:
    """The tokens that a context may have: a fifth of the window, which is clamped to 4,096..1,000,000."""
    return max(MIN_WINDOW, min(context_window, MAX_WINDOW)) // SHARE


def beginning(text: str, room: int) -> str:
    """The longest beginning that fits into ``room`` tokens, ended at a blank where one is near."""
    if tokens(text) <= room:
        return text
    low, high = 0, min(len(text), max(0, room) * CHARS_A_TOKEN)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle]) <= room else (low, middle - 1)
    blank = max(text.rfind(" ", 0, low), text.rfind("\n", 0, low))
    return text[: blank if blank > low * 3 // 4 else low].rstrip()
