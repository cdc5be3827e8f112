"""What producers find in a vault that a test writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reviews.producers import Preparing, Producer
from reviews.services import Finding
from tests.conftest import VaultFolder
from wiki import changes
from wiki.changes import Changed
from wiki.sync import scan


def found(producer: Producer, folder: VaultFolder, files: Mapping[str, str | bytes]) -> list[Finding]:
    """Write these files, scan, and let a producer look at everything."""
    for path, text in files.items():
        folder.write(path, text)
    scan(allow_deletions=True)
    return looked(producer)


def looked(producer: Producer) -> list[Finding]:
    """What a producer finds among everything."""
    if isinstance(producer, Preparing):
        producer.prepare(Changed(everything=True))
    return list(producer.find(None))


def about(findings: Iterable[Finding]) -> list[str]:
    """The paths of the pages or files that findings are about, in the order of the findings."""
    return [finding.page.path if finding.page else finding.file.path if finding.file else "" for finding in findings]


def places(finding: Finding) -> list[str]:
    """The paths of the pages that a finding refers to."""
    return [page.path for page in finding.references]


class Followed:
    """What a producer has found, kept up to date by looking at what changed alone, as the queue does."""

    def __init__(self, producer: Producer) -> None:
        self.producer = producer
        self.known: dict[tuple[str, int | None], Finding] = {}

    def follow(self, changed: Changed) -> None:
        """Look at what changed."""
        if isinstance(self.producer, Preparing):
            self.producer.prepare(changed)
        targets: set[str] | None = None
        if not changed.everything:
            targets = self.producer.targets(changed) | self._resting_on(changed)
            self.known = {question: finding for question, finding in self.known.items() if question[0] not in targets}
        else:
            self.known = {}
        for finding in self.producer.find(targets):
            assert targets is None or finding.target in targets, "an answer to a question that was not asked"
            self.known[question(finding)] = finding

    def _resting_on(self, changed: Changed) -> set[str]:
        found = set()
        for finding in self.known.values():
            pages = {*finding.rests_on, *(page.pk for page in finding.references)}
            if finding.page:
                pages.add(finding.page.pk)
            if pages & changed.pages or (finding.file and finding.file.pk in changed.files):
                found.add(finding.target)
        return found

    def said(self) -> dict[Any, Any]:
        """All that is known, as it is compared."""
        return said(self.known.values())


def question(finding: Finding) -> tuple[str, int | None]:
    return finding.target, finding.page.pk if finding.page else None


def said(findings: Iterable[Finding]) -> dict[Any, Any]:
    """Findings as they are compared."""
    return {
        question(finding): (
            finding.title,
            finding.rationale,
            finding.rank,
            [page.path for page in finding.references],
            sorted(finding.evidence),
            sorted(finding.rests_on),
        )
        for finding in findings
    }


def take() -> Changed:
    """What changed since it was asked last."""
    changed = changes.take()
    changes.done(changed.upto)
    return changed
