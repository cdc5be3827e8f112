"""What a visitor of the front page should know first: each notice says how it stands and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings

from vault.current import current_vault
from vault.paths import classify
from vault.root import WalkEntry
from wiki.embedding.progress import in_words
from wiki.sync import scan_problem

_MANAGE: Final = ".venv/bin/python manage.py"
_MENDS: Final = {"failed": f"{_MANAGE} embedding run", "paused": f"{_MANAGE} embedding resume"}


@dataclass(frozen=True, slots=True)
class Notice:
    """``tone``: bad (nothing works until it is mended), warn, note or good. ``command`` is to be typed as it stands."""

    tone: str
    title: str
    text: str
    command: str = ""


def trouble() -> Notice | None:
    """Why the vault can't be looked at; None if it can."""
    problem = scan_problem(current_vault())
    if problem is None:
        return None
    return Notice("bad", "The vault can't be read", problem, f"{_MANAGE} doctor")


def notices(status: dict[str, Any], *, waiting: int) -> list[Notice]:
    """What is to be said of the vault as :func:`wiki.services.status` has it, with ``waiting`` decisions."""
    return [*_of_scans(status), *_of_queue(status, waiting), *_of_settings(status)]


def _of_scans(status: dict[str, Any]) -> Iterator[Notice]:
    stopped = status["last_scan"].get("stopped")
    if status["scan_running"]:
        yield Notice("note", "A scan is at work", "What is shown here may lack what it has not reached yet.")
    elif stopped:
        yield Notice("warn", "The last scan stopped", str(stopped), f"{_MANAGE} rescan")
    elif not status["data_version"] and _has_pages():
        text = "There are notes in the vault, and nobody has looked at them yet. A scan changes none of them."
        yield Notice("warn", "There is no index yet", text, f"{_MANAGE} rescan")
    elif not _listed(status):
        yield Notice(
            "note",
            "There is no page yet",
            "Put a source into raw/sources and ask your agent to read it in, or write a note in Obsidian: "
            "it is here a moment later. An agent of another program needs a token:",
            f"{_MANAGE} token create laptop --scope read",
        )


def _of_queue(status: dict[str, Any], waiting: int) -> Iterator[Notice]:
    if not waiting and _listed(status):
        yield Notice(
            "good",
            "Nothing waits for a decision",
            "The queue fills by itself as pages and sources change. To have the whole vault looked at once more:",
            f"{_MANAGE} reviews sweep",
        )


def _of_settings(status: dict[str, Any]) -> Iterator[Notice]:
    if settings.SYNAPSE_READ_ONLY:
        yield Notice("note", "Read only", "SYNAPSE_READ_ONLY is set: pages can be read here, and not changed.")
    command = _MENDS.get(status["embedding"]["state"])
    if command:
        yield Notice("warn", "Vectors wait", f"{in_words(status['embedding'])}. Words find all pages.", command)


def _listed(status: dict[str, Any]) -> int:
    """Pages beside those that Synapse keeps itself or agents are told by."""
    return int(status["embedding"]["pages"])


def _has_pages() -> bool:
    """Whether there is anything to be indexed; the walk ends at the first that is found."""
    vault = current_vault()
    entries = (entry for entry in vault.walk() if isinstance(entry, WalkEntry))
    return any(classify(entry.path, vault.exclude) == "page" for entry in entries)
