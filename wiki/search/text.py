"""What is indexed of a text: folding, words, and the shadow column's tokens.

FTS5's tokenizer splits at spaces and punctuation and folds Latin letters. What it
can't do is put into a shadow column beside the text:

- bigrams of scripts written without spaces (and of Hangul, whose particles stick to
  the word), so that any substring of two characters is found; the last character of
  a run stands alone, so that one character is found by prefix;
- words that stick to such a run (``使用Python编程``);
- words that fold further than FTS5 folds them (``Αθήνα``, ``straße``, ``Łódź``);
- names that live by their punctuation (``C++``, ``C#``, ``.NET``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, Literal

# Combining marks are part of a word though Python's \w leaves them out; Indic vowel signs are such marks.
MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c\u0a3e-\u0a4d\u0a70\u0a71\u0a81-\u0a83\u0abc"
    "\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c03\u0c3e-\u0c56\u0c81-\u0c83\u0cbc"
    "\u0cbe-\u0cd6\u0d00-\u0d03\u0d3e-\u0d4d\u0d57\u0d82\u0d83\u0dca-\u0df3"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u0f90-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u17b4-\u17d3\u17dd"
)
SPACELESS_RANGES: Final = (
    "\u0e01-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u0f40-\u0fbc"  # Thai, Lao, Tibetan
    "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17e0-\u17e9"  # Burmese, Khmer
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\uff66-\uff9f"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
WORD: Final = re.compile(rf"(?:[^\W_]|[{MARKS}])+")
SPACELESS: Final = re.compile(rf"[{SPACELESS_RANGES}]+")
_SPACED_WORD: Final = re.compile(rf"(?:(?![{SPACELESS_RANGES}])(?:[^\W_]|[{MARKS}]))+")
# Letters that fold further than FTS5's remove_diacritics takes them (й is a letter of its own and stays).
_FAR: Final = (
    "ßẞøØłŁđĐæÆœŒıþÞðÐħĦŋŊ\u0370-\u03ff\u1f00-\u1fff\u0400-\u040f\u0450-\u045f\u0483-\u0487\u0591-\u05c7\u0610-\u061a"
    "\u0622-\u0626\u0640\u064b-\u065f\u0670\u06c0-\u06d3\ufb00-\ufdff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
)
FAR: Final = re.compile(rf"[{_FAR}]")
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d", "ħ": "h", "ŋ": "n", "ـ": ""}
)
_STRIPPED: Final = re.compile(r"[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
SYMBOL_NAMES: Final = re.compile(r"(?<![^\W_])(?:(\.net)(?![^\W_])|([^\W_]{1,24})(\+\+|#)(?![\w^+#/]))", re.IGNORECASE)
# What a text has to hold for one of SYMBOL_NAMES to be in it. They start with a sign, which is searched for in C; a #
# ends a word there, as in C# and not in [[page#part]], since every heading has one.
_SHARP: Final = re.compile(r"#(?<=[^\W\d_]#)(?![^\W_])")
_NET: Final = re.compile(r"\.(?:net|NET|Net)")
_ASCII: Final = bytes(range(0x80))
LONGEST_WORD: Final = 200  # characters; a longer run is no word, and PostgreSQL's lexemes end at 2,046 bytes


class _FoldTable(dict[int, str]):
    """Code point to its folded form, filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in "йЙ":
            folded = "й"
        else:
            lowered = unicodedata.normalize("NFKD", char).casefold().translate(_LETTERS)
            folded = unicodedata.normalize("NFC", _STRIPPED.sub("", unicodedata.normalize("NFKD", lowered)))
            if folded and not WORD.fullmatch(folded):
                folded = char  # ¼ would fall apart into 1, a fraction slash and 4
        self[code] = folded
        return folded


_FOLDED: Final = _FoldTable()


def clean(text: str) -> str:
    """NFC without what a database can't store: NUL and lone surrogates become U+FFFD."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))
    return text.replace("\0", "\ufffd")


def fold(text: str) -> str:
    """Lower case without accents, width and presentation forms: what two spellings of one word share."""
    if text.isascii():
        return text.lower()
    # half-width kana carry their voice mark beside them, and only NFKC joins the two
    form: Literal["NFC", "NFKC"] = "NFKC" if "\uff9e" in text or "\uff9f" in text else "NFC"
    return unicodedata.normalize(form, text).translate(_FOLDED)


def grams(run: str) -> Iterator[str]:
    """Overlapping pairs of a run of a script without spaces, then its last character.

    >>> list(grams("知識管理"))
    ['知識', '識管', '管理', '理']
    """
    for at in range(len(run) - 1):
        yield run[at : at + 2]
    yield from run[-1:]


def symbol_token(name: re.Match[str]) -> str:
    """The word that stands for a match of SYMBOL_NAMES: cplusplus, csharp, dotnet."""
    if name[1]:
        return "dotnet"
    return fold(name[2]) + ("plusplus" if name[3] == "++" else "sharp")


def symbol_names(text: str) -> list[str]:
    """The tokens of C++, C#, F#, .NET and their like in a text."""
    # A single sign is found at many times the speed of two.
    if not ("+" in text and "++" in text) and not _SHARP.search(text) and not _NET.search(text):
        return []
    return [symbol_token(found) for found in SYMBOL_NAMES.finditer(text)]


def shadow(text: str) -> list[str]:
    """Tokens that FTS5 does not make of a text by itself, in no promised order. Linear in its length.

    ``text`` is NFC (:func:`clean`).
    """
    tokens = symbol_names(text)
    if text.isascii():
        return tokens
    beyond_ascii = text.encode().translate(None, _ASCII).decode()
    tokens.extend(_spaceless(text, "".join(SPACELESS.findall(beyond_ascii))))
    if FAR.search(beyond_ascii):
        tokens.extend(fold(word) for word in WORD.findall(text) if FAR.search(word))
    return tokens


def _spaceless(text: str, characters: str) -> Iterator[str]:
    """Pairs of every run, and the words of other scripts that touch one; ``characters`` are those of all runs."""
    done = 0
    for run in _runs(text, characters):
        start, end = run.span()
        left = start
        while left > done and text[left - 1].isalnum():
            left -= 1
        if left < start:
            yield fold(text[left:start])
        yield from grams(fold(run[0]))
        beside = _SPACED_WORD.match(text, end)
        done = beside.end() if beside else end
        if beside:
            yield fold(beside[0])


def _runs(text: str, characters: str) -> Iterator[re.Match[str]]:
    """The matches of SPACELESS. Most texts have few or none, and a search for one character is one of C."""
    end = read = 0
    while read < len(characters):
        run = SPACELESS.match(text, text.index(characters[read], end))
        if run is None:
            return
        yield run
        read += len(run[0])
        end = run.end()


def words(text: str) -> Iterator[str]:
    """Every token of a text, folded, in order: what a database without a tokenizer of its own indexes."""
    for found in WORD.finditer(text):
        word = found[0]
        if word.isascii():
            yield word.lower()[:LONGEST_WORD]
        else:
            yield from filter(None, _mixed(word))


def _mixed(word: str) -> Iterator[str]:
    """The pairs of a word's runs, and what stands between them."""
    at = 0
    for run in SPACELESS.finditer(word):
        if run.start() > at:
            yield fold(word[at : run.start()])[:LONGEST_WORD]
        yield from grams(fold(run[0]))
        at = run.end()
    if at < len(word):
        yield fold(word[at:])[:LONGEST_WORD]
