"""Make the words index anew from the vault's files: the repair for a table that is missing or damaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from django.db import connection, transaction

from vault.current import current_vault
from vault.errors import SynapseError
from vault.pages import parse_page
from vault.root import Vault
from wiki.models import Page
from wiki.search.rows import PageWords
from wiki.search.schema import create_words, drop_words
from wiki.search.words import index_words

_BATCH: Final = 100  # pages a transaction: a writer that waits for it waits about 50 ms


def rebuild_words(progress: Callable[[int, int], None] | None = None) -> int:
    """Drop the words index and fill it from all live pages' files; returns how many pages it holds.

    ``progress`` hears (done, total). A page whose file can't be read is left out until a scan reads it.
    Waits for a scan that is at work, and keeps others out. Raises ``conflict`` when that takes over five minutes.
    """
    vault = current_vault()
    with vault.lock("scan", timeout=300):
        with transaction.atomic():
            drop_words(connection)
            create_words(connection)
        pages = list(Page.objects.listed().order_by("pk").values_list("pk", "path"))
        rows = _rows(vault, pages)
        done = 0
        while batch := list(islice(rows, _BATCH)):
            with transaction.atomic():
                index_words(batch)
            done += len(batch)
            if progress:
                progress(done, len(pages))
    return done


def _rows(vault: Vault, pages: list[tuple[int, str]]) -> Iterator[PageWords]:
    for pk, path in pages:
        try:
            parsed = parse_page(path, vault.read(path).data)
        except SynapseError:
            continue
        yield PageWords(pk, parsed.title, parsed.body, parsed.lang, parsed.aliases, parsed.tags)
