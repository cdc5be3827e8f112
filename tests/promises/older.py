"""A database as an older version of Synapse left it, in a process of its own: ``python -m tests.promises.older``.

``make <rows>`` indexes the vault by today's version, files reviews and keeps all rows as JSON in the file ``<rows>``.
``raise <rows> <number>`` makes a database with the first ``<number>`` migrations of our rooms, fills what tables and
columns there were with these rows, brings it up to date as a start does, and tells what it holds then.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core import serializers  # noqa: E402
from django.core.management.color import no_style  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.db.migrations.executor import MigrationExecutor  # noqa: E402

from reviews.models import ReviewItem  # noqa: E402
from reviews.services import Finding, file  # noqa: E402
from vault.history import Author  # noqa: E402
from wiki import jobs  # noqa: E402
from wiki.binding import vault_root  # noqa: E402
from wiki.embedding.pipeline import Outcome, embed_some  # noqa: E402
from wiki.models import Chunk, Page  # noqa: E402
from wiki.search import search  # noqa: E402
from wiki.services import page_move, write_page  # noqa: E402
from wiki.startup import ensure_tables  # noqa: E402
from wiki.sync import dump_index, scan  # noqa: E402
from wiki.vectors.embedders import current_embedder  # noqa: E402

ROOMS = ("wiki", "reviews", "mcpapi")
CLAUDE = Author("claude", "mcp-stdio")
COLUMNS = {
    "sqlite": "rowid, title, names, body, shadow",
    "postgresql": "page_id, title, names, body, tokens, vector::text",
}


def steps() -> list[tuple[str, str]]:
    """The migrations of our rooms, in the order in which an empty database gets them."""
    executor = MigrationExecutor(connection)
    return [key for key, _ in plan(executor) if key[0] in ROOMS]


def plan(executor: MigrationExecutor) -> list[tuple[tuple[str, str], Any]]:
    leaves = executor.loader.graph.leaf_nodes()
    found = executor.migration_plan(leaves, clean_start=True)
    return [((migration.app_label, migration.name), migration) for migration, _ in found]


def make(rows: Path) -> None:
    ensure_tables()
    scan()
    for number in range(8):
        given = {"type": "concept", "title": f"Zebra {number}", "sources": ["raw/sources/s1.txt"], "lang": "en"}
        text = f"A zebra, number {number}. See [[Zebra {(number + 1) % 8}]].\n"
        done = write_page(title=f"Zebra {number}", content=text, frontmatter=given, author=CLAUDE)
        if number % 2:
            page_move(page=done.page, path=f"wiki/concepts/striped {number}.md", author=CLAUDE)
    jobs.drain()
    scan()
    pages = Page.objects.filter(title__startswith="Zebra").order_by("title")
    findings = [
        Finding(item_type="suggestion", rule="agent", target=page.title, title=f"About {page.title}", page=page)
        for page in pages
    ]
    file(findings=findings, origin="agent", author=CLAUDE)
    embed()
    jobs.drain()
    kept = {
        model._meta.label_lower: json.loads(serializers.serialize("json", model._default_manager.all()))
        for model in models_of(django.apps.apps)
    }
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {COLUMNS[connection.vendor]} FROM wiki_words")
        words = cursor.fetchall()
    rows.write_text(json.dumps({"rows": kept, "words": words}))


def models_of(apps: Any) -> list[type[models.Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in ROOMS]


def embed() -> None:
    embedder = current_embedder()
    assert embedder is not None
    while embed_some(embedder=embedder) != Outcome():
        pass


def raise_from(rows: Path, number: int) -> bool:
    """Whether there were tables for reviews. Zero migrations are no database at all."""
    had_reviews = False
    name = str(settings.DATABASES["default"]["NAME"])
    if connection.vendor == "sqlite":
        Path(name).parent.mkdir(parents=True, exist_ok=True)
    if number:
        executor = MigrationExecutor(connection)
        reached = set(steps()[:number])
        targets = [key for key, _ in plan(executor) if key[0] not in ROOMS or key in reached]
        ours = [key for key in targets if key[0] in ROOMS]
        executor.migrate(ours)
        fill(json.loads(rows.read_text()), MigrationExecutor(connection).loader.project_state(ours).apps)
        had_reviews = any(app == "reviews" for app, _ in ours)
    ensure_tables()
    return had_reviews


def fill(kept: dict[str, Any], apps: Any) -> None:
    """Put the rows into the tables that there are, without the columns that there are not yet."""
    found = models_of(apps)
    with transaction.atomic(), connection.constraint_checks_disabled():
        for model in found:
            fields = {field.name: field for field in model._meta.concrete_fields}
            made = []
            for row in kept["rows"].get(model._meta.label_lower, []):
                values = {
                    fields[name].attname: value_of(fields[name], value)
                    for name, value in row["fields"].items()
                    if name in fields
                }
                if model._meta.model_name == "vaultstate":
                    values["root"] = vault_root()
                made.append(model(pk=row["pk"], **values))
            model._default_manager.bulk_create(made)
        if "wiki_words" in connection.introspection.table_names():
            places = ", ".join(["%s"] * (len(kept["words"][0]) - 1))
            last = "%s::tsvector" if connection.vendor == "postgresql" else "%s"
            columns = COLUMNS[connection.vendor].replace("::text", "")
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO wiki_words ({columns}) VALUES ({places}, {last})", kept["words"])
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), found):
                cursor.execute(statement)


def value_of(field: models.Field[Any, Any], value: Any) -> Any:
    if value is not None and isinstance(field, models.BinaryField):
        return base64.b64decode(value)
    return value if isinstance(field, models.ForeignKey) else field.to_python(value)


def told() -> dict[str, Any]:
    """What the database holds once a start has brought it up to date."""
    report = scan()
    jobs.drain()
    embed()
    about = ReviewItem.objects.filter(rule="agent").order_by("target").values_list("target", "page__uid", "page__path")
    vectors = Chunk.objects.order_by("page__path", "ordinal").values_list("page__path", "ordinal", "hash")
    hits = search("zebra", k=20).hits
    return {
        "index": list(dump_index()),
        "vectors": [list(row) for row in vectors],
        "found": sorted(hit.page.path for hit in hits),
        "reviews": [[target, str(uid), path] for target, uid, path in about],
        "added": report.added,
        "second": scan().differences,
    }


if __name__ == "__main__":
    action, rows = sys.argv[1], Path(sys.argv[2])
    if action == "make":
        make(rows)
        had = True
    else:
        had = raise_from(rows, int(sys.argv[3]))
    print(json.dumps({**told(), "had_reviews": had}))
