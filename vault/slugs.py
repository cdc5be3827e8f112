"""File names for titles: readable in every script, safe on every file system."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

from vault.errors import ErrorCode, SynapseError
from vault.paths import check_writable_name

TYPE_FOLDERS: Final = {
    "entity": "entities",
    "concept": "concepts",
    "source": "sources",
    "synthesis": "synthesis",
    "comparison": "comparisons",
}
MAX_CHARACTERS: Final = 80
MAX_BYTES: Final = 200

_FOLDER_TYPES: Final = {folder: page_type for page_type, folder in TYPE_FOLDERS.items()}
# Letters and marks that show nothing: Hangul fillers, the grapheme joiner, variation selectors.
_INVISIBLE: Final = frozenset(map(chr, [0x115F, 0x1160, 0x3164, 0xFFA0, 0x034F, 0x17B4, 0x17B5])) | frozenset(
    map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)


def slugify(title: str) -> str:
    """The file stem of a title: lower-case letters and digits of every script, anything else one `-`.

    NFKC; at most MAX_CHARACTERS code points and MAX_BYTES bytes of UTF-8, cut between characters. A name that must
    not be written (a device of Windows, what coding agents take for orders: "Claude" is a fair title) gets `-page`
    behind it. Never empty: without letters, or where that does not help, `page-` and eight hex digits of the title's
    hash. A slug is its own slug.
    """
    slug = _shorten(_words(_lower(title)))
    if slug and _may_be_written(slug):
        return slug
    if slug and _may_be_written(f"{slug}-page"):
        return f"{slug}-page"
    return f"page-{hashlib.sha256(title.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _may_be_written(slug: str) -> bool:
    try:
        check_writable_name(f"wiki/{slug}.md")
    except SynapseError:
        return False
    return True


def page_path(page_type: str, title: str) -> str:
    """Where a new page of a type goes: `wiki/<folder of the type>/<slug>.md`.

    Raises:
        SynapseError: invalid_frontmatter when the type is none of the five.
    """
    folder = TYPE_FOLDERS.get(page_type)
    if folder is None:
        sentence = f"Give one of {', '.join(TYPE_FOLDERS)}."
        raise SynapseError(ErrorCode.INVALID_FRONTMATTER, f"type: {sentence}", fields={"type": sentence})
    return f"wiki/{folder}/{slugify(title)}.md"


def type_of_folder(path: str) -> str | None:
    """The page type that a vault path's folder stands for (`wiki/concepts/…` is a concept), or None."""
    parts = path.split("/")
    return _FOLDER_TYPES.get(parts[1]) if len(parts) > 2 and parts[0] == "wiki" else None


def _lower(title: str) -> str:
    """Lower case in NFKC, without what shows nothing."""
    shown = "".join(character for character in title if not _is_invisible(character))
    # The one upper-case letter that lowers to two characters: its own dot would stay behind as a mark.
    lowered = unicodedata.normalize("NFKC", shown).replace("İ", "i").lower()
    return unicodedata.normalize("NFKC", lowered)


def _is_invisible(character: str) -> bool:
    return character in _INVISIBLE or unicodedata.category(character) == "Cf"


def _words(text: str) -> str:
    """Keep letters, digits and the marks on them; put one `-` for each run of anything else between them."""
    kept: list[str] = []
    gap = False
    for character in text:
        kind = unicodedata.category(character)
        if kind[0] in "LN" or (kind in {"Mn", "Mc"} and kept and not gap):
            if gap and kept:
                kept.append("-")
            kept.append(character)
            gap = False
        else:
            gap = True
    return "".join(kept)


def _shorten(slug: str) -> str:
    """Cut to the limits in front of a letter, digit or `-`, never between a letter and its marks."""
    end = min(len(slug), MAX_CHARACTERS)
    while len(slug[:end].encode()) > MAX_BYTES:
        end -= 1
    while 0 < end < len(slug) and unicodedata.category(slug[end])[0] == "M":
        end -= 1
    return slug[:end].rstrip("-")
