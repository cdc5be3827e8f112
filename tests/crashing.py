"""Each change that the services make, killed at each step, or met by a fault at each step, with its database.

Run as ``python -m tests.crashing kill|fault NUMBER CHANGE …`` where the environment names a vault and a database with
tables; prints one JSON document: of each change how many steps it has, how often it was tried (at most NUMBER times,
spread over the steps), and what was wrong.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import random
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import django

from tests.faults import SECRET, Kernel, database_counted, faults_of

END = "\n<!-- the end -->\n"
GIVEN = {"type": "concept", "sources": ["raw/sources/a.md"], "lang": "en"}
#: Made by code, and made again by it.
GENERATED = ("wiki/index.md", "wiki/log.md")


def body(number: int, links: str = "") -> str:
    return f"Text {number}, about {links or 'nothing'}.\n" * 30 + END


def author() -> Any:
    from vault.history import Author

    return Author("claude", "mcp-stdio")


def person() -> Any:
    from vault.history import Author

    return Author("user:alice", "rest")


def write(title: str, number: int, links: str = "", **options: Any) -> Any:
    from wiki.services import write_page

    given = {**GIVEN, "title": title}
    return write_page(title=title, content=body(number, links), frontmatter=given, author=author(), **options)


def page(title: str, number: int = 0) -> Any:
    """The live page of a title; made if there is none."""
    from wiki.models import Page

    found = Page.objects.live().filter(title=title).first()
    if found is None:
        write(title, number)
        found = Page.objects.live().get(title=title)
    return found


def standing(title: str) -> str:
    """The hash of a page's file."""
    from vault.current import current_vault

    return current_vault().read(page(title).path).content_hash


# --- the changes: each is prepared, and returns what is to be killed ---


def change_write(number: int) -> Callable[[], Any]:
    base = standing("Target")
    return lambda: write("Target", number, "[[Other]]", base_hash=base)


def change_create(number: int) -> Callable[[], Any]:
    return lambda: write(f"New {number}", number, "[[Target]]")


def change_edit(number: int) -> Callable[[], Any]:
    from wiki.services import put_page

    edited, base = page("Target"), standing("Target")
    text = f"---\ntitle: Target\ntype: concept\nlang: en\nsources: [a]\n---\n{body(number)}"
    return lambda: put_page(page=edited, text=text, base_hash=base, author=person())


def change_delete(number: int) -> Callable[[], Any]:
    from wiki.services import page_delete

    doomed, base = page("Doomed", number), standing("Doomed")
    return lambda: page_delete(page=doomed, base_hash=base, author=author())


def change_move(number: int) -> Callable[[], Any]:
    from wiki.services import page_move

    moving = page("Moving")
    path = f"wiki/moved/place-{number}.md"
    return lambda: page_move(page=moving, path=path, author=author())


def change_retitle(number: int) -> Callable[[], Any]:
    from wiki.models import Page
    from wiki.services import page_retitle

    named = Page.objects.live().filter(title__startswith="Named ").first() or page("Named 0")
    for title in ("Linking one", "Linking two"):
        write(title, number, f"[[{named.title}]]", base_hash=standing(title))
    base = standing(named.title)
    return lambda: page_retitle(page=named, title=f"Named {number}", rename=True, base_hash=base, author=author())


def change_restore(number: int) -> Callable[[], Any]:
    from wiki.services import page_restore

    write("Target", number, base_hash=standing("Target"))
    restored, base = page("Target"), standing("Target")
    return lambda: page_restore(page=restored, version=1, base_hash=base, author=person())


def change_bring_back(number: int) -> Callable[[], Any]:
    from wiki.models import Page
    from wiki.services import page_delete, page_history, page_restore

    gone = page("Gone", number)
    page_delete(page=gone, base_hash=standing("Gone"), author=author())
    gone = Page.objects.get(uid=gone.uid)
    version = page_history(gone)[0]["number"]
    return lambda: page_restore(page=gone, version=version, author=person())


def change_draft(number: int) -> Callable[[], Any]:
    from vault import drafts
    from vault.current import current_vault
    from wiki.services import draft_apply

    base = standing("Target")
    text = f"---\ntitle: Target\ntype: concept\nlang: en\nsources: [a]\n---\n{body(number)}"
    path = page("Target").path
    kept = drafts.keep(
        current_vault(), path=path, data=text.encode(), author=author(), reason="stale_base", base_hash=base
    )
    return lambda: draft_apply(draft_id=kept, author=person())


def change_review(number: int) -> Callable[[], Any]:
    from reviews.services import resolve
    from reviews.services.staging import stage_write

    title = f"New staged {number}"
    item = stage_write(title=title, content=body(number), frontmatter={**GIVEN, "title": title}, author=author())
    return lambda: resolve(item_id=str(item.pk), action="create", author=person())


def change_catalog(number: int) -> Callable[[], Any]:
    from wiki.services.catalog import write_index

    write(f"New listed {number}", number)
    return write_index


CHANGES = {name.removeprefix("change_"): made for name, made in list(globals().items()) if name.startswith("change_")}


# --- what is done with each ---


def in_child(work: Callable[[], Any]) -> Any:
    """What ``work`` returns in a process of its own, None if it was killed there."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            answer = pickle.dumps((True, work()))
        except BaseException:  # noqa: BLE001  the parent must hear of it, and the child end
            answer = pickle.dumps((False, traceback.format_exc()))
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return None
    fine, answer = pickle.loads(sent)
    assert fine, answer
    return answer


@contextmanager
def counted() -> Iterator[Kernel]:
    """A kernel that counts the calls on the vault and what is asked of the database."""
    import pytest

    kernel = Kernel()
    with pytest.MonkeyPatch.context() as monkeypatch:
        kernel.install(monkeypatch, sync=False)
        with database_counted(kernel):
            yield kernel


def count(change: str, number: int) -> list[Any]:
    work = CHANGES[change](number)
    with counted() as kernel, kernel.watching():
        work()
    calls: list[Any] = kernel.calls
    return calls


def texts() -> set[str]:
    """The sha256 of every text in the vault but those that code makes again: pages, drafts, history."""
    root = Path(os.environ["SYNAPSE_VAULT"])
    files = (file for file in root.rglob("*.md") if str(file.relative_to(root)) not in GENERATED)
    return {hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def recover() -> None:
    """What the start of `serve` does, and what it does next: the jobs that wait."""
    from vault.current import current_vault
    from vault.history import recover_orphans
    from wiki.jobs import enqueue, run_due
    from wiki.sync import scan

    recover_orphans(current_vault())
    assert not scan().stopped
    enqueue("catch_up")
    run_due(now=True)
    run_due(now=True)


def recovered(before: set[str]) -> list[str]:
    """As a new process: recover, and tell what does not hold then."""
    recover()
    return wrong(before)


def wrong(before: set[str]) -> list[str]:
    """What does not hold: the index is that of the vault, no page is torn, no text is gone, each has its line."""
    from tests.wiki.index import rebuilt_index, whole_index
    from vault import history
    from vault.current import current_vault
    from wiki.models import Page
    from wiki.services.catalog import render_index
    from wiki.sync import scan

    vault, found = current_vault(), []
    index = whole_index()
    for known in Page.objects.live().exclude(path__in=GENERATED):
        read = vault.read(known.path)
        if not (read.data.startswith(b"---\n") and read.data.endswith(END.encode())):
            found.append(f"torn: {known.path}")
        if history.last_written_hash(vault, known.uid) != read.content_hash:
            found.append(f"its last line in the history is another version's: {known.path}")
    if vault.read("wiki/index.md").data != render_index().encode():
        found.append("wiki/index.md is behind")
    if gone := before - texts():
        found.append(f"{len(gone)} texts are gone")
    leftovers = [file.name for file in vault.root.rglob("*") if file.name.startswith(".synapse-")]
    leftovers += os.listdir(vault.state / "history" / "pending")
    if leftovers:
        found.append(f"left behind: {leftovers}")
    anew = rebuilt_index()
    if index != anew:
        differing = [(one, other) for one, other in zip(index, anew, strict=False) if one != other]
        found.append(f"the index differs from a rebuilt one: {len(index)}, {len(anew)}, {str(differing[:1])[:600]}")
    new = list(vault.root.glob("wiki/concepts/new-*.md"))
    for file in new:
        file.unlink()  # or the vault would grow with each attempt
    if new:
        scan(allow_deletions=True)
    return found


def _noted(file: Path) -> set[str]:
    """The texts of before a change, which a process that was to die has left here."""
    return set(json.loads(file.read_text()))


def try_kills(change: str, most: int) -> dict[str, Any]:
    """The change killed before each step that changes something, and after the last."""
    calls = in_child(partial(count, change, 9_999))
    steps = [(call.number, call.name, False) for call in calls if call.changes]
    steps.append((*steps[-1][:2], True))
    noted = Path(os.environ["SYNAPSE_DATA"]) / "before"

    def work(number: int, at: int, after: bool) -> str:
        made = CHANGES[change](number)
        noted.write_text(json.dumps(sorted(texts())))
        with counted() as kernel:
            kernel.die_at(at, after=after)
            with kernel.watching():
                made()
        return "lived"

    faults: list[str] = []
    where: Counter[str] = Counter()
    for number, (at, name, after) in enumerate(_spread(steps, most, change), 1):
        where[name] += in_child(partial(work, number, at, after)) is None
        faults += [f"{change} killed at {at} ({name}): {one}" for one in in_child(partial(recovered, _noted(noted)))]
    return {"steps": len(calls), "tried": sum(where.values()), "where": where, "wrong": faults}


def attempt(change: str, number: int, at: int, fault: Any, lasting: bool) -> dict[str, Any]:
    """The change with a fault in its way, and what follows in a server that goes on: the answer, and what is wrong."""
    from django.db import DatabaseError

    from vault.errors import SynapseError
    from wiki.jobs import run_due
    from wiki.services.notices import INDEX_PENDING
    from wiki.sync import scan

    made = CHANGES[change](number)
    before, files = texts(), visible()
    told, warned, found = "done", False, []
    with counted() as kernel:
        kernel.fail_at(at, fault, lasting=lasting)
        with kernel.watching():
            try:
                answer = made()
                warned = INDEX_PENDING in str(getattr(answer, "warnings", answer))
            except SynapseError as error:
                told = "unconfirmed" if "unconfirmed" in error.repair else error.code.value
                if SECRET in str(error.envelope()) or os.environ["SYNAPSE_VAULT"] in str(error.envelope()):
                    found.append("the answer names the place")
            except DatabaseError:
                told = "database"
    if told not in ("done", "unconfirmed") and visible() != files:
        found.append("files have changed all the same")
    run_due(now=True)
    if lasting:
        recover()  # where even a note could not be made, the next look of the watcher and the next start
    elif told != "done":
        scan()
    return {"told": "done, index_pending" if warned else told, "wrong": found + wrong(before)}


def visible() -> dict[str, bytes]:
    """The pages' files."""
    root = Path(os.environ["SYNAPSE_VAULT"])
    files = {str(file.relative_to(root)): file for file in root.rglob("*.md")}
    return {path: file.read_bytes() for path, file in files.items() if path[0] != "." and path not in GENERATED}


def try_faults(change: str, most: int) -> dict[str, Any]:
    """The change with a fault of each kind at each step, for once or from then on."""
    calls = in_child(partial(count, change, 9_999))
    cases = [
        (call.number, call.name, fault, lasting)
        for call in calls
        for fault in ([errno.EIO] if call.name in ("sql", "commit") else faults_of(call))
        for lasting in (False, True)
    ]
    found: list[str] = []
    answers: Counter[str] = Counter()
    for number, (at, name, fault, lasting) in enumerate(_spread(cases, most, change), 1):
        told = in_child(partial(attempt, change, number, at, fault, lasting))
        answers[told["told"]] += 1
        met = f"{change} at {at} ({name}) {fault!r} lasting={lasting} {told['told']}"
        found += [f"{met}: {one}" for one in told["wrong"]]
    return {"steps": len(calls), "tried": sum(answers.values()), "answers": answers, "wrong": found}


def _spread(cases: list[Any], most: int, seed: str) -> list[Any]:
    if len(cases) <= most:
        return cases
    return [cases[at] for at in sorted(random.Random(seed).sample(range(len(cases)), most))]


def begin() -> None:
    """The pages that all changes are about."""
    from django.db import connections
    from django.utils.module_loading import import_string

    from wiki import jobs
    from wiki.sync import scan

    def fill() -> None:
        for title in ("Target", "Other", "Moving", "Linking one", "Linking two"):
            write(title, 0)
        write("Other", 1, "[[Target]] and [[Moving]]")
        write("Target", 1)
        scan()

    # Loaded here, or each process would load them again.
    for module in (
        "pytest",
        "reviews.services.staging",
        "tests.wiki.index",
        "wiki.prime.atoms.reading",
        "wiki.services",
    ):
        import_module(module)
    for handler in jobs.HANDLERS.values():
        import_string(handler)
    in_child(fill)
    in_child(recover)
    connections.close_all()


if __name__ == "__main__":
    django.setup()
    how, most, *names = sys.argv[1:]
    begin()
    trying = {"kill": try_kills, "fault": try_faults}[how]
    print(json.dumps({name: trying(name, int(most)) for name in names or CHANGES}))
