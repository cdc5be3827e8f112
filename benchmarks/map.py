"""The map in a browser without a graphics card: how soon it is drawn, and how soon a drag is answered.

    python -m benchmarks.map [--pages 20000] [--ties 60000] [--json]

A server is started over a vault of its own, whose index gets made-up pages and ties; Chromium opens /map as a person
does (`make test-browser` installs what it needs). Milliseconds of the wall: a drag is timed from the movement of the
mouse to the frame that shows it.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

FLAGS: Final = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
#: What is asked of 20,000 pages and 60,000 ties, in ms.
FIRST: Final = 3_000
DRAG: Final = 100
_OPENED: Final = 5
_WORDS: Final = (
    "tide",
    "moon",
    "harbour",
    "signal",
    "engine",
    "proof",
    "garden",
    "letter",
    "river",
    "atlas",
    "copper",
    "memory",
)
_TYPES: Final = ("entity", "concept", "source", "synthesis", "comparison", None)
_WATCH: Final = """() => {
  window.waits = [];
  addEventListener("mousemove", (event) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => waits.push(performance.now() - event.timeStamp);
    port2.postMessage(0);
  }), true);
}"""


def made_graph(pages: int, ties: int) -> list[tuple[int, int, float]]:
    """Ties of communities of all sizes with hubs in them, and every seventh to anywhere."""
    dice = random.Random(1)
    community: list[int] = []
    for number in range(pages):
        size = max(5, int(dice.paretovariate(1.1) * 25))
        community += [number] * min(size, 1_500, pages - len(community))
    dice.shuffle(community)
    inside: dict[int, list[int]] = {}
    for page, number in enumerate(community):
        inside.setdefault(number, []).append(page)
    anywhere = list(range(pages))
    made: dict[tuple[int, int], float] = {}
    while len(made) < ties:
        one = dice.randrange(pages)
        pool = inside[community[one]] if dice.random() < 6 / 7 else anywhere
        other = dice.choice(pool)
        pool.append(other)  # who is tied is tied again: hubs
        if one != other:
            made.setdefault((min(one, other), max(one, other)), 1 + 6 * dice.random())
    return sorted((one, other, weight) for (one, other), weight in made.items())


def seed(pages: int, ties: int) -> None:
    """Put made-up pages and ties into the index of this process's settings, and make the map."""
    from django.db import transaction

    from wiki.binding import bump_data_version
    from wiki.graph.layout import make_map
    from wiki.models import Edge, Page

    dice = random.Random(2)
    rows = [
        Page(
            uid=uuid.UUID(int=number + 1),
            path=f"made/{number}.md",
            path_key=f"made/{number}.md",
            name_key=str(number),
            title=f"{' '.join(dice.choices(_WORDS, k=dice.randint(1, 3))).capitalize()} {number}",
            title_key=str(number),
            type=dice.choice(_TYPES),
            content_hash="0" * 64,
        )
        for number in range(pages)
    ]
    with transaction.atomic():
        Page.objects.bulk_create(rows, batch_size=500)
        pks = dict(Page.objects.filter(path__startswith="made/").values_list("path", "pk"))
        at = [pks[f"made/{number}.md"] for number in range(pages)]
        edges = [
            Edge(a_id=min(at[a], at[b]), b_id=max(at[a], at[b]), links=1, weight=weight)
            for a, b, weight in made_graph(pages, ties)
        ]
        Edge.objects.bulk_create(edges, batch_size=1_000)
        bump_data_version()
    started = time.perf_counter()
    make_map(anew=True)
    made = time.perf_counter()
    new = Page.objects.create(path="new.md", path_key="new.md", name_key="new", title="New", content_hash="1" * 64)
    Edge.objects.create(a_id=at[0], b_id=new.pk, links=1, weight=3.0)
    bump_data_version()
    make_map()
    print(json.dumps({"anew": made - started, "one_page_more": time.perf_counter() - made}))


def measured(pages: int, ties: int) -> dict[str, float]:
    """Open the map of such a graph and drag it."""
    from playwright.sync_api import sync_playwright

    from tests.browser.site import serving

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="synapse-bench-"))
        playing = stack.enter_context(sync_playwright())
        site = stack.enter_context(serving(Path(folder), {"a.md": "# A"}, None, {}))
        told = json.loads(site.run(f"from benchmarks.map import seed; seed({pages}, {ties})").splitlines()[-1])
        browser = playing.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{site.url}/admin/login/?next=/map")
        page.fill("input[name=username]", site.username)
        page.fill("input[name=password]", site.password)
        page.press("input[name=password]", "Enter")
        page.wait_for_selector("canvas[data-drawn]", timeout=60_000)
        first = [_opened(page, f"{site.url}/map") for _ in range(_OPENED)]
        drags = _dragged(page)
        browser.close()
    return {
        "map made anew (ms)": told["anew"] * 1000,
        "map after one page more (ms)": told["one_page_more"] * 1000,
        "first picture, p50 (ms)": statistics.median(first),
        "drag, p50 (ms)": statistics.median(drags),
        "drag, p95 (ms)": sorted(drags)[int(len(drags) * 0.95)],
    }


def _opened(page: Any, address: str) -> float:
    started = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector("canvas[data-drawn]", timeout=60_000)
    return (time.perf_counter() - started) * 1000


def _dragged(page: Any) -> list[float]:
    page.wait_for_timeout(1_000)
    page.evaluate(_WATCH)
    page.mouse.move(800, 200)
    page.mouse.down()
    for step in range(120):
        page.mouse.move(800 - 4 * step, 200 + 3 * step)
    page.mouse.up()
    page.wait_for_timeout(500)
    waits: list[float] = page.evaluate("waits")
    return waits


def main() -> int:
    """Print the figures; exit 1 when one misses its bound."""
    parser = argparse.ArgumentParser(prog="benchmarks.map", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--ties", type=int, default=60_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measured(options.pages, options.ties)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:32} {value:8.0f}")
    return 1 if found["first picture, p50 (ms)"] > FIRST or found["drag, p95 (ms)"] > DRAG else 0


if __name__ == "__main__":
    sys.exit(main())
