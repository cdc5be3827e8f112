"""Names of pages in running text: which names can be told from other words, and where one stands for its page.

Precision comes first. A name of several words is told in any case; one of an entity, or one that begins with a function
word (Out of Control), keeps its capitals. A single word is told only as it is spelled, and only if its spelling says
that it is a name: by a digit, an inner capital, or a capital in the middle of a sentence. A name in a script without
blanks has at least three characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from reviews.producers import roles
from reviews.producers.titles import canonical_title, is_generic
from vault.markdown import HIDDEN
from wiki.search.stopwords import stopwords
from wiki.search.text import MARKS, SPACELESS, fold

LONGEST_NAME: Final = 120
#: Letters of a name of several words.
FEWEST_LETTERS_OF_SEVERAL: Final = 7
#: Letters of a single word that only its capital tells, and of one in signs such as GPT-4 and LaTeX.
FEWEST_LETTERS: Final = 5
FEWEST_SIGNS: Final = 3
#: Letters of a file's name such as flag-inferred-content, which is no word of any language.
FEWEST_LETTERS_OF_SLUG: Final = 12
#: Characters of a name in a script without blanks; in kana or Hangul alone, where a short one is a common word.
FEWEST_CHARACTERS: Final = 3
FEWEST_OF_ONE_SCRIPT: Final = 5
#: Where more of the words in mid-sentence have capitals than this, a capital tells no name (German nouns, headlines).
MANY_CAPITALS: Final = 0.25
_TELLING: Final = 20

_KATAKANA_RANGES: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL_RANGES: Final = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_KATAKANA: Final = re.compile(f"[{_KATAKANA_RANGES}]")
_KANA: Final = re.compile(f"[\u3041-\u309f{_KATAKANA_RANGES}]")
_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HANGUL: Final = re.compile(f"[{_HANGUL_RANGES}]")
_MARK: Final = re.compile(f"[{MARKS}]")
#: What sticks to the end of a Korean name and is no part of it.
_PARTICLE: Final = re.compile(
    "(?:은|는|이|가|을|를|에|의|와|과|도|만|로|으로|에서|에게|에는|에도|까지|부터|처럼|보다|라는|이라는|이란|란|이다|이며|이나)"
    rf"(?![{_HANGUL_RANGES}])"
)
_NO_NAME: Final = re.compile(r"[\[\]|^`<>{}\\]")
_SIGNS: Final = (("’‘ʼ", "'"), ("‐‑‒–", "-"), ("\u00a0", " "))
_BLANK: Final = " \t\u00a0"
_BLANKS: Final = re.compile(f"[{_BLANK}]{{2,}}+|\t")
_NEXT_WORD: Final = re.compile(r"[ \t\u00a0]+([^\W\d_])([\w'’]?)")
_LAST_WORD: Final = re.compile(r"[^\W_][\w'’-]*\Z")
_GOES_ON: Final = re.compile(r"(?<=[^\W\dA-Z_]) ([^\W\d_])")
_OPENERS: Final = " \t\u00a0\"'“‘„«([*~="
_BEFORE: Final = 80
_AROUND: Final = 200


@dataclass(frozen=True, slots=True)
class Name:
    """A name that can be told in running text.

    ``exact``: only in this case. ``capitals``: what is a capital in it has to be one in the text.
    ``by_capital``: nothing but its capital tells that it is a name.
    """

    text: str
    exact: bool = False
    capitals: bool = False
    by_capital: bool = False


class Running:
    """Prose (:func:`vault.markdown.prose`) made ready to be searched for names.

    ``text`` has one blank or one line end between words, ``exact`` blanks for single line ends and one kind of
    apostrophe and hyphen, ``folded`` the same in small letters; what is at one place in one is there in the others.
    """

    def __init__(self, prose: str) -> None:
        text = "\n".join(line.strip(_BLANK) for line in prose.split("\n"))
        if "  " in text or "\t" in text or "\u00a0" in text:
            text = _BLANKS.sub(" ", text)
        self.text = text
        exact = self.text.replace("\n\n", HIDDEN * 2).replace("\n", " ")
        self.exact = _one_kind_of_signs(exact)
        self.folded = _same_length_lower(self.exact)


def _one_kind_of_signs(text: str) -> str:
    if not text.isascii():
        for signs, sign in _SIGNS:
            for other in signs:
                text = text.replace(other, sign)
    return text


def _same_length_lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def name_of(text: str, *, proper: bool = False) -> Name | None:
    """The title or alias as a name; None for one that can't be told from other words. ``proper``: of an entity."""
    text = " ".join(text.split())
    if not FEWEST_SIGNS <= len(text) <= LONGEST_NAME or _NO_NAME.search(text):
        return None
    canonical = canonical_title(text)
    if not canonical or is_generic(canonical) or roles.is_periodic(text, text):
        return None
    characters = "".join(SPACELESS.findall(text))
    if characters and not _HANGUL.fullmatch(characters[0]):
        return Name(text) if _is_told_by_characters(characters, alone=len(characters) == len(text)) else None
    if " " in text:
        letters = sum(map(str.isalpha, text))
        words = fold(text).split()
        if letters < FEWEST_LETTERS_OF_SEVERAL or _common_words().issuperset(words):
            return None
        return Name(text, capitals=proper or words[0] in _common_words())
    return _single(text)


def _is_told_by_characters(characters: str, *, alone: bool) -> bool:
    if not alone:
        return len(characters) >= 2
    han = len(_HAN.findall(characters))
    return len(characters) >= (FEWEST_CHARACTERS if han else FEWEST_OF_ONE_SCRIPT)


def _single(word: str) -> Name | None:
    letters = sum(map(str.isalpha, word))
    if _HANGUL.match(word):
        return Name(word, exact=True) if letters >= FEWEST_OF_ONE_SCRIPT else None
    if letters and any(character.isdigit() for character in word):
        return Name(word, exact=True)
    if letters >= FEWEST_SIGNS and any(character.isupper() for character in word[1:]):
        return Name(word, exact=True)
    if letters >= FEWEST_LETTERS_OF_SLUG and word.count("-") + word.count("_") >= 2:
        return Name(word, exact=True)
    if letters >= FEWEST_LETTERS and word[0].isupper():
        return Name(word, exact=True, by_capital=True)
    return None


@cache
def _common_words() -> frozenset[str]:
    """The function words of all languages."""
    return frozenset().union(*stopwords().values())


def mentions(name: Name, running: Running) -> Iterator[int]:
    """Where in ``running.text`` a name stands for its page."""
    text = running.text
    searched = running.exact if name.exact else running.folded
    needle = _one_kind_of_signs(name.text if name.exact else _same_length_lower(name.text))
    start = searched.find(needle)
    while start >= 0:
        end = start + len(needle)
        if (
            (not name.capitals or _keeps_capitals(name.text, running.exact[start:end]))
            and _starts(text, start)
            and _ends(text, end, name)
            and not _goes_on(text, start, end)
            and (not name.by_capital or _in_mid_sentence(text, start))
        ):
            yield start
        start = searched.find(needle, start + 1)


def _keeps_capitals(name: str, found: str) -> bool:
    return all(one.isupper() or not other.isupper() for one, other in zip(found, name, strict=False))


def capitals_tell(running: Running) -> bool:
    """Whether a capital in the middle of a sentence says that a word is a name."""
    text = running.text
    following = (found[1] for found in _GOES_ON.finditer(text) if text[found.start() - 1].islower())
    capitals = [letter.isupper() for letter in following if letter.islower() or letter.isupper()]
    return len(capitals) < _TELLING or sum(capitals) <= MANY_CAPITALS * len(capitals)


def _starts(text: str, start: int) -> bool:
    """Whether a word can begin here."""
    before = text[start - 1] if start else " "
    if before == HIDDEN or before in "_/\\@#&=+^$-‐‑":
        return False
    if before == ".":
        return start < 2 or not text[start - 2].isalnum()
    return not _within(before, text[start], text, start)


def _ends(text: str, end: int, name: Name) -> bool:
    """Whether a word can end here."""
    after, next_one = text[end : end + 1], text[end + 1 : end + 2]
    if not after:
        return True
    if after == HIDDEN or after in "_/\\@#=+^$":
        return False
    if after == "(" and name.exact and not name.by_capital:
        return False  # a call
    if after in ".-‐‑" and next_one.isalnum():
        return False
    if after == ":" and next_one in {":", "/"}:
        return False
    if _HANGUL.match(after):
        return _PARTICLE.match(text, end) is not None
    return not _within(after, text[end - 1], text, end)


def _within(neighbour: str, character: str, text: str, place: int) -> bool:
    """Whether a character at the edge of a name and the one outside of it belong to one word."""
    if _MARK.match(neighbour):
        return True
    if not SPACELESS.match(character) or _HANGUL.match(character):
        return neighbour.isalnum() and (not SPACELESS.match(neighbour) or _HANGUL.match(neighbour) is not None)
    if _KATAKANA.match(character):
        return _KATAKANA.match(neighbour) is not None
    if _HAN.match(character) and _HAN.match(neighbour):
        # Japanese has kana between words, so that characters in a row are one; Chinese has nothing between them.
        return _KANA.search(text, max(0, place - _AROUND), place + _AROUND) is not None
    return False


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a longer name begins with this one: New York in New York Times, or brackets hold it, as a reference."""
    if text[start - 1 : start] == "[" and text[end : end + 1] == "]":
        return True
    if not text[start].isupper():
        return False
    word = _NEXT_WORD.match(text, end)
    return word is not None and word[1].isupper() and (word[1] != "I" or word[2] not in ("", "'", "’"))


def _in_mid_sentence(text: str, start: int) -> bool:
    """Whether the sentence has begun before, and not with a part of a longer name."""
    before = text[max(0, start - _BEFORE) : start].rstrip(_OPENERS)
    if before.endswith((",", ";", ")")):
        return True
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    return not word[0][0].isupper() or fold(word[0]) in _common_words()
