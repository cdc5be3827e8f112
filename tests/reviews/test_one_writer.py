"""One writer: nobody but reviews/services changes an item's state, or makes items and events."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("vault", "wiki", "reviews", "mcpapi", "synapse")
WRITER = "reviews/services/"
MODELS = {"ReviewItem", "ReviewEvent"}
MAKING = {"create", "bulk_create", "get_or_create", "update_or_create", "acreate", "abulk_create"}
CHANGING = {"update", "bulk_update", "aupdate", "delete", "adelete", "save", "asave"}
#: Words of SQL that write, before the name of one of the tables.
TABLES = ("reviews_reviewitem", "reviews_reviewevent")


def modules() -> Iterator[Path]:
    """The modules of the rooms; migrations describe tables and change no rows."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if not path.startswith(WRITER) and "/migrations/" not in path:
                yield file


def knows_items(tree: ast.AST) -> bool:
    """Whether a module can get hold of an item at all: it imports something of the queue, or is part of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reviews"):
            return True
        if isinstance(node, ast.Import) and any(alias.name.startswith("reviews") for alias in node.names):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "reviewitem" in node.value.lower():
            return True  # get_model("reviews", "ReviewItem")
        if isinstance(node, ast.Attribute) and node.attr in ("reviews", "next", "events"):
            return True  # related names lead from a page, a file or an item
    return False


def violations(source: str) -> list[str]:
    """What a module does that only the writer may, each with its line."""
    tree = ast.parse(source)
    if not knows_items(tree):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part for target in targets for part in ast.walk(target)]
            if any(isinstance(part, ast.Attribute) and part.attr == "status" for part in names):
                found.append(f"{node.lineno}: assigns .status")
        elif isinstance(node, ast.Call):
            found += [f"{node.lineno}: {what}" for what in _calls(node)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.lower()
            if any(table in words for table in TABLES) and any(
                verb in words for verb in ("insert", "update", "delete")
            ):
                found.append(f"{node.lineno}: writes by SQL")
    return found


def _calls(node: ast.Call) -> Iterator[str]:
    function = node.func
    if isinstance(function, ast.Name):
        if function.id in MODELS:
            yield f"makes a {function.id}"
        if function.id == "setattr" and any(
            isinstance(one, ast.Constant) and one.value == "status" for one in node.args
        ):
            yield "assigns .status"
        if function.id in ("insert", "update") and _names(node) & MODELS:
            yield f"{function.id}s rows"
    if isinstance(function, ast.Attribute):
        if function.attr in ("update", "aupdate") and any(keyword.arg in ("status", None) for keyword in node.keywords):
            yield "updates the status"
        if function.attr in MODELS:
            yield f"makes a {function.attr}"
        if function.attr in ("insert", "update") and any(_names(one) & MODELS for one in node.args):
            yield f"{function.attr}s rows"
        if function.attr in MAKING | CHANGING and (_names(function) & MODELS or _related(function)):
            yield f"calls {function.attr}"


def _names(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


def _related(function: ast.Attribute) -> bool:
    """``item.events.create``, ``page.reviews.update``: the sets that lead to items and events."""
    inner = function.value
    while isinstance(inner, ast.Call | ast.Attribute):
        if isinstance(inner, ast.Attribute):
            if inner.attr in ("events", "reviews"):
                return True
            inner = inner.value
        else:
            inner = inner.func
    return False


def test_nobody_else_writes() -> None:
    looked_at = list(modules())
    found = {
        str(file.relative_to(ROOT)): wrong
        for file in looked_at
        if (wrong := violations(file.read_text(encoding="utf-8")))
    }
    assert found == {}
    assert len(looked_at) > 100


@pytest.mark.parametrize(
    "planted",
    [
        "item.status = 'skipped'",
        "item.status, other = 'skipped', 1",
        "item.status: str = 'skipped'",
        "setattr(item, 'status', 'skipped')",
        "ReviewItem.objects.filter(pk=1).update(status='skipped')",
        "ReviewItem.objects.filter(pk=1).update(**values)",
        "queryset.update(status='skipped', note='')",
        "ReviewItem.objects.filter(pk=1).update(note='')",
        "ReviewItem.objects.create(title='')",
        "ReviewItem.objects.bulk_create([])",
        "ReviewItem.objects.get_or_create(title='')",
        "ReviewItem.objects.all().delete()",
        "ReviewItem.objects.get(pk=1).delete()",
        "ReviewItem.objects.get(pk=1).save()",
        "ReviewItem(title='').save()",
        "models.ReviewItem(title='')",
        "ReviewEvent.objects.create(item=item)",
        "ReviewEvent(item=item)",
        "item.events.create(what='decided')",
        "item.events.all().delete()",
        "page.reviews.filter(pk=1).update(note='')",
        "insert(ReviewItem, names, rows)",
        "rows.update(ReviewItem, names, rows)",
        "cursor.execute(\"UPDATE reviews_reviewitem SET status = 'skipped'\")",
    ],
)
def test_a_violation_would_be_seen(planted: str) -> None:
    assert violations(f"from reviews.models import ReviewItem\ndef door(item):\n    {planted}\n")


@pytest.mark.parametrize(
    "fine",
    [
        "services.resolve(item_id=item.pk, action='skip', author=author)",
        "ReviewItem.objects.filter(status='pending').count()",
        "shown = item.status",
        "values.update(note='')",
        "run.save()",
    ],
)
def test_what_reads_is_fine(fine: str) -> None:
    assert violations(f"from reviews.models import ReviewItem\ndef door(item):\n    {fine}\n") == []


def test_the_writer_itself_is_what_the_scan_looks_for() -> None:
    wrong = [violations(file.read_text(encoding="utf-8")) for file in (ROOT / WRITER).glob("*.py")]
    assert sum(map(bool, wrong)) >= 3
