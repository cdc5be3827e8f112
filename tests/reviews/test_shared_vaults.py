"""Three real vaults: every rule's findings, numbered in docs/reviews-findings.md, and what becomes of them."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reviews.models import ReviewEvent, ReviewItem, Status
from reviews.producers import PRODUCERS
from reviews.producers.runner import run, run_everything, sweep
from reviews.services import resolve
from tests.conftest import VaultFolder
from tests.reviews.queue import ALICE
from wiki.models import Page
from wiki.sync import scan

pytestmark = pytest.mark.django_db

VAULTS = ["kepano", "ekgardt-llmwiki", "quartz-docs"]
TABLE = Path(__file__).resolve().parent.parent.parent / "docs" / "reviews-findings.md"


@pytest.fixture(params=VAULTS)
def vault(request: pytest.FixtureRequest, shared: Path, vault_folder: VaultFolder) -> tuple[str, VaultFolder]:
    """A copy of a real vault, scanned and looked at; files that only its list of attachments names have a stand-in."""
    name: str = request.param
    shutil.rmtree(vault_folder.root / "raw")
    shutil.rmtree(vault_folder.root / "wiki")
    for file in sorted((shared / "vaults" / name).rglob("*")):
        if file.is_file():
            vault_folder.write(str(file.relative_to(shared / "vaults" / name)), file.read_bytes())
    for path in (shared / "vaults" / f"{name}.attachments.txt").read_text(encoding="utf-8").splitlines():
        if path:
            vault_folder.write(path, "x")
    scan()
    assert run()["failed"] == {}
    return name, vault_folder


def pinned(vault: str) -> dict[str, int]:
    """What the table of the document says of a vault."""
    rows = [
        re.findall(r"[^|]+", line) for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    cells = [[cell.strip(" `") for cell in row] for row in rows]
    head = next(row for row in cells if vault in row)
    rules = {producer.rule for producer in PRODUCERS}
    return {
        row[0]: int(row[head.index(vault)])
        for row in cells
        if row[0] in rules and len(row) == len(head) and row[1].isdigit()
    }


def pending() -> list[ReviewItem]:
    return list(ReviewItem.objects.filter(status=Status.PENDING).order_by("rule", "title"))


def everything() -> list[Any]:
    return [*ReviewItem.objects.order_by("pk").values(), *ReviewEvent.objects.order_by("pk").values()]


def test_the_table(vault: tuple[str, VaultFolder]) -> None:
    found = Counter(item.rule for item in pending())
    assert {producer.rule: found[producer.rule] for producer in PRODUCERS} == pinned(vault[0])


def test_no_link_that_leads_somewhere_is_reported_as_missing(vault: tuple[str, VaultFolder], shared: Path) -> None:
    """Embeds, code, bars in tables, footnotes, other cases and namesakes: none of them is a page that is missing."""
    notes = json.loads((shared / "vaults" / "expected" / f"{vault[0]}.json").read_text(encoding="utf-8"))["notes"]
    links = [link for note in notes.values() for link in (*note["links"], *note["property_links"])]
    leading = {link["target"].casefold() for link in links if link["to"]}
    asking = {link["target"].casefold() for link in links if not link["to"] and not link.get("embed")}
    missing = {item.proposed_title.casefold() for item in pending() if item.rule == "missing-page"}
    assert missing <= asking - leading
    assert not any(Page.objects.filter(title__iexact=title).exists() for title in missing)
    assert all("." not in title.rpartition(" ")[2] for title in missing), "files are not missing pages"


def test_what_is_asked_is_about_pages_that_say_something(vault: tuple[str, VaultFolder]) -> None:
    served = re.compile(r"(?:^|/)(?:_?templates?/|(?:readme|index|\d{4}-\d\d-\d\d)(?:\.[\w-]+)?\.md$)", re.IGNORECASE)
    assert [item.page_path for item in pending() if served.search(item.page_path)] == []


def test_looking_again_files_and_writes_nothing(vault: tuple[str, VaultFolder]) -> None:
    before = everything()
    scan(full=True)
    run(rescanned=True)
    run_everything()
    assert sweep() == 0
    assert everything() == before


def put_right(folder: VaultFolder, items: list[ReviewItem]) -> None:
    """Do what the items ask for, as a person with an editor would."""

    def append(path: str, text: str) -> None:
        folder.write(path, folder.read(path) + text.encode())

    home = ["All that nobody linked to.\n"]
    for item in items:
        if item.rule == "missing-page":
            folder.write(f"{item.proposed_title}.md", "It is there now.\n")
        elif item.rule == "orphan":
            home.append(f"[[{item.page_path[:-3]}]]\n")
        elif item.rule == "dead-end":
            append(item.page_path, "\n\nSee [[home]].\n")
        elif item.rule == "unlinked-mention":
            for place in item.referenced_pages:
                append(place["path"], f"\n\n[[{item.page_path[:-3]}]]\n")
        else:
            pytest.fail(f"nobody knows how to put {item.rule} right")
    folder.write("home.md", "".join(home))


def test_putting_the_vault_right_closes_what_is_put_right(vault: tuple[str, VaultFolder]) -> None:
    items = pending()
    assert items
    put_right(vault[1], items)
    scan()
    run()
    now = ReviewItem.objects.filter(pk__in=[item.pk for item in items])
    assert [item.title for item in now if item.status != Status.AUTO_RESOLVED] == []
    touched = {
        item.page_path or f"{item.proposed_title}.md" for item in items if item.rule in ("orphan", "missing-page")
    }
    new = [(item.rule, item.page_path) for item in pending() if item.rule != "unlinked-mention"]
    assert all(rule == "dead-end" and path in touched for rule, path in new), (
        "pages now linked may turn out to lead nowhere"
    )


def test_half_of_it_closes_half(vault: tuple[str, VaultFolder]) -> None:
    items = pending()
    put_right(vault[1], items[::2])
    scan()
    run()
    left = {item.pk for item in pending()}
    assert left.isdisjoint(item.pk for item in items[::2])
    assert left >= {item.pk for item in items[1::2] if item.rule in ("missing-page", "orphan")}


def test_what_was_dismissed_stays_so(vault: tuple[str, VaultFolder]) -> None:
    for item in pending():
        resolve(item_id=item.pk, action="dismiss", author=ALICE)
    for path in vault[1].files():
        if path.endswith(".md"):
            vault[1].write(path, vault[1].read(path) + b"\n")
    scan()
    run(rescanned=True)
    run_everything()
    assert pending() == []
