"""How the code differs from what was published: the contract in its file, and docs/mcp.md."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Final

from mcpapi.contract import as_text, build_contract
from mcpapi.contract_changes import Change, Kind, changes
from mcpapi.contract_files import CONTRACT_VERSION, contract_name, contract_path, read_contract
from mcpapi.document import document, document_path

_WRITE: Final = (
    "If that is meant, run `manage.py mcp_contract` and `manage.py mcp_contract --docs`, and commit what they write."
)
_NEW_VERSION: Final = (
    "A call that worked would break. Keep the old name or parameter (mcpapi/aliases.py), or raise CONTRACT_VERSION in "
    "mcpapi/contract.py: the new file is published beside the old one."
)


@dataclass(frozen=True, slots=True)
class Drift:
    """What differs: ``changes`` of the contract, ``problems`` of files, and ``difference`` as lines of a diff."""

    changes: list[Change] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    difference: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Nothing differs."""
        return not (self.changes or self.problems)

    @property
    def breaking(self) -> bool:
        """Something differs that breaks callers."""
        return any(change.kind is Kind.BREAKING for change in self.changes)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return _NEW_VERSION if self.breaking else _WRITE


def drift() -> Drift:
    """Compare the code with its version's file and with docs/mcp.md, and see that earlier versions are still there."""
    problems = [
        f"contract/{contract_path(version).name} is gone: a version that was published stays."
        for version in range(1, CONTRACT_VERSION)
        if not contract_path(version).is_file()
    ]
    try:
        published = read_contract()
    except ValueError:
        return Drift(problems=[*problems, f"contract/{contract_name()}.json is not JSON."])
    made = build_contract()
    found: list[Change] = []
    difference: list[str] = []
    if published is None:
        problems.append(f"contract/{contract_name()}.json is not there.")
    else:
        before, after = contract_path().read_text(encoding="utf-8"), as_text(made)
        if before != after:
            difference = _diff(before, after)
            try:
                found = changes(published, made)
            except (KeyError, TypeError, AttributeError):
                problems.append(f"contract/{contract_name()}.json is no contract.")
            else:
                edited = f"contract/{contract_name()}.json is not as it is written: somebody edited it."
                problems += [] if found else [edited]
    if _document() != document():
        problems.append("docs/mcp.md tells of other tools.")
    return Drift(found, problems, difference)


def _diff(before: str, after: str) -> list[str]:
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), "published", "code", n=1, lineterm=""))


def _document() -> str | None:
    try:
        return document_path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
