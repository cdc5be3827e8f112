"""The page validator: what a page's properties must be before Synapse writes them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from vault.errors import ErrorCode, SynapseError
from vault.frontmatter.yaml_core import MAX_DEPTH

PAGE_TYPES: Final = ("entity", "concept", "source", "synthesis", "comparison")
# Facts that the index and the ledger hold about a page; a copy in the file would soon be wrong.
OWNED_KEYS: Final = frozenset({"id", "uid", "uuid", "page_id", "vault_id", "content_hash", "data_version"})
# ISO 639-1, the two-letter codes (https://www.loc.gov/standards/iso639-2/php/code_list.php), and the retired "bh".
_CODES: Final = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv
    ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne
    ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES: Final = frozenset(_CODES.split())
_LANGUAGE_TAG: Final = re.compile(r"([a-z]{2})(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NOT_STORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def validate(frontmatter: Mapping[str, Any], *, title: str) -> None:
    """Check the properties that a caller gives for a page against the rules of the wiki.

    ``type`` is one of PAGE_TYPES; ``title`` is text without control characters, equal (NFC) to the title argument;
    ``sources`` has at least one text that is not blank; ``lang`` is an ISO 639-1 code, a script or region may follow
    ("pt-BR"); ``tags`` and ``aliases``, if given, are texts; OWNED_KEYS are not given.

    Raises:
        SynapseError: invalid_content for NUL or half characters (lone surrogates) anywhere; else
            invalid_frontmatter with ``fields``, a sentence for every key that has to change.
    """
    check_characters([title, frontmatter])
    fields = {
        "type": _type_problem(frontmatter.get("type")),
        "title": _title_problem(frontmatter.get("title"), title),
        "sources": _sources_problem(frontmatter.get("sources")),
        "lang": _lang_problem(frontmatter.get("lang")),
        "tags": _list_problem(frontmatter.get("tags")),
        "aliases": _list_problem(frontmatter.get("aliases")),
    }
    fields |= {key: "Leave it out: Synapse keeps it itself." for key in frontmatter if key in OWNED_KEYS}
    problems = {key: sentence for key, sentence in fields.items() if sentence}
    if problems:
        listed = " ".join(f"{key}: {sentence}" for key, sentence in problems.items())
        raise SynapseError(ErrorCode.INVALID_FRONTMATTER, f"The frontmatter has to change. {listed}", fields=problems)


def check_characters(value: Any) -> None:
    """Refuse NUL and lone surrogates in a text, or anywhere in lists and mappings of texts, keys included.

    Raises:
        SynapseError: invalid_content, or invalid_frontmatter when values are nested deeper than MAX_DEPTH.
    """
    level = [value]
    for _ in range(MAX_DEPTH + 2):
        for item in level:
            if isinstance(item, str) and _NOT_STORABLE.search(item):
                raise SynapseError(
                    ErrorCode.INVALID_CONTENT,
                    "The text holds a NUL or half of a surrogate pair, which no file can keep; remove it.",
                )
        level = [part for item in level for part in _parts(item)]
        if not level:
            return
    raise SynapseError(
        ErrorCode.INVALID_FRONTMATTER, f"Values are nested more than {MAX_DEPTH} levels deep; make them flatter."
    )


def _parts(item: Any) -> list[Any]:
    if isinstance(item, Mapping):
        return [*item.keys(), *item.values()]
    return list(item) if isinstance(item, list | tuple) else []


def _type_problem(value: Any) -> str:
    if isinstance(value, str) and value in PAGE_TYPES:
        return ""
    return f"Give one of {', '.join(PAGE_TYPES)}."


def _title_problem(value: Any, title: str) -> str:
    if not isinstance(value, str) or not value.strip():
        return "Give the page's title, as text."
    if _CONTROL.search(value) or _CONTROL.search(title):
        return "Take line breaks and control characters out of the title."
    if unicodedata.normalize("NFC", value) != unicodedata.normalize("NFC", title):
        return "Make it the same as the title argument."
    return ""


def _sources_problem(value: Any) -> str:
    sources = [value] if isinstance(value, str) else value
    if not isinstance(sources, list | tuple) or not sources:
        return "Name at least one source, as a list of texts such as raw/sources/report.md."
    if not all(isinstance(source, str) and source.strip() for source in sources):
        return "Each source must be a text that is not blank."
    return ""


def _lang_problem(value: Any) -> str:
    match = _LANGUAGE_TAG.fullmatch(value) if isinstance(value, str) else None
    if match and match[1] in LANGUAGES:
        return ""
    return 'Give the language as an ISO 639-1 code in lower case, such as "en" or "pt-BR".'


def _list_problem(value: Any) -> str:
    items = value if isinstance(value, list | tuple) else [value]
    return "" if value is None or all(isinstance(item, str) for item in items) else "Give a list of texts."
