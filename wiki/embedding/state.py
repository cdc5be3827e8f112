"""What people and processes say to each other about embedding: pause it, go on, why it stands still."""

from __future__ import annotations

from wiki.models import EmbeddingState
from wiki.vectors.rows import STATE_PK, ensure_state

__all__ = ["is_paused", "note_problem", "pause", "resume"]


def pause() -> bool:
    """Have every process stop embedding after the passages in hand; True if that is new. Vectors go on being used."""
    ensure_state()
    return bool(EmbeddingState.objects.filter(pk=STATE_PK, paused=False).update(paused=True))


def resume() -> bool:
    """Let embedding go on; True if that is new."""
    paused = EmbeddingState.objects.filter(pk=STATE_PK, paused=True)
    return bool(paused.update(paused=False, last_error="", store_failed=False))


def is_paused() -> bool:
    """Whether somebody has paused it."""
    return EmbeddingState.objects.filter(pk=STATE_PK, paused=True).exists()


def note_problem(sentence: str, *, of_store: bool = False) -> None:
    """Keep why embedding stands still, for people; "" when it goes on. Writes only what is new.

    ``of_store``: it is the store of vectors that failed, and not the embedder.
    """
    if sentence:
        ensure_state()
    other = EmbeddingState.objects.filter(pk=STATE_PK).exclude(last_error=sentence, store_failed=of_store)
    if other.exists():  # a look first: an update that changes nothing takes the write lock all the same
        other.update(last_error=sentence, store_failed=of_store)
