"""From files to index: scans of the whole vault, of single paths, and of single pages for services."""

from wiki.sync.dump import dump_index
from wiki.sync.export import export_links
from wiki.sync.pages import index_page, rename_page, unindex_page
from wiki.sync.report import ScanReport
from wiki.sync.run import root_problem, scan, scan_lock, scan_problem, sync_paths
from wiki.sync.watching import WatchThread, watch_vault

__all__ = [
    "ScanReport",
    "WatchThread",
    "dump_index",
    "export_links",
    "index_page",
    "rename_page",
    "root_problem",
    "scan",
    "scan_lock",
    "scan_problem",
    "sync_paths",
    "unindex_page",
    "watch_vault",
]
