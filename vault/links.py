"""What a link leads to: Obsidian's rule, and Synapse's answers where Obsidian has none.

Obsidian looks a target up by its last path segment, over the whole vault:

1. the file at exactly that vault path;
2. else a file in the folder of the note that holds the link;
3. else the file with the shortest path string.

Case does not count, but a hit in the same case goes first. A target of several
segments matches the end of a path at a ``/``. ``./`` and ``../`` are read from the
note's own folder, a leading ``/`` from the root, and neither is looked up elsewhere.
``.md`` may be left out; any other extension may not.

Source: Obsidian 1.13.7's answers as observed by others. Where it finds nothing, a
page's title or alias is tried, with a state of its own (docs/decisions/0010).
"""

from __future__ import annotations

import unicodedata
from typing import Final, NamedTuple

RESOLVED: Final = "resolved"
BY_TITLE: Final = "by_title"
BY_ALIAS: Final = "by_alias"
AMBIGUOUS: Final = "ambiguous"
BROKEN: Final = "broken"
SELF: Final = "self"


class Resolution(NamedTuple):
    """A link's answer: its state (values of ``wiki.models.LinkState``) and the vault path it leads to, if any."""

    state: str
    path: str | None


_BROKEN: Final = Resolution(BROKEN, None)
_UNDECIDED: Final = Resolution(AMBIGUOUS, None)


def path_key(path: str) -> str:
    """Key of a whole path: NFC, casefolded, no-break spaces as spaces, ``.md`` (any case) removed."""
    key = path.lower() if path.isascii() else unicodedata.normalize("NFC", path.replace("\u00a0", " ")).casefold()
    return key[:-3] if key.endswith(".md") else key


def name_key(path: str) -> str:
    """Key of the last segment of a path, as :func:`path_key`; extensions other than ``.md`` are kept."""
    key = path_key(path)
    return key[key.rfind("/") + 1 :]


def text_key(text: str) -> str:
    """Key of a title, an alias or a whole target: NFC, casefolded, no-break spaces as spaces, stripped."""
    if text.isascii():
        return text.strip().lower()
    return unicodedata.normalize("NFC", text.replace("\u00a0", " ")).casefold().strip()


def link_keys(target: str, source: str) -> tuple[str, str]:
    """``(name_key, text_key)`` of a target: only a change of a file, title or alias under them can change its answer.

    ``source`` is the path of the note that holds the link. Its folder never changes a target's last segment,
    so the keys are the same from everywhere.
    """
    del source
    return name_key(target.strip()), text_key(target)


class Targets:
    """What links can lead to: files by the key of their name, pages by title and by alias.

    Built over the whole vault, or only over the rows that have a link's two keys
    (:func:`link_keys`): :func:`resolve` answers the same.
    """

    __slots__ = ("_aliases", "_files", "_titles")

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[str, str]]] = {}  # name key → (path key, path)
        self._titles: dict[str, list[tuple[str, str]]] = {}  # text key → (title, path)
        self._aliases: dict[str, list[tuple[str, str]]] = {}

    def add_file(self, path: str, *, page: bool) -> None:
        """Make a file a candidate, page or not; names with a leading dot, and what lies below them, are left out."""
        del page  # a note in raw/ is found as a page is: without its extension
        if path.startswith(".") or "/." in path:
            return
        key = path_key(path)
        self._files.setdefault(key[key.rfind("/") + 1 :], []).append((key, path))

    def add_title(self, title: str, path: str) -> None:
        """Let the page at ``path`` be found by its title."""
        self._titles.setdefault(text_key(title), []).append((title, path))

    def add_alias(self, alias: str, path: str) -> None:
        """Let the page at ``path`` be found by an alias."""
        self._aliases.setdefault(text_key(alias), []).append((alias, path))

    def remove_file(self, path: str) -> None:
        """Forget a file; nothing happens if it is unknown. Its title and aliases go by their own methods."""
        _drop(self._files, name_key(path), (path_key(path), path))

    def remove_title(self, title: str, path: str) -> None:
        """Forget the title of the page at ``path``."""
        _drop(self._titles, text_key(title), (title, path))

    def remove_alias(self, alias: str, path: str) -> None:
        """Forget one alias of the page at ``path``."""
        _drop(self._aliases, text_key(alias), (alias, path))

    def files(self, key: str) -> list[tuple[str, str]]:
        """Candidates of one name key, as ``(path key, path)``, in no particular order."""
        return self._files.get(key, [])

    def named(self, text: str) -> Resolution | None:
        """The page that has this title, else this alias; None when no page has."""
        key = text_key(text)
        for names, state in ((self._titles, BY_TITLE), (self._aliases, BY_ALIAS)):
            if found := names.get(key):
                return _only(found, text, state)
        return None


def _drop(names: dict[str, list[tuple[str, str]]], key: str, entry: tuple[str, str]) -> None:
    entries = names.get(key)
    if entries and entry in entries:
        entries.remove(entry)
        if not entries:
            del names[key]


def _only(found: list[tuple[str, str]], text: str, state: str) -> Resolution:
    paths = {path for _, path in found}
    if len(paths) > 1:
        wanted = _spelling(text)
        paths = {path for name, path in found if _spelling(name) == wanted}
    return Resolution(state, paths.pop()) if len(paths) == 1 else _UNDECIDED


def _spelling(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\u00a0", " ")).strip()


def resolve(target: str, *, source: str, targets: Targets, markdown: bool = False) -> Resolution:
    """What a link in the note at ``source`` leads to.

    Args:
        target: the link's target without subpath and alias, as :class:`vault.markdown.ParsedLink` has it (that of
            a Markdown link is percent-decoded there, once). The empty target is the note itself.
        source: vault path of the note that holds the link.
        targets: the candidates.
        markdown: the target is the destination of a Markdown link: a path, never a title or an alias.

    Never raises; whatever climbs above the root is broken.
    """
    text = target.strip()
    if not text:
        return Resolution(SELF, source)
    found = _by_path(text, source, targets)
    if found is None and not markdown:
        found = targets.named(text)
    return found or _BROKEN


def _by_path(text: str, source: str, targets: Targets) -> Resolution | None:
    key = path_key(text)
    candidates = targets.files(key[key.rfind("/") + 1 :])
    if not candidates:
        return None
    if len(candidates) == 1 and "/" not in key:  # nearly always so, and nothing to choose
        path = candidates[0][1]
        return Resolution(RESOLVED, path) if _is_note(path) or not _is_note(text) else None
    notes = [entry for entry in candidates if _is_note(entry[1])]
    found = _choose(notes, text, source)
    if found is None and len(notes) < len(candidates) and not _is_note(text):
        found = _choose([entry for entry in candidates if not _is_note(entry[1])], text, source)
    return found


def _from_note(text: str, source: str) -> str | None:
    """The vault path that a target with a leading ``/`` or dot segments names ("" above the root); else None."""
    if text.startswith("/"):
        segments: list[str] = []
        text = text.lstrip("/")
    elif text.startswith(("./", "../")) or "/./" in text or "/../" in text:
        segments = source.split("/")[:-1]
    else:
        return None
    for segment in text.split("/"):
        if segment == "..":
            if not segments:
                return ""
            segments.pop()
        elif segment != ".":
            segments.append(segment)
    return "/".join(segments)


def _choose(entries: list[tuple[str, str]], text: str, source: str) -> Resolution | None:
    """Obsidian's choice among files that have the target's last segment as their name."""
    key = path_key(text)
    if "/" in key:
        anchored = _from_note(text, source)
        if anchored is not None:
            wanted = path_key(anchored)
            return _best([entry for entry in entries if entry[0] == wanted], anchored)
        suffix = "/" + key
        entries = [entry for entry in entries if entry[0] == key or entry[0].endswith(suffix)]
    if len(entries) < 2:
        return Resolution(RESOLVED, entries[0][1]) if entries else None
    exact = [entry for entry in entries if entry[0] == key]
    if exact:
        return _best(exact, text)
    folder = path_key(source).rpartition("/")[0]
    beside = [entry for entry in entries if entry[0].rpartition("/")[0] == folder]
    if beside:
        return _best(beside, text)
    shortest = min(_length(entry) for entry in entries)
    return _best([entry for entry in entries if _length(entry) == shortest], text)


def _length(entry: tuple[str, str]) -> int:
    return len(unicodedata.normalize("NFC", entry[1]))


def _best(entries: list[tuple[str, str]], text: str) -> Resolution | None:
    """The one file, the one in the same case or characters, or the first in the alphabet and a state that tells."""
    paths = sorted({path for _, path in entries})
    if len(paths) < 2:
        return Resolution(RESOLVED, paths[0]) if paths else None
    for spelling in (_spelling, str):  # the second parts two files whose names differ in their Unicode form only
        wanted = "/" + _without_md(spelling(text))
        same = [path for path in paths if ("/" + _without_md(spelling(path))).endswith(wanted)]
        if len(same) == 1:
            return Resolution(RESOLVED, same[0])
        paths = same or paths
    return Resolution(AMBIGUOUS, paths[0])


def _is_note(path: str) -> bool:
    return path[-3:].lower() == ".md"


def _without_md(path: str) -> str:
    return path[:-3] if _is_note(path) else path


def link_text(*, page_path: str, title: str, source: str, targets: Targets) -> str:
    """The target that the write path writes for a page, so that Obsidian resolves it too.

    The stem of the page's file, if Obsidian's rule leads from ``source`` to it; else its whole vault path, without
    ``.md`` where that is unambiguous. Never a path suffix: a new file could take it over.

    A page whose name holds ``#``, ``|`` or double brackets can't be the target of a wikilink; its path is returned all
    the same. ``title`` is not part of the target: callers give it as the link's alias.
    """
    del title
    whole = _without_md(page_path)
    stem = whole.rpartition("/")[2]
    for target in (stem, whole, page_path):
        if writable_target(target) and resolve(target, source=source, targets=targets) == Resolution(
            RESOLVED, page_path
        ):
            return target
    return whole


def writable_target(target: str) -> bool:
    """Whether a wikilink can hold this target: Obsidian reads ``#`` and ``|`` as the end of it."""
    forbidden = ("#", "|", "[[", "]]", "\n", "\r")
    return bool(target.strip()) and not target.endswith("\\") and not any(mark in target for mark in forbidden)


def render_wikilink(
    target: str, subpath: str = "", alias: str | None = None, *, embed: bool = False, in_table: bool = False
) -> str:
    """A wikilink's text: ``[[target#subpath|alias]]``, with ``!`` before an embed and ``\\|`` inside a table.

    ``subpath`` has its leading ``#``. Line ends and brackets of the alias that would end the link are taken apart.
    """
    inner = target + subpath
    if alias is not None and (shown := _one_line(alias)):
        inner += ("\\|" if in_table else "|") + shown
    return f"{'!' if embed else ''}[[{inner}]]"


def _one_line(alias: str) -> str:
    shown = " ".join(alias.split())
    while "[[" in shown or "]]" in shown:
        shown = shown.replace("[[", "[ [").replace("]]", "] ]")
    return shown + " " if shown.endswith("]") else shown
