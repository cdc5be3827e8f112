"""What a scan did, for people and programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Final

#: Entries of ``flagged`` and ``skipped`` that a report carries to the outside; the totals are always whole.
MAX_LISTED: Final = 200


@dataclass(slots=True)
class ScanReport:
    """The outcome of one scan.

    ``pages``, ``files``, ``links`` and ``broken`` are totals of the index after it; ``added``, ``changed``,
    ``moved`` and ``deleted`` count pages, ``files_changed`` all other files that came, changed or went. ``flagged``
    are pages looked at that have something wrong ({path, code, reason}); ``skipped`` is what was not taken, in the
    same shape. ``stopped`` says in a sentence why nothing was done, and what to do. ``running``: another scan was
    at work, so this one did nothing.
    """

    pages: int = 0
    files: int = 0
    links: int = 0
    broken: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    files_changed: int = 0
    flagged: list[dict[str, str]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    stopped: str | None = None
    running: bool = False
    dry_run: bool = False
    data_version: int = 0

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable, with long lists cut and their lengths given."""
        found = asdict(self)
        for name in ("flagged", "skipped"):
            found[f"{name}_total"] = len(found[name])
            found[name] = found[name][:MAX_LISTED]
        found["seconds"] = round(self.seconds, 3)
        return found

    def summary(self) -> str:
        """One line: ``173 pages, 1,807 links, 4 broken, 0.9 s``."""
        pages = f"{self.pages:,} {'page' if self.pages == 1 else 'pages'}"
        links = f"{self.links:,} {'link' if self.links == 1 else 'links'}"
        return f"{pages}, {links}, {self.broken:,} broken, {self.seconds:.1f} s"

    @property
    def differences(self) -> int:
        """How many pages and files differed from the index."""
        return self.added + self.changed + self.moved + self.deleted + self.files_changed
