"""What ``doctor`` says of the vectors that meaning is searched by."""

from __future__ import annotations

from typing import Any

import pytest

from synapse.diagnosis import Finding, Verdict, examine
from tests.conftest import VaultFolder
from tests.embedding import Hashed, hashed
from tests.indexed import indexed
from wiki.embedding.reembed import embed_all
from wiki.models import EmbeddingState
from wiki.vectors.embedders import forget_embedder

__all__ = ["hashed"]

pytestmark = pytest.mark.django_db


def meaning() -> Finding:
    [found] = [finding for finding in examine() if finding.name == "meaning"]
    return found


def test_off_is_a_note_that_names_the_setting(vault_folder: VaultFolder) -> None:
    found = meaning()
    assert found.verdict is Verdict.NOTE and "EMBEDDINGS_ENABLED=false" in found.text


def test_how_far_it_is(vault_folder: VaultFolder, hashed: Hashed) -> None:
    indexed("Bread", "Text.")
    found = meaning()
    assert found.verdict is Verdict.NOTE and "0 of 1 pages" in found.text and "make serve" in found.text
    embed_all()
    found = meaning()
    assert found.verdict is Verdict.OK and "1 of 1 pages" in found.text


def test_vectors_of_another_model_are_a_warning_with_the_command(vault_folder: VaultFolder, hashed: Hashed) -> None:
    indexed("Bread", "Text.")
    embed_all()
    EmbeddingState.objects.update(model_id="bge-m3", dim=1024)
    found = meaning()
    assert found.verdict is Verdict.WARNING and "manage.py reembed" in found.text


def test_an_embedder_that_cannot_be_had_is_a_warning(vault_folder: VaultFolder, settings: Any) -> None:
    settings.EMBEDDINGS_ENABLED, settings.EMBEDDER = True, "tests.no_such_module.load"
    forget_embedder()
    assert meaning().verdict is Verdict.WARNING
    forget_embedder()
