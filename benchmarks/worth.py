"""Is prime worth it: does it hand out the right page, and the fact, for fewer tokens than whole pages do?

    python -m benchmarks.worth --collection <folder> --vaults <folder> [--json]

*Right page*: over a judged collection (BEIR layout), how often prime_query at 1,200 tokens holds a page that answers
the query, beside search_wiki's top hits as whole pages cut to the same tokens. *Facts*: in a copy of each vault 20
made-up facts are planted, each in a page of its own: after its first paragraph, in its middle, at its end; half of
the questions name the page. How many facts are in prime_resolve's context, and in the whole pages of the top hits cut
to the same budget, and for how many tokens. Words only: no model.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.own_database import own_database
from benchmarks.quality import index_collection, read_judgements, read_lines

QUERY_TOKENS = 1_200
RESOLVE_TOKENS = 1_500
FACTS = 20
THINGS = ("cistern", "beacon", "granary", "viaduct", "foundry", "orchard", "belfry", "quarry", "harbour", "windmill")
PLACES = ("Alvor", "Brenta", "Cudrefin", "Dovre", "Eglisau", "Fanø", "Gruyon", "Hvar", "Ilanz", "Jaca")
VERBS = (("holds", "hold", "barrels"), ("employs", "employ", "masons"), ("yields", "yield", "bushels"))


class Fact(NamedTuple):
    """A sentence that stands in no other place, and the question it answers."""

    sentence: str
    question: str


def facts(seed: int) -> Iterator[Fact]:
    """Twenty facts, others for each seed."""
    for number in range(FACTS):
        thing, place = THINGS[(number + seed) % 10], PLACES[(number * 3 + seed * 7) % 10]
        holds, hold, unit = VERBS[(number // 10 + seed) % 3]
        count = 1_000 + seed * 997 + number * 37
        yield Fact(
            f"The {thing} of {place} {holds} {count} {unit}.", f"How many {unit} does the {thing} of {place} {hold}?"
        )


def plant(root: Path, seed: int) -> list[tuple[Fact, str]]:
    """Write the facts into pages of a vault, evenly over its pages; each with the page it is in."""
    pages = sorted(path for path in root.rglob("*.md") if "raw" not in path.parts and path.stat().st_size > 80)
    chosen = [pages[at * len(pages) // FACTS] for at in range(min(FACTS, len(pages)))]
    planted = []
    for number, (fact, page) in enumerate(zip(facts(seed), chosen, strict=False)):
        paragraphs = page.read_text(encoding="utf-8").split("\n\n")
        first = 2 if paragraphs[0].startswith("---") else 1
        place = (min(first, len(paragraphs)), max(first, len(paragraphs) // 2), len(paragraphs))[number % 3]
        paragraphs.insert(place, fact.sentence)
        page.write_text("\n\n".join(paragraphs), encoding="utf-8")
        planted.append((fact, page.relative_to(root).as_posix()))
    return planted


def whole_pages(query: str, budget: int) -> tuple[list[str], str, int]:
    """search_wiki's hits as whole pages, the last one cut to what is left: paths, text, tokens."""
    from wiki.search import search, texts
    from wiki.search.budget import beginning, tokens

    hits = search(query, k=50).hits
    bodies = dict(texts([hit.page.pk for hit in hits]))
    paths, parts, left = [], [], budget
    for hit in hits:
        text = beginning(f"# {hit.page.title}\n\n{bodies.get(hit.page.pk, '')}", left)
        if not text or left < 1:
            break
        paths.append(hit.page.path)
        parts.append(text)
        left -= tokens(text)
    return paths, "\n\n".join(parts), budget - max(0, left)


def right_pages(folder: Path) -> dict[str, Any]:
    """How often each way holds a page that answers the query."""
    from wiki.prime.asking.query import query
    from wiki.prime.atoms.rows import fill_levels

    index_collection(folder)
    fill_levels()
    queries = {row["_id"]: row["text"] for row in read_lines(folder, "queries.jsonl")}
    judged = read_judgements(folder)
    prime = whole = 0
    for name, relevant in judged.items():
        found = query(scope=f"focus:{queries[name]}", budget_tokens=QUERY_TOKENS)
        prime += any(Path(hit["path"]).stem in relevant for hit in found["hits"])
        whole += any(Path(path).stem in relevant for path in whole_pages(queries[name], QUERY_TOKENS)[0])
    return {
        "queries": len(judged),
        "prime_query": round(prime / len(judged), 3),
        "whole pages": round(whole / len(judged), 3),
    }


def planted_facts(vault: Path, seed: int) -> dict[str, Any]:
    """How many planted facts each way hands out, and how many for 1,000 tokens."""
    from django.conf import settings

    from wiki.models import Page
    from wiki.prime.asking.query import query
    from wiki.prime.asking.resolve import resolve
    from wiki.sync import scan

    root = Path(settings.SYNAPSE_VAULT)
    for old in root.iterdir():
        if old.name != ".synapse":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(vault, root, dirs_exist_ok=True)
    planted = plant(root, seed)
    scan(allow_deletions=True)
    titles = dict(Page.objects.live().values_list("path", "title"))
    ways: dict[str, list[int]] = {"prime_resolve": [0, 0], "whole pages": [0, 0]}
    held = {"prime_query": 0, "search_wiki": 0}
    for number, (fact, path) in enumerate(planted):
        question = f"{fact.question} See {titles[path]}." if number % 2 else fact.question
        found = resolve(brief=question, max_tokens=RESOLVE_TOKENS, include_text=True)
        ways["prime_resolve"][0] += any(fact.sentence in hit["text"] for hit in found["hits"])
        ways["prime_resolve"][1] += found["total_tokens"]
        _, text, cost = whole_pages(question, RESOLVE_TOKENS)
        ways["whole pages"][0] += fact.sentence in text
        ways["whole pages"][1] += cost
        hits = query(scope=f"focus:{question}", budget_tokens=QUERY_TOKENS)["hits"]
        held["prime_query"] += path in [hit["path"] for hit in hits]
        held["search_wiki"] += path in whole_pages(question, QUERY_TOKENS)[0]
    return {
        "facts": len(planted),
        **{f"right page, {name}": count for name, count in held.items()},
        **{f"facts, {name}": answered for name, (answered, _) in ways.items()},
        **{f"per 1,000 tokens, {name}": round(1_000 * got / max(1, cost), 2) for name, (got, cost) in ways.items()},
    }


def main() -> int:
    """Measure what is named, and print it."""
    parser = argparse.ArgumentParser(prog="benchmarks.worth", description=__doc__.partition("\n")[0])
    parser.add_argument("--collection", type=Path, help="folder of a judged collection")
    parser.add_argument("--vaults", type=Path, help="folder that holds vaults")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    import os

    os.environ["EMBEDDINGS_ENABLED"] = "false"
    result: dict[str, Any] = {}
    if options.collection:
        with own_database("synapse_worth"):
            result[options.collection.name] = right_pages(options.collection)
    elif options.vaults:
        with own_database("synapse_worth"):
            names = sorted(path.stem.split(".")[0] for path in options.vaults.glob("*.meta.json"))
            for seed, name in enumerate(names):
                result[name] = planted_facts(options.vaults / name, seed)
    if options.json:
        print(json.dumps(result))
        return 0
    for name, figures in result.items():
        print(name, *(f"{key} {value}" for key, value in figures.items()), sep="  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
