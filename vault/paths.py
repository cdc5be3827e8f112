"""Which paths are well formed, which names may be written, and what kind of file a path is. Text only: no disk."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal

from vault.disk.confined import NOT_ALLOWED
from vault.errors import ErrorCode, SynapseError

Kind = Literal["page", "source", "conflict", "attachment"]

SOURCES: Final = "raw/sources"
RESERVED: Final = frozenset({"wiki/index.md", "wiki/log.md", "wiki/overview.md", "schema.md", "purpose.md"})
MAX_SEGMENT_BYTES: Final = 255
MAX_PATH_BYTES: Final = 4096

# Control characters and lone surrogates break logs, JSON and SQL; a backslash is a separator elsewhere.
BAD_CHARACTERS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\\]")
_DRIVE_OR_SCHEME: Final = re.compile(r"[A-Za-z]:|[A-Za-z][A-Za-z0-9+.\-]*:(?:/|$)")


def is_allowed(path: str) -> bool:
    """Whether the text is a path below the root in its only spelling. Looks at the text alone, never at the disk."""
    if not path.strip() or BAD_CHARACTERS.search(path) or _DRIVE_OR_SCHEME.match(path):
        return False
    if len(path.encode()) > MAX_PATH_BYTES:
        return False
    # An empty segment is a leading, doubled or trailing slash; a leading dot is `.`, `..` or a hidden name.
    return all(
        segment and segment[0] != "." and len(segment.encode()) <= MAX_SEGMENT_BYTES for segment in path.split("/")
    )


def check_path(path: str) -> str:
    """``path`` unchanged: vault-relative, `/` between parts, not decoded, not normalised.

    Raises ``path_not_allowed`` with one text for all reasons. A path that names nothing passes.
    """
    if not is_allowed(path):
        raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, NOT_ALLOWED)
    return path


def source_path(path: str) -> str:
    """The vault-relative path of a source: given as ``raw/sources/…`` or relative to raw/sources.

    Raises ``path_not_allowed`` for everything else, such as raw/assets and wiki.
    """
    check_path(path)
    if path in ("raw", SOURCES) or path.startswith(SOURCES + "/"):
        return path
    if path.split("/", 1)[0].casefold() in ("raw", "wiki"):
        raise SynapseError(ErrorCode.PATH_NOT_ALLOWED, NOT_ALLOWED)
    return check_path(f"{SOURCES}/{path}")


# --- names that may be written ---------------------------------------------------------------------

# Files that agents obey when they find them: a page of that name would be an instruction, not knowledge.
_AGENT_STEMS: Final = frozenset(
    {
        "agent",
        "agents",
        "agents.override",
        "claude",
        "claude.local",
        "codex",
        "copilot",
        "copilot-instructions",
        "crush",
        "cursor",
        "gemini",
        "jules",
        "qwen",
        "skill",
        "warp",
        "windsurf",
    }
)
_AGENT_SUFFIXES: Final = (".instructions.md", ".prompt.md", ".chatmode.md", ".agent.md")
_WINDOWS_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)
_WINDOWS_CHARACTERS: Final = re.compile(r'[<>:"|?*]')
_SHORT_NAME: Final = re.compile(r"~\d+(?:\.|$)")
_HANGUL_FILLERS: Final = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"


def _is_invisible(character: str) -> bool:
    """Bidi controls, zero-width characters, separators of lines and the like: a name that looks like another one."""
    return character in _HANGUL_FILLERS or unicodedata.category(character) in ("Cf", "Zl", "Zp")


def has_invisible(name: str) -> bool:
    """Whether a name holds a character that is not seen (or that another file system may drop)."""
    return not name.isascii() and any(_is_invisible(character) for character in name)


def _refuse_name(reason: str) -> SynapseError:
    return SynapseError(ErrorCode.PATH_NOT_ALLOWED, reason)


def check_writable_name(path: str, *, existing: bool = False) -> str:
    """``path`` unchanged, if a page may be written there; else ``path_not_allowed`` that names the rule.

    The answer depends on the name alone. ``existing``: the page is there already, so that its name need not
    work on other systems too.
    """
    check_path(path)
    segments = path.split("/")
    name = segments[-1].casefold()
    if not name.endswith(".md") or name == ".md":
        raise _refuse_name("Only Markdown pages can be written. Give a path that ends in `.md`.")
    if name[:-3].rstrip() in _AGENT_STEMS or name.endswith(_AGENT_SUFFIXES):
        raise _refuse_name("Files that agents take instructions from can't be written. Choose another name.")
    if is_conflict_name(segments[-1]):
        raise _refuse_name("This is the name of a conflict copy or an editor's temporary file. Choose another name.")
    if not existing:
        for segment in segments:
            _check_portable(segment)
    return path


def _check_portable(segment: str) -> None:
    stem = segment.split(".", 1)[0].rstrip(" ").casefold()
    if stem in _WINDOWS_DEVICES or _WINDOWS_CHARACTERS.search(segment):
        raise _refuse_name(
            "This name can't be synced to Windows. Leave out device names and the characters < > : \" | ? *"
        )
    if segment != segment.strip() or segment.endswith("."):
        raise _refuse_name("A name may not begin or end with a space, nor end with a dot.")
    if has_invisible(segment):
        raise _refuse_name("The name holds characters that can't be seen. Leave them out.")
    if _SHORT_NAME.search(segment):
        raise _refuse_name("The name looks like a short name of Windows (`NAME~1`). Choose another name.")


# --- what a path is --------------------------------------------------------------------------------

_CONFLICT: Final = re.compile(
    r"""
    \.sync-conflict-\d{8}-\d{6}                                       # Syncthing
    | \((?:[^()]*\s)?(?:conflicted\ copy|case\ conflict|sfconflict)\b[^()]*\)  # Dropbox, Obsidian Sync, Seafile
    | \(conflict\ on\ \d{4}                                           # Unison
    | [_.-]conflict-\d{8}-\d{6}                                       # ownCloud
    | ^~\$ | ^\#.*\#$ | ~$                                            # Office, Emacs, backups of many editors
    | \.(?:swp|swo|swx|tmp|temp|bak|orig|part|crdownload)$
    | \.tmp\.\d+(?:\.\w+)?$ | ___jb_(?:tmp|old)___$                   # editors that write beside the file
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_conflict_name(name: str) -> bool:
    """Whether a file name is that of a sync tool's conflict copy or of an editor's temporary file."""
    return _CONFLICT.search(name) is not None


def classify(path: str, exclude: Sequence[str] = ()) -> Kind | None:
    """What the file at a vault-relative path is to the index; None if it is left out (hidden or excluded).

    Source: design, "The vault". A conflict copy is one wherever it lies, so that it is neither page nor source.
    """
    if path.startswith(".") or "/." in path:
        return None
    excluded = compile_exclude(tuple(exclude))
    if excluded is not None and excluded(path):
        return None
    if is_conflict_name(path.rsplit("/", 1)[-1]):
        return "conflict"
    if path.startswith("raw/"):
        return "source" if path.startswith(SOURCES + "/") else "attachment"
    return "page" if path[-3:].lower() == ".md" else "attachment"


def is_reserved(path: str) -> bool:
    """Whether the path is one of the files with a meaning of their own (index, log, overview, schema, purpose).

    In any case, because on some file systems `wiki/Index.md` is the same file.
    """
    return path.casefold() in RESERVED


@lru_cache(maxsize=32)
def compile_exclude(patterns: tuple[str, ...]) -> Callable[[str], bool] | None:
    """A test of vault-relative paths against SYNAPSE_EXCLUDE; None when nothing is excluded.

    A pattern without `/` names a file or folder at any depth, one with `/` starts at the root. `*` and `?`
    stay within a name, `**` does not; what matches a folder leaves out all below it.
    """
    expressions = [expression for pattern in patterns if (expression := _expression(pattern))]
    if not expressions:
        return None
    matches = re.compile(f"(?:{'|'.join(expressions)})(?:/.*)?", re.DOTALL).fullmatch
    return lambda path: matches(path if path.isascii() else unicodedata.normalize("NFC", path)) is not None


def _expression(pattern: str) -> str:
    text = unicodedata.normalize("NFC", pattern.strip()).rstrip("/")
    anchored = "/" in text
    segments = [segment for segment in text.split("/") if segment not in ("", ".")]
    if not segments:
        return ""
    expression = "" if anchored else "(?:[^/]+/)*"
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment == "**":
            expression += ".+" if last else "(?:[^/]+/)*"
        else:
            expression += _segment_expression(segment) + ("" if last else "/")
    return expression


def _segment_expression(segment: str) -> str:
    wildcards = {"*": "[^/]*", "?": "[^/]"}
    return "".join(wildcards.get(character) or re.escape(character) for character in re.sub(r"\*+", "*", segment))
