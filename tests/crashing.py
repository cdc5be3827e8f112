"""Each change that the services make, killed at each step, or met by a fault at each step, with its database.

Run as ``python -m tests.crashing kill|fault NUMBER CHANGE …`` where the environment names a vault and a database with
tables; prints one JSON document: of each change how many steps it has, how often it was tried (at most NUMBER times,
spread over the steps), and what was wrong. ``random NUMBER`` kills a process that writes at so many random times;
``create NUMBER SERVICE`` makes one page by so many processes at once.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import pickle
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import count as count_from
from pathlib import Path
from typing import Any

import django

from tests.changes import CHANGES, END, GIVEN, author, body, standing, write
from tests.faults import SECRET, Kernel, database_counted, faults_of
from tests.racing import race

#: What is noted in the database alone, so that it is no success where that fails; it is sent again.
DECISIONS = ("review",)
#: Made by code, and made again by it.
GENERATED = ("wiki/index.md", "wiki/log.md")


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
    from wiki.services.catalog import render_index, write_index
    from wiki.sync import scan

    vault, found = current_vault(), []
    index = whole_index()
    for known in Page.objects.live().exclude(path__in=GENERATED):
        read = vault.read(known.path)
        if not is_whole(read.data):
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
        write_index()  # which no scan does, and a change that is refused neither
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
    noted.parent.mkdir(parents=True, exist_ok=True)  # with PostgreSQL nothing else need have made it

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
    again = change in DECISIONS and told == "database"
    if told not in ("done", "unconfirmed") and visible() != files and not again:
        found.append("files have changed all the same")
    run_due(now=True)
    if lasting:
        recover()  # where even a note could not be made, the next look of the watcher and the next start
    elif told != "done":
        scan()
    if again:
        found += sent_again(made, stands=visible() != files)
    return {"told": "done, index_pending" if warned else told, "wrong": found + wrong(before)}


def sent_again(made: Callable[[], Any], *, stands: bool) -> list[str]:
    """The same decision once more, when its claim has ended: a page that was made already is not made again."""
    from reviews.models import ReviewItem, Status
    from wiki.jobs import run_due
    from wiki.sync import scan

    files = visible()
    ReviewItem.objects.filter(status=Status.PENDING).update(claim=None, claimed_at=None)
    made()
    run_due(now=True)
    scan()
    return ["the page was written again"] if stands and visible() != files else []


def visible() -> dict[str, bytes]:
    """The pages' files."""
    root = Path(os.environ["SYNAPSE_VAULT"])
    files = {str(file.relative_to(root)): file for file in (root / "wiki").rglob("*.md")}
    return {path: file.read_bytes() for path, file in files.items() if path not in GENERATED}


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
        met = f"{change} at {at} ({name}) {fault!r} lasting={lasting}"
        try:
            told = in_child(partial(attempt, change, number, at, fault, lasting))
        except AssertionError as failed:
            failed.add_note(met)
            raise
        answers[told["told"]] += 1
        found += [f"{met} {told['told']}: {one}" for one in told["wrong"]]
    return {"steps": len(calls), "tried": sum(answers.values()), "answers": answers, "wrong": found}


def write_on(number: int, told: int) -> None:
    """Change and make pages until killed; ``told`` is a pipe that hears of the first."""
    from vault.errors import ErrorCode, SynapseError
    from wiki.models import Page

    for turn in count_from(number * 1_000):
        for title in ("Target", "Other", f"Made {turn % 7}"):
            known = Page.objects.live().filter(title=title).first()
            try:
                write(title, turn, "[[Target]] and [[Other]]", base_hash=standing(title) if known else None)
            except SynapseError as error:
                # The process before was killed between the file it made and its row: the file may not be written over.
                if known or error.code not in (ErrorCode.CONFLICT, ErrorCode.BASE_REQUIRED):
                    raise
            os.write(told, b".")


def die_at_random(times: int) -> dict[str, Any]:
    """A process that writes through the services, killed at any moment, as often as is asked for."""
    from vault.current import current_vault
    from vault.history import recover_orphans

    chance, found, orphans = random.Random(1), [], 0
    for number in range(1, times + 1):
        before = texts()
        hearing, told = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                write_on(number, told)
            finally:
                traceback.print_exc()  # it goes on until it is killed: whoever comes here failed
                os._exit(1)
        os.close(told)
        os.read(hearing, 1)  # it is at work
        os.close(hearing)
        time.sleep(chance.random() * 0.06)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSIGNALED(status):
            found.append(f"process {number} ended by itself")
        found += [f"kill {number}, torn: {path}" for path, data in visible().items() if not is_whole(data)]
        orphans += len(recover_orphans(current_vault()))
        if gone := before - texts():
            found.append(f"kill {number}: {len(gone)} texts are gone")
        if number % 50 == 0 or number == times:
            found += in_child(partial(recovered, before))
    return {"kills": times, "orphans": orphans, "wrong": found}


def create(service: str, number: int) -> str:
    """Make the one page of a service's race: created, changed, or the error's code."""
    from vault.errors import SynapseError
    from wiki import services

    title = f"One for all by {service}"
    given = {**GIVEN, "title": title}
    try:
        done = getattr(services, service)(title=title, content=body(number), frontmatter=given, author=author())
    except SynapseError as error:
        return error.code.value
    return "created" if done.created else "changed"


def is_whole(data: bytes) -> bool:
    """Whether a page is one whole version: from the first line to the last, and each line of one writing."""
    lines = {line for line in data.split(b"\n") if line.startswith(b"Text ")}
    return data.startswith(b"---\n") and data.endswith(END.encode()) and len(lines) == 1


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
    logging.disable()  # failures are logged as they should be, and what is written to stderr is none of these
    how, most, *names = sys.argv[1:]
    begin()
    if how == "create":
        print(json.dumps(race(partial(create, *names), int(most))))
    elif how == "random":
        print(json.dumps(die_at_random(int(most))))
    else:
        trying = {"kill": try_kills, "fault": try_faults}[how]
        print(json.dumps({name: trying(name, int(most)) for name in names or CHANGES}))
