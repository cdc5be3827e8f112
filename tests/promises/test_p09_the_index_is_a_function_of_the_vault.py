"""P9: the index follows from the vault and its .synapse alone: made anew it is the same, ids and vectors included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scan import own_place, run
from benchmarks.vault import Shape, make_vault
from tests.conftest import VaultFolder
from tests.promises.figures import Measured, figure
from tests.wiki.conftest import Writer, alice, claude
from tests.wiki.index import rebuilt_index, whole_index
from tests.wiki.person import FOLDERS, NAMES, Person, keep_up_with
from vault.errors import ErrorCode, SynapseError
from wiki.models import Page
from wiki.services import page_delete, page_history, page_move, page_restore, page_retitle, put_page

__all__ = ["alice", "claude"]

SEEDS = figure(2, 20)
OPERATIONS = figure(120, 2_000)
PAGES = figure(40, 400)
#: What a service may answer to somebody who does not know what happened on the disk a moment ago.
REFUSALS = {
    ErrorCode.AMBIGUOUS_TITLE,
    ErrorCode.BASE_REQUIRED,
    ErrorCode.CONFLICT,
    ErrorCode.INVALID_FRONTMATTER,
    ErrorCode.NOT_FOUND,
    ErrorCode.PAGE_NOT_FOUND,
    ErrorCode.PATH_NOT_ALLOWED,
    ErrorCode.STALE_BASE,
}
TEXTS = [
    "With [[Ada]] and [[Engine no. 2|it]].\n",
    "![[Notes]] [x](<babbage.md>) #t1\n",
    "Überblick [[机器]] [[nobody]]\n",
    "## Part\n[[#Part]]\n",
]


class Everyone(Person):
    """A person with an editor, and an agent and another person who write through Synapse, on the same files."""

    def __init__(self, folder: VaultFolder, seed: int, claude: Writer, alice: Writer) -> None:
        super().__init__(folder, seed)
        self.claude, self.alice = claude, alice
        self.done: Counter[str] = Counter()

    def act(self) -> set[str]:
        if self.chance.random() < 0.8:
            return super().act()
        operations: list[Callable[[], Any]] = [
            self.write,
            self.put,
            self.page_move,
            self.retitle,
            self.remove,
            self.undo,
        ]
        operation = self.chance.choice(operations)
        try:
            if operation() is not None:
                self.done[operation.__name__] += 1
        except SynapseError as error:
            assert error.code in REFUSALS, error.message
            self.done["refused"] += 1
        return set()

    def _page(self, *, live: bool = True) -> Page | None:
        pages = Page.objects.live() if live else Page.objects.all()
        found = list(pages.order_by("path", "pk"))
        return self.chance.choice(found) if found else None

    def write(self) -> object:
        return self.claude.write(
            self.chance.choice(NAMES) + self.chance.choice(["", " titled", " written"]),
            self.chance.choice(TEXTS),
            type=self.chance.choice(["entity", "concept"]),
            sources=(f"s{self.chance.randrange(3)}",),
        )

    def put(self) -> object:
        page = self._page()
        return page and self.alice.do(put_page, page=page, text=self._text(), base_hash=page.content_hash)

    def page_move(self) -> object:
        page = self._page()
        folder = self.chance.choice([name for name in FOLDERS if not name.startswith("raw")])
        path = f"{folder}/{self.chance.choice(NAMES)} moved.md".lstrip("/")
        return page and self.alice.do(page_move, page=page, path=path)

    def retitle(self) -> object:
        page, title = self._page(), f"{self.chance.choice(NAMES)} retitled {self.chance.randrange(9)}"
        rename = self.chance.random() < 0.5
        return page and self.alice.do(page_retitle, page=page, title=title, rename=rename, base_hash=page.content_hash)

    def remove(self) -> object:
        page = self._page()
        return page and self.alice.do(page_delete, page=page, base_hash=page.content_hash)

    def undo(self) -> object:
        """Any version of any page, also of one that is gone."""
        page = self._page(live=False)
        versions = page_history(page) if page else []
        if page is None or not versions:
            return None
        version = self.chance.choice(versions)
        return self.alice.do(
            page_restore,
            page=page,
            version=version["number"],
            displaced=self.chance.random() < 0.5,
            base_hash=page.content_hash,
        )


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(SEEDS))
def test_kept_up_to_date_it_equals_one_made_anew(
    vault_folder: VaultFolder, claude: Writer, alice: Writer, measured: Measured, seed: int
) -> None:
    everyone = Everyone(vault_folder, seed, claude, alice)
    keep_up_with(everyone, OPERATIONS)
    assert Page.objects.live().count() > 10
    assert everyone.done.total() - everyone.done["refused"] > OPERATIONS // 20
    kept = whole_index()
    assert differences(kept, rebuilt_index()) == []
    measured("P9", f"{OPERATIONS:,} random operations, outside and by services: rebuilt = incremental, ids included")


def differences(kept: list[dict[str, Any]], made: list[dict[str, Any]]) -> list[object]:
    """Where two dumps differ: what a row says of each thing that it tells otherwise, kept and made anew."""
    found: list[object] = [row for row in kept if row not in made] + [row for row in made if row not in kept]
    by_path = {row["page"]: row for row in made if "id" in row}
    for row in kept:
        other = by_path.get(row.get("page", ""))
        if other and other != row:
            found.insert(0, {name: (row[name], other[name]) for name in row if row[name] != other[name]})
    return found


PROGRAM = """
import django; django.setup()
import hashlib, json, random
from pathlib import Path
from django.conf import settings
from wiki.embedding.pipeline import Outcome, embed_some
from wiki.models import Chunk
from wiki.startup import ensure_tables
from wiki.sync import dump_index, scan
from wiki.vectors.embedders import current_embedder
ensure_tables()
scan()
if {change}:
    chance = random.Random(9)
    files = sorted(Path(settings.SYNAPSE_VAULT).glob("*/**/*.md"))
    for number, file in enumerate(chance.sample(files, len(files) // 4)):
        file.rename(file.with_name(f"moved {{number}}.md"))
    scan()
    for number, file in enumerate(chance.sample(files, len(files) // 8)):
        file.write_text(f"A new one where another was or is, {{number}}.", encoding="utf-8")
    scan()
while embed_some(embedder=current_embedder()) != Outcome():
    pass
fields = ("page__path", "page__uid", "ordinal", "start", "end", "heading", "hash", "model_id", "vector")
rows = Chunk.objects.order_by("page__path", "ordinal").values_list(*fields)
vectors = [[*map(str, row[:-1]), hashlib.sha256(bytes(row[-1])).hexdigest()] for row in rows]
print(json.dumps({{"index": list(dump_index()), "vectors": sorted(vectors)}}))
"""


def test_database_and_vectors_may_be_lost(measured: Measured) -> None:
    """All that lies outside of the vault is lost; the new database is a built-in one, whatever the first was."""
    with own_place() as environment:
        environment |= {"EMBEDDINGS_ENABLED": "true", "EMBEDDER": "tests.embedding.load"}
        make_vault(Path(environment["SYNAPSE_VAULT"]), PAGES, shape=Shape(words=(20, 60)))
        run(environment, "manage.py", "init_vault")
        kept = run(environment, "-c", PROGRAM.format(change=True)).answer
        anew = environment | {"SYNAPSE_DATA": environment["SYNAPSE_DATA"] + "-anew"}
        anew.pop("DATABASE_URL", None)
        made = run(anew, "-c", PROGRAM.format(change=False)).answer
    pages = sum("page" in row for row in kept["index"])
    assert pages > PAGES
    assert len({path for path, *_ in kept["vectors"]}) > pages // 2
    assert made == kept
    measured("P9", f"database and vectors of {pages:,} pages lost: dump and {len(kept['vectors']):,} vectors equal")
