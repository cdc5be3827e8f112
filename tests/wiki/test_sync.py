"""A scan brings the index up to date with the files, and does no more than that."""

from __future__ import annotations

import pytest

from tests.conftest import VaultFolder
from wiki.models import Edge, Link
from wiki.sync import scan

pytestmark = pytest.mark.django_db


def test_it_works(vault_folder: VaultFolder) -> None:
    vault_folder.write("wiki/entities/ada.md", "---\ntitle: Ada\ntype: entity\naliases: [Lady]\n---\nSee [[babbage]].")
    vault_folder.write("wiki/entities/babbage.md", "Back to [[Ada|her]], [[Lady]], [[nobody]] and ![[machine.png]]")
    vault_folder.write("raw/sources/machine.png", b"\x89PNG")
    report = scan()
    assert report.as_dict() | {"seconds": 0} == {
        "pages": 2, "files": 1, "links": 5, "broken": 1, "added": 2, "changed": 0, "moved": 0, "deleted": 0,
        "files_changed": 1, "flagged": [], "flagged_total": 0, "skipped": [], "skipped_total": 0, "seconds": 0,
        "stopped": None, "running": False, "dry_run": False, "data_version": 1,
    }  # fmt: skip
    states = list(Link.objects.filter(source__title="babbage").values_list("text", "state", "target_path"))
    assert states == [
        ("Ada", "resolved", "wiki/entities/ada.md"),
        ("Lady", "by_alias", "wiki/entities/ada.md"),
        ("nobody", "broken", None),
        ("machine.png", "resolved", "raw/sources/machine.png"),
    ]
    edge = Edge.objects.get()
    assert (edge.links, edge.weight) == (3, 3 * 2 + 0.8)
