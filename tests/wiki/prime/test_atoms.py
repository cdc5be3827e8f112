"""The atoms of a vault: their ids, what their names mean, their texts and relations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import VaultFolder
from vault.errors import ErrorCode, SynapseError
from wiki.models import AtomRow, Page
from wiki.prime.atoms.levels import Level, tokens
from wiki.prime.atoms.reading import atoms, level_texts, relations
from wiki.search import texts
from wiki.sync import scan, sync_paths

pytestmark = pytest.mark.django_db


def ids() -> list[str]:
    return [atom.id for atom in atoms()]


def pk_of(path: str) -> int:
    return Page.objects.live().get(path=path).pk


class TestIds:
    def test_an_id_is_scope_kind_and_slug(self, vault_folder: VaultFolder, settings) -> None:  # type: ignore[no-untyped-def]
        vault_folder.write("wiki/concepts/Heat Pump.md", "A machine.")
        vault_folder.write("notes/机器 学习.md", "no type")
        vault_folder.write("notes/a.md", "---\ntype: entity\n---\nof a type")
        scan()
        assert ids() == ["@wiki/concept-heat-pump", "@wiki/entity-a", "@wiki/page-机器-学习"]
        settings.SYNAPSE_PRIME_SCOPE = "home"
        assert ids()[0] == "@home/concept-heat-pump"

    def test_namesakes_are_numbered_in_the_order_of_their_paths(self, vault_folder: VaultFolder) -> None:
        for path in ("c/x.md", "a/X.md", "b/x.md", "b/x-2.md", "wiki/entities/x.md"):
            vault_folder.write(path, "text")
        scan()
        by_path = {atom.path: atom.id for atom in atoms()}
        assert by_path == {
            "a/X.md": "@wiki/page-x",
            "b/x.md": "@wiki/page-x-3",
            "b/x-2.md": "@wiki/page-x-2",
            "c/x.md": "@wiki/page-x-4",
            "wiki/entities/x.md": "@wiki/entity-x",
        }
        (vault_folder.root / "a/X.md").unlink()
        sync_paths(["a/X.md"])
        assert {atom.path: atom.id for atom in atoms()}["b/x.md"] == "@wiki/page-x"

    def test_reserved_pages_have_no_atom(self, vault_folder: VaultFolder) -> None:
        for path in ("wiki/index.md", "wiki/log.md", "schema.md", "wiki/a.md"):
            vault_folder.write(path, "text")
        scan()
        assert [atom.path for atom in atoms()] == ["wiki/a.md"]
        assert AtomRow.objects.count() == 1


class TestNames:
    @pytest.fixture(autouse=True)
    def pages(self, vault_folder: VaultFolder) -> None:
        vault_folder.write(
            "wiki/entities/ada.md", "---\ntitle: Ada Lovelace\naliases: [Countess, ada]\n---\nShe wrote."
        )
        vault_folder.write("wiki/concepts/engine.md", "---\ntitle: Engine\n---\nA machine.")
        vault_folder.write("wiki/concepts/engine-two.md", "---\ntitle: engine\naliases: [Twin]\n---\nAnother.")
        vault_folder.write("notes/first.md", "---\ntitle: Same\n---\nOne.")
        vault_folder.write("notes/second.md", "---\ntitle: Same\n---\nTwo.")
        scan()

    @pytest.mark.parametrize(
        ("name", "path"),
        [
            ("@wiki/entity-ada", "wiki/entities/ada.md"),
            ("Ada Lovelace", "wiki/entities/ada.md"),
            ("ada lovelace", "wiki/entities/ada.md"),
            ("Countess", "wiki/entities/ada.md"),
            ("wiki/entities/ada.md", "wiki/entities/ada.md"),
            ("wiki/entities/ada", "wiki/entities/ada.md"),
            ("Engine", "wiki/concepts/engine.md"),
            ("engine", "wiki/concepts/engine-two.md"),
            ("twin", "wiki/concepts/engine-two.md"),
        ],
    )
    def test_a_name_of_any_form_is_found(self, name: str, path: str) -> None:
        assert atoms().find(name).path == path

    def test_several_pages_of_one_name_are_told_by_id(self) -> None:
        with pytest.raises(SynapseError) as raised:
            atoms().find("Same")
        assert raised.value.code is ErrorCode.AMBIGUOUS_TITLE
        assert raised.value.repair["ids"] == ["@wiki/page-first", "@wiki/page-second"]
        with pytest.raises(SynapseError):
            atoms().find("ENGINE")

    def test_an_unknown_name_is_answered_with_close_ids(self) -> None:
        with pytest.raises(SynapseError) as raised:
            atoms().find("@wiki/concept-engin")
        assert raised.value.code is ErrorCode.UNKNOWN_ATOM
        assert raised.value.repair["close"][:2] == ["@wiki/concept-engine", "@wiki/concept-engine-two"]
        with pytest.raises(SynapseError) as raised:
            atoms().find("x" * 100_000)
        assert len(raised.value.repair["close"]) <= 5


class TestKeptUp:
    def test_the_index_is_the_same_object_until_something_changes(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("wiki/a.md", "text")
        scan()
        before = atoms()
        assert atoms() is before
        scan()
        assert atoms() is before
        vault_folder.write("wiki/b.md", "---\ntags: [One, two]\naliases: [Bee]\n---\n[[a]]")
        scan()
        after = atoms()
        assert [atom.path for atom in after] == ["wiki/a.md", "wiki/b.md"]
        assert len(before) == 1
        assert after.find("a").degree == after.find("bee").degree == 1
        assert after.tags.keys() == {"one", "two"}

    def test_what_is_gone_is_gone_and_what_comes_back_is_back(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("wiki/a.md", "text")
        vault_folder.write("wiki/b.md", "[[a]]")
        scan()
        assert [atom.degree for atom in atoms()] == [1, 1]
        (vault_folder.root / "wiki/a.md").unlink()
        vault_folder.write("wiki/c.md", "in the same scan another comes")
        scan()
        assert [(atom.path, atom.degree) for atom in atoms()] == [("wiki/b.md", 0), ("wiki/c.md", 0)]
        vault_folder.write("wiki/a.md", "text")
        scan()
        assert [atom.path for atom in atoms()] == ["wiki/a.md", "wiki/b.md", "wiki/c.md"]
        assert [atom.degree for atom in atoms()] == [1, 1, 0]

    def test_a_move_changes_the_id_and_keeps_the_page(self, vault_folder: VaultFolder) -> None:
        vault_folder.write("notes/a.md", "a text that is long enough to be known again")
        scan()
        before = atoms().find("a")
        (vault_folder.root / "wiki/concepts").mkdir()
        (vault_folder.root / "notes/a.md").rename(vault_folder.root / "wiki/concepts/b.md")
        scan()
        after = atoms().atoms[0]
        assert (before.id, after.id) == ("@wiki/page-a", "@wiki/concept-b")
        assert before.pk == after.pk
        assert before.uid == after.uid


class TestTexts:
    def test_each_level_is_as_long_as_it_says(self, vault_folder: VaultFolder) -> None:
        text = "---\ntags: [x]\nnotes: [one, two]\n---\nLead.\n\n## One\n\nFirst.\n\nSecond.\n\n## Two\n\nThird 机器.\n"
        vault_folder.write("wiki/concepts/a.md", text)
        vault_folder.write("wiki/concepts/empty.md", "")
        scan()
        index = atoms()
        for number, level in enumerate(Level):
            texts = level_texts(index.pks.tolist(), level)
            assert texts.keys() == index.by_pk.keys()
            for atom in index:
                assert tokens(texts[atom.pk]) == atom.cost(level) == index.tokens[index.place(atom.pk), number]
        full = level_texts([pk_of("wiki/concepts/a.md"), -1], Level.FULL)
        assert len(full) == 1
        assert "Lead.\n\n## One\n\nFirst.\n\nSecond.\n\n## Two\n\nThird 机器." in full.popitem()[1]

    def test_a_page_written_while_its_full_text_is_read_is_read_again(
        self, vault_folder: VaultFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vault_folder.write("wiki/a.md", "Lead.\n\n## One\n\nFirst.\n\nSecond.")
        scan()
        pks = [pk_of("wiki/a.md")]

        def written_meanwhile(asked: list[int]) -> Iterator[tuple[int, str]]:
            if not vault_folder.read("wiki/a.md").startswith(b"New"):
                vault_folder.write("wiki/a.md", "New.\n\n## Two\n\nOther.\n\nMore.")
                sync_paths(["wiki/a.md"])
            return texts(asked)

        monkeypatch.setattr("wiki.prime.atoms.reading.texts", written_meanwhile)
        found = level_texts(pks, Level.FULL)
        assert found == {pks[0]: "# a [page]\n\nNew.\n\n## Two\n\nOther.\n\nMore."}


class TestRelations:
    def test_verbs_go_before_plain_links(self, vault_folder: VaultFolder) -> None:
        for name in "bcdefgh":
            vault_folder.write(f"wiki/{name}.md", "text")
        vault_folder.write("raw/sources/s.md", "a source")
        vault_folder.write("wiki/index.md", "reserved")
        vault_folder.write(
            "wiki/a.md",
            '---\nsources: [raw/sources/s.md, wiki/b.md, "[[c]]"]\nrequires: ["[[d]]", e, nowhere]\n'
            'relations:\n  conflicts: "[[f]]"\n---\n'
            "[[h]] [[g]] [[missing]] [[index]] [[s]] [[a]] [[d]]\n\nsee also:: [[g]]\n",
        )
        scan()
        found = relations([pk_of("wiki/a.md"), pk_of("wiki/b.md")])
        paths = {page.pk: page.path[5:-3] for page in Page.objects.all()}
        told = [(one.verb, paths.get(one.target), one.text) for one in found[pk_of("wiki/a.md")]]
        assert told == [
            ("requires", "d", "d"),
            ("requires", "e", "e"),
            ("requires", None, "nowhere"),
            ("conflicts", "f", "f"),
            ("derived-from", "c", "c"),
            ("derived-from", "b", "wiki/b.md"),
            ("see-also", "g", "g"),
            ("related", "h", "h"),
            ("related", None, "missing"),
        ]
        assert found[pk_of("wiki/b.md")] == []
