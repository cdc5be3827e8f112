"""Who is at work on the vault: agents over MCP, a program over REST, a reviewer, and whoever asks for scans."""

from __future__ import annotations

import random
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tests.soak.doors import Http, NobodyAnswered, Stdio
from tests.soak.ledger import Ledger

#: Few enough that agents, the editor and the reviewer meet on them.
TITLES = 60
REST_TITLES = 30
_TYPES = ["concept", "entity", "synthesis", "comparison", "source"]
#: Of a decision, the status that it leads to.
_STATUS = {"skip": "skipped", "dismiss": "dismissed", "mark-resolved": "resolved", "create": "created"}


class Client(threading.Thread, ABC):
    """Does one of its works after another, with a pause to think, until it is told to stop."""

    think = (0.05, 0.2)

    def __init__(self, name: str, ledger: Ledger, stop: threading.Event, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self._ledger, self._halt = ledger, stop
        self._random = random.Random(f"{seed} {name}")
        self._count = 0

    @abstractmethod
    def works(self) -> dict[Callable[[], None], int]:
        """What it does, and how often beside the others."""

    def run(self) -> None:
        works = self.works()
        while not self._halt.wait(self._random.uniform(*self.think)):
            self._count += 1
            try:
                self._random.choices([*works], [*works.values()])[0]()
            except NobodyAnswered:
                self._halt.wait(0.3)
            except Exception as error:
                self._ledger.failed(f"{self.name} failed: {error!r}")
                raise

    def _title(self) -> str:
        return f"Soak {self._random.randrange(TITLES)}"

    def _body(self, title: str) -> str:
        others = " and ".join(f"[[{self._title()}]]" for _ in range(3))
        ghost = f" Nobody has written [[Ghost {self._random.randrange(25)}]]." if self._random.random() < 0.3 else ""
        words = " ".join(self._random.choices(("museum", "engine", "harbour", "ledger", "lamp", "river"), k=40))
        return f"{title} is told here by {self.name}, {self._count}. It has to do with {others}.{ghost}\n\n{words}\n"

    def _front(self, title: str) -> dict[str, Any]:
        kind = _TYPES[sum(title.encode()) % len(_TYPES)]
        return {"type": kind, "title": title, "sources": [f"raw/sources/source {self._count % 12}.txt"], "lang": "en"}


class Agent(Client):
    """An agent over MCP: reads, searches, writes on what it read, and files what a person should decide."""

    def __init__(self, name: str, door: Http | Stdio, *given: Any, staged: bool = False) -> None:
        super().__init__(name, *given)
        self._door, self._staged = door, staged

    def works(self) -> dict[Callable[[], None], int]:
        found = {self._write: 40, self._search: 20, self._read: 20, self._propose: 10, self._list: 7}
        return found if self._staged else {**found, self._rescan: 3}

    def run(self) -> None:
        super().run()
        if isinstance(self._door, Stdio):
            self._door.end()

    def _write(self) -> None:
        title = self._title()
        base = None
        if self._random.random() < 0.75:
            base = self._door.call("get_page", title=title).get("content_hash")
        given = {"title": title, "content": self._body(title), "frontmatter": self._front(title)}
        answer = self._door.call("write_page", **given, **({"base_hash": base} if base else {}))
        if "content_hash" in answer and "error_code" not in answer:
            self._ledger.wrote(self.name, answer)
        elif self._staged and "review_id" not in answer and "error_code" not in answer:
            self._ledger.failed(f"a staged write told nothing of its review: {sorted(answer)}")

    def _search(self) -> None:
        self._door.call("search_wiki", query=f"{self._title()} harbour engine", k=8)

    def _read(self) -> None:
        self._door.call("get_page", title=self._title())

    def _list(self) -> None:
        self._door.call("list_reviews", limit=20)

    def _rescan(self) -> None:
        self._door.call("trigger_source_rescan")

    def _propose(self) -> None:
        asked = {
            "item_type": "confirm",
            "title": f"Is this still so? {self.name} {self._count}",
            "rationale": "Two pages say it otherwise.",
        }
        if self._random.random() < 0.5:
            title = f"Asked {self._random.randrange(20)}"
            asked = {
                "item_type": "missing-page",
                "title": f"{title} should be written",
                "proposed_title": title,
                "proposed_body": self._body(title),
                "proposed_frontmatter": self._front(title),
            }
        answer = self._door.call("propose_review", items=[asked])
        for one in answer.get("result", ()):
            if one["outcome"] == "refused" and one.get("error_code") not in ("review_terminal", "conflict"):
                self._ledger.failed(f"a proposal was refused: {one.get('error_code')}: {one.get('error')}")


class Program(Client):
    """A program over REST: makes, replaces, moves, retitles, restores and deletes, each POST and PUT under a key."""

    def __init__(self, name: str, door: Http, *given: Any) -> None:
        super().__init__(name, *given)
        self._door = door

    def works(self) -> dict[Callable[[], None], int]:
        return {
            self._create: 15,
            self._replace: 35,
            self._delete: 5,
            self._restore: 5,
            self._move: 5,
            self._retitle: 4,
            self._search: 20,
            self._neighbours: 6,
            self._list: 5,
        }

    def _create(self) -> None:
        title = f"Program {self._random.randrange(REST_TITLES)}"
        given = {"title": title, "content": self._body(title), "frontmatter": self._front(title)}
        self._change("POST", "/pages", "rest create", json=given)

    def _replace(self) -> None:
        page = self._page()
        if page:
            self._change(
                "PUT",
                f"/pages/{page['id']}",
                "rest replace",
                json={"content": self._body(page["title"])},
                headers={"If-Match": f'"{page["content_hash"]}"'},
            )

    def _delete(self) -> None:
        page = self._page()
        if page:
            headers = {"If-Match": f'"{page["content_hash"]}"'}
            self._door.ask("DELETE", f"/pages/{page['id']}", "rest delete", headers=headers)

    def _restore(self) -> None:
        page = self._page()
        if not page:
            return
        _, found, _ = self._door.ask("GET", f"/pages/{page['id']}/history?limit=20", "rest history")
        numbers = [one["number"] for one in found.get("result", ()) if one["displaced_hash"]]
        if numbers:
            given = {"version": self._random.choice(numbers), "displaced": True}
            headers = {"If-Match": f'"{page["content_hash"]}"'}
            self._change("POST", f"/pages/{page['id']}/restore", "rest restore", json=given, headers=headers)

    def _move(self) -> None:
        page = self._page()
        if page:
            path = f"wiki/moved/program-{self._random.randrange(REST_TITLES)}.md"
            self._door.ask("POST", f"/pages/{page['id']}/move", "rest move", json={"path": path})

    def _retitle(self) -> None:
        page = self._page()
        if page:
            title = f"Program {self._random.randrange(REST_TITLES)}"
            given = {"title": title, "rename": self._random.random() < 0.5}
            self._door.ask("POST", f"/pages/{page['id']}/retitle", "rest retitle", json=given)

    def _search(self) -> None:
        self._door.ask("GET", "/search", "rest search", params={"q": f"{self._title()} river lamp", "preset": "fast"})

    def _neighbours(self) -> None:
        self._door.ask("GET", "/graph/neighborhood", "rest neighbours", params={"title": self._title()})

    def _list(self) -> None:
        self._door.ask("GET", "/pages", "rest list", params={"limit": 50})

    def _page(self) -> dict[str, Any] | None:
        title = f"Program {self._random.randrange(REST_TITLES)}"
        status, page, _ = self._door.ask("GET", "/pages/by-title", "rest read", params={"title": title})
        return page if status == 200 else None

    def _change(self, method: str, path: str, what: str, *, headers: dict[str, str] | None = None, json: Any) -> None:
        """Sent again under the same key where nobody answered, as docs/rest.md has it."""
        sent = {**(headers or {}), "Idempotency-Key": str(uuid.UUID(int=self._random.getrandbits(128)))}
        for _ in range(40):
            try:
                status, answer, given = self._door.ask(method, path, what, headers=sent, json=json)
            except NobodyAnswered:
                if self._halt.wait(0.5):
                    return
                continue
            # 409 with Retry-After: whoever died had the request, and its key is free after a minute.
            if status == 409 and "Retry-After" in given and not self._halt.wait(2):
                continue
            if status in (200, 201):
                self._ledger.wrote(self.name, answer)
            return


class Reviewer(Client):
    """Decides what waits, one by one and in bulk, and looks for what has closed by itself."""

    think = (0.15, 0.5)

    def __init__(self, name: str, door: Http, *given: Any) -> None:
        super().__init__(name, *given)
        self._door = door

    def works(self) -> dict[Callable[[], None], int]:
        return {self._one: 60, self._bulk: 25, self._sweep: 3, self._status: 12}

    def _waiting(self) -> list[dict[str, Any]]:
        order = self._random.choice(("oldest", "rank"))
        _, found, _ = self._door.ask("GET", f"/review/queue?order={order}&limit=50", "review list")
        waiting: list[dict[str, Any]] = found.get("result", [])
        return waiting

    def _one(self) -> None:
        waiting = self._waiting()
        if not waiting:
            return
        item = self._random.choice(waiting)["id"]
        status, detail, _ = self._door.ask("GET", f"/review/queue/{item}", "review read")
        actions = [action for action in detail.get("actions", ()) if action in _STATUS]
        if status != 200 or not actions:
            return
        action = "create" if "create" in actions and self._random.random() < 0.6 else self._random.choice(actions)
        if action == "dismiss" and self._random.random() < 0.7:
            action = "skip"  # what is dismissed never comes back, and there should be something to decide
        status, _, _ = self._door.ask("PATCH", f"/review/queue/{item}", f"review {action}", json={"action": action})
        if status == 200:
            self._ledger.decision(item, _STATUS[action])

    def _bulk(self) -> None:
        waiting = self._waiting()
        if len(waiting) < 10:
            return
        ids = [one["id"] for one in self._random.sample(waiting, self._random.randrange(2, 9))]
        action = self._random.choice(("skip", "mark-resolved"))
        _, done, _ = self._door.ask("POST", "/review/queue/bulk", "review bulk", json={"action": action, "ids": ids})
        for item in done.get("updated", ()):
            self._ledger.decision(item, _STATUS[action])
        for one in done.get("failed", ()):
            if one["error_code"] != "conflict":
                self._ledger.failed(f"one of a bulk failed: {one['error_code']}: {one['error']}")

    def _sweep(self) -> None:
        self._door.ask("POST", "/review/queue/sweep", "review sweep")

    def _status(self) -> None:
        self._door.ask("GET", "/status", "rest status")
