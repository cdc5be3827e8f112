"""A note's prose without its markup: the first sentence, and how many words there are."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from vault.markdown.blocks import Blocks

SUMMARY_CHARACTERS: Final = 240
_PARAGRAPHS_TRIED: Final = 20
_CHARACTERS_READ: Final = 800

# Han, kana and what else is written without spaces between words.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]+"
)
_UNSPACED_OR_BLANK: Final = re.compile(rf"{_UNSPACED.pattern}|\s")
# A character of a word, a blank, one of Han; and one that its first byte of UTF-8 leaves open.
_WORDLY, _BLANK, _HAN, _OPEN = b"w", b" ", b"h", b"?"
_ASCII: Final = bytes(range(0x80))
_CONTINUATIONS: Final = bytes(range(0x80, 0xC0))


def _kinds() -> bytes:
    """The table that makes one of the four of each character's first byte of UTF-8."""
    kinds = bytearray(_WORDLY * 256)
    for blank in b"\t\n\v\f\r\x1c\x1d\x1e\x1f ":
        kinds[blank] = _BLANK[0]
    for first in b"\xe4\xe5\xe6\xe7\xe8\xe9":  # U+4000 to U+9FFF
        kinds[first] = _HAN[0]
    for first in b"\xc2\xe0\xe1\xe2\xe3\xef\xf0":
        kinds[first] = _OPEN[0]
    return bytes(kinds)


_KINDS: Final = _kinds()

_MARKERS: Final = re.compile(
    r"[ \t]*+(?:>[ \t]?+|[-+*][ \t]++|\d{1,9}[.)][ \t]++|\[\^[^\[\]\s]{1,200}\]:[ \t]*+|\[[ xX]\][ \t]++)*+"
)
_NOT_PROSE: Final = re.compile(
    r"\[![^\[\]]{1,60}\]"  # a callout's first line
    r"|(?:#[^\s#]++\s*+)++\Z"  # tags only
    r"|\|"  # a table's row
    r"|[A-Za-z0-9_-]{1,40}::(?:\s|\Z)"  # an outliner's property
)
_TABLE: Final = re.compile(r"[^\n]*+\n[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+\|[ \t|:-]*+(?:\n|\Z)")
_BLANK_LINE: Final = re.compile(r"\n[ \t>]*+(?=\n)")
_DROPPED: Final = re.compile(
    r"(`[^`]*+`)|<!--(?:[^<-]|-(?!->))*+-->|</?[a-zA-Z][^<>]*+>|%%[^%]*+%%|!\[\[[^\[\]]*+\]\]|!\[[^\[\]]*+\]\([^()]*+\)"
    r"|\[\^[^\[\]\s]++\]"
)
_BLOCK_ID: Final = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]++\s*+\Z")
_WIKILINK: Final = re.compile(r"\[\[([^\[\]|]*+)(?:\|([^\[\]]*+))?\]\]")
_LINK: Final = re.compile(r"\[([^\[\]]*+)\]\((?:<[^<>]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)(?:\s[^()]*+)?\)")
_UNDERSCORES: Final = re.compile(r"(?<!\w)_++(?=[^\s_])|(?<=[^\s_])_++(?!\w)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_PRIVATE: Final = 0xE000
_ESCAPED: Final = re.compile("[\ue021-\ue07e]")
_SENTENCE_END: Final = re.compile("[.!?…。！？｡][.!?…。！？｡]*+[\"'»”’)\\]」』）]*+")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|vs|cf|ca|approx|No|Nr|Fig|al|e\.g|i\.e|z\.B|bzw)|(?:^|[\s(.])[^\W\d_])\.\Z"
)


def count_words(text: str) -> int:
    """Words of a text: what stands between blanks, and each character of a script without spaces by itself.

    Counted in a byte for each character: making the words only to count them takes longer.
    """
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_KINDS, _CONTINUATIONS)
    if _OPEN in kinds:
        beyond_ascii = data.translate(None, _ASCII).decode("utf-8", "surrogatepass")
        if _UNSPACED_OR_BLANK.search(beyond_ascii):
            spaced, runs = _UNSPACED.subn(" ", text)
            return len(spaced.split()) + len(text) - len(spaced) + runs
        kinds = kinds.replace(_OPEN, _WORDLY)
    han = kinds.count(_HAN)
    if han:
        kinds = kinds.replace(_HAN, _BLANK)
    return han + kinds.count(_BLANK + _WORDLY) + kinds.startswith(_WORDLY)


def summarize(blocks: Blocks) -> str:
    """The first sentence of the first paragraph of prose, without markup; else of the first list item; else "".

    At most SUMMARY_CHARACTERS characters, cut between words.
    """
    for paragraphs in (blocks.prose, blocks.items):
        for start in paragraphs[:_PARAGRAPHS_TRIED]:
            sentence = first_sentence(plain_text(_block(blocks, start)))
            if any(character.isalnum() for character in sentence):
                return shorten(sentence)
    return ""


def _block(blocks: Blocks, start: int) -> str:
    """The paragraph at an offset: up to the block or the blank line behind it, or as much as is read of it."""
    index = bisect_right(blocks.starts, start)
    end = blocks.starts[index] if index < len(blocks.starts) else len(blocks.text)
    text = blocks.text[start : min(end, start + _CHARACTERS_READ)]
    blank = _BLANK_LINE.search(text)
    return text[: blank.start()] if blank else text


def plain_text(block: str) -> str:
    """One paragraph as a reader sees it, on one line; "" when it is a table."""
    if "|" in block and _TABLE.match(block):
        return ""
    lines = [line[_end_of_markers(line) :] for line in block.split("\n")]
    text = " ".join(" ".join(line for line in lines if not _NOT_PROSE.match(line)).split())
    if "[" in text or "<" in text or "%%" in text:
        text = _DROPPED.sub(r"\1", text)
        text = _LINK.sub(r"\1", _WIKILINK.sub(_shown, text))
    if "^" in text:
        text = _BLOCK_ID.sub("", text)
    escapes = "\\" in text
    if escapes:  # kept out of sight, in the private use area, while marks of emphasis are removed
        text = _ESCAPE.sub(lambda match: chr(_PRIVATE + ord(match[1])), text)
    for mark in ("*", "`", "~~", "=="):
        text = text.replace(mark, "")
    if "_" in text:
        text = _UNDERSCORES.sub("", text)
    if escapes:
        text = _ESCAPED.sub(lambda match: chr(ord(match[0]) - _PRIVATE), text)
    return " ".join(text.split())


def first_sentence(text: str) -> str:
    """The text up to the first mark that ends a sentence, or all of it."""
    for match in _SENTENCE_END.finditer(text):
        end = match.end()
        if text[match.start()] in "。！？｡":
            return text[:end]
        ends = text[end : end + 1].isspace() and not text[end + 1 : end + 2].islower()
        if ends and not _ABBREVIATION.search(text, max(0, end - 8), end):
            return text[:end]
    return text


def _end_of_markers(line: str) -> int:
    match = _MARKERS.match(line)
    return match.end() if match else 0


def _shown(link: re.Match[str]) -> str:
    return link[2] or link[1].rstrip("\\").strip("# ")


def shorten(sentence: str, characters: int = SUMMARY_CHARACTERS) -> str:
    """A text on one line, cut between words with an ellipsis behind it where it has more characters."""
    if len(sentence) <= characters:
        return sentence
    cut = sentence[: characters - 1]
    space = cut.rfind(" ")
    if space > characters // 2:
        cut = cut[:space]
    return cut.rstrip(" ,;:-–—(") + "…"
