"""Which page a broken link asks for: its question, the same for all ways of writing one name, and the name itself."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from django.conf import settings

from reviews.producers.roles import is_periodic
from vault.links import text_key
from vault.paths import classify, is_reserved
from vault.slugs import slugify, type_of_folder

#: Longer names fit no file.
MAX_NAME: Final = 200
_FILES: Final = """
    3gp 7z aac apng avi avif base bib bin bmp bz2 canvas css csv db djvu dmg doc docx drawio eml epub excalidraw exe
    flac gif gz heic htm html ico ics ipynb iso jpeg jpg json jsonl log m4a mkv mobi mov mp3 mp4 mpeg mpg odp ods odt
    oga ogg ogv opus otf pages parquet pdf png ppt pptx psd rar rtf sqlite sqlite3 svg tar tex tgz tif tiff toml tsv ttf
    txt vcf wav webm webp woff woff2 xls xlsx xml xz yaml yml zip
"""
#: What is linked or embedded by its file's name: a broken link to one asks for a file, not for a page. Not ``js`` and
#: the like, which are also the ends of names (Node.js).
ATTACHMENTS: Final = frozenset(_FILES.split())
#: Longest target that is looked at.
MAX_TARGET: Final = 1_000
# What stands between double brackets and is no name: addresses, places in a note, what a template leaves to be filled
# in, code, footnotes by number.
_NO_NAME: Final = re.compile(
    r"""
    [a-z][a-z0-9+.-]*:// | (?:mailto|file|obsidian|zotero|tel|doi):\S | www\.    # an address
    | [-!:&;,.?*=<>~] | \$[a-z_{(]                       # a switch, an operator, an ellipsis, a variable
    | \d{1,3}\Z                                         # a footnote
    | (["'`]).*\1\Z                                      # a text in quotes
    | .*(?: [\^\[\]|\\\n] | </?[a-z] | \{\{ | \}\} | <% | %> | \$\{ | \$\( | == | && )
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_BARE_YEAR: Final = re.compile(r"\d{4}")


class Asked(NamedTuple):
    """The page that a link asks for.

    ``question`` is the same for all spellings of one name: case, spaces and hyphens don't count. ``name`` is what it
    calls the page, ``page_type`` the type whose folder it names, or "".
    """

    question: str
    name: str
    page_type: str


def asked_for(text: str, alias: str | None, source: str, *, embed: bool = False) -> Asked | None:
    """What page a link in the page at ``source`` asks for; None when it asks for none.

    ``text`` is the target without subpath. A target that is the slug of its alias, as Synapse writes links to pages
    that are not there yet, asks for the alias. Files with other extensions, reserved pages, raw/, hidden and excluded
    places, tag listings (``tags/…``), notes of a day, week or month, and what is no name at all are not asked for.
    """
    target = _from_root(unicodedata.normalize("NFC", text.replace("\u00a0", " ")).strip(), source)
    if target is None or len(target) > MAX_TARGET or _NO_NAME.match(target):
        return None
    folder, _, name = target.rpartition("/")
    if not _is_name(name, embed=embed) or _is_elsewhere(target):
        return None
    shown = alias.strip() if alias else ""
    if shown and len(shown) <= MAX_NAME and slugify(name) == name == slugify(shown):
        name = shown
    question = folded(name)
    if not question or (is_periodic(name) and not _BARE_YEAR.fullmatch(name)):
        return None
    page_type = type_of_folder(f"{target}.md") or ""
    if page_type and folder.count("/") == 1:
        folder = ""  # where a page of that type would be made
    return Asked(f"{text_key(folder)}/{question}" if folder else question, name, page_type)


@lru_cache(maxsize=65_536)
def folded(name: str) -> str:
    """A name without its case, and with one hyphen for what separates its words; signs such as + and # stay."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return "-".join("".join(" " if _separates(character) else character for character in text).split())


def _separates(character: str) -> bool:
    if character.isalnum():
        return False
    return character.isspace() or (unicodedata.category(character)[0] == "P" and character not in "#&@%*")


def _from_root(target: str, source: str) -> str | None:
    """The target without ``.md``, read from the root where it begins with a slash or climbs; None above the root."""
    if target.startswith("/"):
        target = target.lstrip("/")
    elif target.startswith(("./", "../")) or "/./" in target or "/../" in target:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), target)) + "/" * target.endswith("/")
        if target.startswith(".."):
            return None
    return target[:-3] if target[-3:].lower() == ".md" else target


def _is_name(name: str, *, embed: bool) -> bool:
    """Whether the last segment can be a page's name: not empty (a folder), not too long, not that of another file."""
    if not 0 < len(name) <= MAX_NAME or name.startswith("."):
        return False
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return True
    return extension.casefold() not in ATTACHMENTS and not (embed and re.fullmatch(r"[A-Za-z0-9]{1,8}", extension))


def _is_elsewhere(target: str) -> bool:
    """Whether no page is made there: reserved, hidden, excluded, among the raw files, or a listing of a tag."""
    path = f"{target}.md"
    first = target.partition("/")[0].casefold()
    if "/" in target and first in ("raw", "tags"):
        return True
    return is_reserved(path) or classify(path, settings.SYNAPSE_EXCLUDE) != "page"
