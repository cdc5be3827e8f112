"""Raw sources that no page rests on: what a person put in and nobody has read into the wiki yet."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from reviews.models import ItemType
from reviews.producers.rows import rewritten
from reviews.services.findings import Finding
from wiki.changes import Changed
from wiki.models import File, FileKind
from wiki.rows import all_rows, chunks, select
from wiki.services.citations import pages_by_source, source_key

_ACCOMPANYING: Final = """
    apng avif bmp cur gif heic heif icns ico jpeg jpg jfif png psd raw svg svgz tif tiff webp
    css eot js mjs map otf ttf woff woff2 scss
    db ini lnk url webloc lock tmp aux bbl blg synctex
"""
#: Extensions of what comes along with a source and is none: pictures, what a saved page is made of, systems' leavings.
ACCOMPANYING: Final = frozenset(_ACCOMPANYING.split())
#: Names, without extension, of what tells people about a folder.
NOTICES: Final = frozenset({"readme", "license", "licence", "copying"})

# Sources that no listed page names in its frontmatter or links to.
_UNCITED: Final = (
    "SELECT file.id, file.path, file.size FROM {file} file WHERE file.kind = 'source' AND file.deleted_at IS NULL "
    "AND NOT EXISTS (SELECT 1 FROM wiki_citation citation JOIN {page} page ON page.id = citation.page_id "
    "AND page.deleted_at IS NULL AND NOT page.reserved WHERE citation.key = file.path) "
    "AND NOT EXISTS (SELECT 1 FROM {link} link JOIN {page} page ON page.id = link.source_id "
    "AND page.deleted_at IS NULL AND NOT page.reserved "
    "WHERE link.name_key = file.name_key AND link.target_path = file.path)"
)
_CITED: Final = "SELECT key FROM wiki_citation WHERE page_id IN {items}"
_LINKED: Final = (
    "SELECT target_path FROM {link} WHERE target_id IS NULL AND target_path IS NOT NULL AND source_id IN {items}"
)
# What listed pages name and no source has as its path.
_NOT_THERE: Final = (
    "SELECT named.key FROM (SELECT DISTINCT key FROM wiki_citation) named WHERE NOT EXISTS (SELECT 1 FROM {file} file "
    "WHERE file.path = named.key AND file.kind = 'source' AND file.deleted_at IS NULL) AND EXISTS (SELECT 1 FROM "
    "wiki_citation citation JOIN {page} page ON page.id = citation.page_id AND page.deleted_at IS NULL "
    "AND NOT page.reserved WHERE citation.key = named.key)"
)
# What people write behind a path: a page number, a place in the document, a remark.
_REMARK: Final = re.compile(r"[#?|,;(\[]|:\s|\s[-–—]\s|\sp{1,2}\.\s?\d")
_SEPARATORS: Final = re.compile(r"[\s._+~()\[\]-]+|(?<=[a-z])(?=[A-Z])")
_NO_WORD: Final = re.compile(r"\d+|[0-9a-f]{7,}|v\d+|index|final|copy|draft|scan|download(?:ed)?", re.IGNORECASE)


class UncitedSource:
    """A source that no page names or links to. Its target is the source's key.

    A page cites a source also by its bare name, if no other source is meant, and with a page number behind it.
    Pictures, and files without content, ask nothing: they belong to what lies beside them.
    """

    rule: Final = "uncited-source"
    item_type: Final = ItemType.SUGGESTION.value

    def targets(self, changed: Changed) -> set[str]:
        """The sources that changed and those that the pages cite now; and all uncited ones, cited before perhaps."""
        pages = rewritten(changed) or ()
        found = {key for (key,) in select(_CITED, pages)}
        found.update(source_key(path) for (path,) in select(_LINKED, pages))
        for chunk in chunks(changed.files):
            paths = File.objects.filter(pk__in=chunk, kind=FileKind.SOURCE).order_by().values_list("path", flat=True)
            found.update(map(source_key, paths))
        if pages or found:
            found.update(source_key(path) for _, path in _uncited())
        return found

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a source, by path."""
        asked = {pk: path for pk, path in _uncited() if targets is None or source_key(path) in targets}
        if not asked:
            return
        names = _names_meant()
        meant = {pk for pk, path in asked.items() if not names.isdisjoint(_names_of(path))}
        files = [file for chunk in chunks(asked.keys() - meant) for file in File.objects.filter(pk__in=chunk)]
        for file in sorted(files, key=lambda file: file.path):
            yield Finding(
                item_type=self.item_type,
                rule=self.rule,
                target=source_key(file.path),
                title=f"No page cites {file.path}",
                rationale="It lies among the sources, and no page names it in `sources` or links to it. Write what it "
                "says into the wiki, or dismiss this if it is not meant for it.",
                file=file,
                search_queries=_queries(file.path),
                evidence=[file.content_hash],
            )


def _uncited() -> list[tuple[int, str]]:
    """Key and path of the sources that ask to be read and that no page cites by their whole path."""
    rows = [(pk, path) for pk, path, size in all_rows(_UNCITED) if size and _asks(path)]
    odd = {source_key(path) for _, path in rows if source_key(path) != path}
    cited = pages_by_source(odd) if odd else {}  # decomposed or very long paths: their keys differ from them
    return [(pk, path) for pk, path in rows if source_key(path) not in cited]


def _asks(path: str) -> bool:
    name = path.rpartition("/")[2].casefold()
    return name.rpartition(".")[2] not in ACCOMPANYING and _without_extension(name) not in NOTICES


def _names_meant() -> set[str]:
    """The names of sources that pages give without saying where they lie, or with a remark behind them."""
    return {name for (key,) in all_rows(_NOT_THERE) for name in _names_given(key)}


def _names_given(cited: str) -> Iterator[str]:
    """The last part of what a page cites, with and without what may be a remark."""
    name = cited.rpartition("/")[2].casefold()
    yield name
    bare = _REMARK.split(name, maxsplit=1)[0].strip()
    if bare:
        yield bare


def _names_of(path: str) -> set[str]:
    """What a page may call a source: its file's name, with and without extension."""
    name = path.rpartition("/")[2].casefold()
    return {name, _without_extension(name)}


def _without_extension(path: str) -> str:
    stem, dot, extension = path.rpartition(".")
    return stem if dot and stem and 0 < len(extension) <= 5 and extension.isalnum() else path


def _queries(path: str) -> list[str]:
    """What to search for, from the file's name: its words, without numbers and what says nothing."""
    words = _SEPARATORS.split(_without_extension(path.rpartition("/")[2]))
    told = [word for word in words if word and not _NO_WORD.fullmatch(word)]
    query = " ".join(told)
    return [query] if sum(map(str.isalpha, query)) >= 3 else []
