"""What only a person can put right: conflict copies of pages, and frontmatter that does not parse."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from reviews.models import ItemType
from reviews.producers.roles import is_template
from reviews.services.findings import Finding
from vault.links import path_key
from wiki.changes import Changed
from wiki.models import File, FileKind, Page
from wiki.rows import chunks
from wiki.storable import key
from wiki.sync.values import source_key

# What sync tools put into the name of the copy that lost; what is left without it is the name of the page. Editors'
# temporaries and backups are no copies that somebody has to read.
_MARKS: Final = (
    re.compile(r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]+)?", re.IGNORECASE),  # Syncthing
    # Dropbox, Obsidian Sync, Nextcloud, Seafile
    re.compile(r"\s*\((?:[^()]*\s)?(?:conflicted copy|case conflict|sfconflict)\b[^()]*\)", re.IGNORECASE),
    re.compile(r"\s*\(conflict on \d{4}[^()]*\)", re.IGNORECASE),  # Unison
    re.compile(r"[_.-]conflict-\d{8}-\d{6}", re.IGNORECASE),  # ownCloud
)
#: Flags of a page whose block holds no properties because it is not YAML that is read.
UNPARSED: Final = frozenset(
    {
        "duplicate_key",
        "invalid_yaml",
        "not_a_mapping",
        "yaml_alias",
        "yaml_depth",
        "yaml_key",
        "yaml_size",
        "yaml_tag",
    }
)


def original_of(path: str) -> str | None:
    """The path of the page that a conflict copy at ``path`` is of; None for what is no copy of a page."""
    folder, slash, name = path.rpartition("/")
    for mark in _MARKS:
        stripped = mark.sub("", name)
        if stripped != name:
            return f"{folder}{slash}{stripped}" if stripped[-3:].lower() == ".md" and stripped[:-3] else None
    return None


class ConflictCopy:
    """A sync tool's conflict copy beside the page that it is a copy of. Its target is the copy's path."""

    rule: Final = "conflict-copy"
    item_type: Final = ItemType.CONFIRM.value

    def targets(self, changed: Changed) -> set[str]:
        """The copies that came or went, and those of pages that did."""
        found: set[str] = set()
        for chunk in chunks(changed.files):
            files = File.objects.filter(pk__in=chunk, kind=FileKind.CONFLICT).order_by()
            found.update(map(source_key, files.values_list("path", flat=True)))
        originals = {target: _original_key(file.path) for target, file in _copies().items()}
        pages = {page.pk for alike in _pages_by_key(originals.values()).values() for page in alike}
        if not pages.isdisjoint(changed.pages):
            found.update(originals)
        return found

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a copy whose page is there, and is not reserved."""
        copies = _copies()
        chosen = {target: copies[target] for target in (copies if targets is None else copies.keys() & set(targets))}
        pages = _pages_by_key(filter(None, (_original_key(file.path) for file in chosen.values())))
        for target, file in sorted(chosen.items()):
            original = original_of(file.path)
            page = _page_at(original, pages) if original else None
            if page is not None and not page.reserved:
                yield Finding(
                    item_type=self.item_type,
                    rule=self.rule,
                    target=target,
                    title=f"Conflict copy of {page.title}: {file.path.rpartition('/')[2]}",
                    rationale=f"A sync tool has kept another version of {page.path} as {file.path}. Compare the two, "
                    "take over what is missing in the page, and delete the copy.",
                    page=page,
                    file=file,
                    evidence=[str(page.uid)],
                    rests_on=[page.pk],
                )


def _copies() -> dict[str, File]:
    """All conflict copies of pages by target; they are few, and have an index of their own."""
    files = File.objects.filter(kind=FileKind.CONFLICT, deleted_at__isnull=True).order_by("path")
    return {source_key(file.path): file for file in files if original_of(file.path)}


def _original_key(path: str) -> str:
    return key(path_key(original_of(path) or ""))


def _pages_by_key(keys: Iterable[str]) -> dict[str, list[Page]]:
    found: dict[str, list[Page]] = {}
    for chunk in chunks(set(keys)):
        for page in Page.objects.live().filter(path_key__in=chunk).order_by("path"):
            found.setdefault(page.path_key, []).append(page)
    return found


def _page_at(path: str, pages: dict[str, list[Page]]) -> Page | None:
    """The page at this path, else one whose path differs in case or Unicode form only."""
    alike = pages.get(key(path_key(path)), [])
    return next((page for page in alike if page.path == path), alike[0] if alike else None)


class BadFrontmatter:
    """A page whose frontmatter does not parse, so that none of its properties count. Its target is the page's id."""

    rule: Final = "bad-frontmatter"
    item_type: Final = ItemType.CONFIRM.value

    def targets(self, changed: Changed) -> set[str]:
        """The pages that changed, as far as something is wrong with them."""
        found: set[str] = set()
        for chunk in chunks(changed.pages):
            flagged = Page.objects.filter(pk__in=chunk).exclude(flags=[]).order_by()
            found.update(map(str, flagged.values_list("uid", flat=True)))
        return found

    def find(self, targets: Collection[str] | None) -> Iterator[Finding]:
        """A finding a page; templates are full of places to be filled in, which are no YAML."""
        pages = Page.objects.listed().exclude(flags=[]).order_by("path")
        for chunk in [None] if targets is None else chunks(sorted(targets)):
            for page in pages if chunk is None else pages.filter(uid__in=chunk):
                flag = next((flag for flag in page.flags if flag["code"] in UNPARSED), None)
                if flag is not None and not is_template(page.path):
                    yield self._finding(page, flag)

    def _finding(self, page: Page, flag: dict[str, str]) -> Finding:
        return Finding(
            item_type=self.item_type,
            rule=self.rule,
            target=str(page.uid),
            title=f"Frontmatter does not parse: {page.path}",
            rationale=f"{flag['reason']} Until then the page has none of its properties, its type, tags and sources "
            "among them. Correct the block between the two lines `---`.",
            page=page,
            evidence=[flag["code"], flag["reason"]],
            rests_on=[page.pk],
        )
