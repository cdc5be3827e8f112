"""Embedding all that waits while somebody looks on, and making all vectors anew."""

from __future__ import annotations

from collections.abc import Callable

from vault.errors import ErrorCode, SynapseError
from wiki.embedding.pipeline import Outcome, embed_some
from wiki.embedding.progress import LOCK, Stopwatch
from wiki.embedding.reconcile import complete
from wiki.embedding.state import is_paused, note_problem
from wiki.embedding.waiting import waiting_pages
from wiki.exclusive import try_exclusive
from wiki.vectors.embedders import Embedder, batch_size, current_embedder, embedder_problem
from wiki.vectors.rows import forget_all
from wiki.vectors.stores import remote_store


def embed_all(*, told: Callable[[], None] | None = None) -> Outcome:
    """Embed what waits until nothing does, or somebody pauses it; ``told`` is called after each step.

    Raises ``dependency_missing`` without an embedder, ``conflict`` while it is paused, while another process embeds,
    or for vectors of another model.
    """
    embedder = _embedder()
    if is_paused():
        raise SynapseError(ErrorCode.CONFLICT, "Embedding is paused. `manage.py embedding resume` lets it go on.")
    total = Outcome()
    with try_exclusive(LOCK) as ours:
        if not ours:
            raise SynapseError(
                ErrorCode.CONFLICT,
                "Another process embeds what waits, such as `make serve`; "
                "`manage.py embedding status` shows how far it is.",
            )
        while not is_paused():
            watch = Stopwatch()
            done = embed_some(
                max(8, 4 * batch_size(embedder)),
                embedder=embedder,
                store=remote_store(),
                stop=is_paused,
                besides=total.failed,
            )
            watch.stop(done.chunks)
            if done == Outcome():
                break
            total.add(done)
            if told:
                told()
    note_problem(total.problem, of_store=total.store_failed)
    if not waiting_pages().exists():
        complete()
    return total


def begin_anew() -> None:
    """Forget all vectors, and have every page embedded with the embedder that the settings name now.

    A server that was started with other settings refuses to go on until it is started again. Raises
    ``dependency_missing`` without an embedder: then nothing is forgotten.
    """
    embedder = _embedder()
    forget_all(model_id=embedder.model_id, dim=embedder.dim)


def _embedder() -> Embedder:
    embedder = current_embedder()
    if embedder is None:
        raise SynapseError(ErrorCode.DEPENDENCY_MISSING, embedder_problem() or "There is no embedder.")
    return embedder
