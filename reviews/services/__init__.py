"""The one writer of review items, as keyword-only functions, and the reads of them."""

from __future__ import annotations

from reviews.services.bulk import BulkOutcome, bulk
from reviews.services.deciding import Resolved, close, resolve
from reviews.services.filing import file, reopen
from reviews.services.findings import Filed, Finding, Outcome
from reviews.services.forgetting import forget_all
from reviews.services.moving import Imported, export_lines, import_lines
from reviews.services.producer_state import held_back
from reviews.services.proposals import parse_items, propose
from reviews.services.reading import get_item, item_as_dict, item_detail, list_items
from reviews.services.research import claim_run, complete_run, fail_run, list_runs, open_run
from reviews.services.staging import stage_write

__all__ = [
    "BulkOutcome",
    "Filed",
    "Finding",
    "Imported",
    "Outcome",
    "Resolved",
    "bulk",
    "claim_run",
    "close",
    "complete_run",
    "export_lines",
    "fail_run",
    "file",
    "forget_all",
    "get_item",
    "held_back",
    "import_lines",
    "item_as_dict",
    "item_detail",
    "list_items",
    "list_runs",
    "open_run",
    "parse_items",
    "propose",
    "reopen",
    "resolve",
    "stage_write",
]
