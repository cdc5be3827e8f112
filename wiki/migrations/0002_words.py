from django.db import migrations

from wiki.search.schema import create_words, drop_words


def create(apps, schema_editor):
    create_words(schema_editor.connection)
    # The words of an index that was made before are in its files: the next scan reads them again.
    apps.get_model("wiki", "Page").objects.update(read_ns=0)


def drop(apps, schema_editor):
    drop_words(schema_editor.connection)


class Migration(migrations.Migration):
    """The full-text table: FTS5 on SQLite, a tsvector with its index on PostgreSQL."""

    dependencies = [("wiki", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
