"""A small vault about bread, with relations, contracts, tags and a domain of its own."""

from __future__ import annotations

from typing import Final

from tests.conftest import VaultFolder

PAGES: Final = {
    "wiki/concepts/sourdough.md": """\
---
title: Sourdough
type: concept
lang: en
tags: [rye, starter]
sources: [raw/sources/baking.md]
aliases: [Levain]
requires: "[[Starter]]"
conflicts: "[[Baking powder]]"
contract:
  must_include: ["[[Flour]]"]
  must_avoid: [bread machine]
---
# Sourdough

Sourdough is bread that is raised by a culture of wild yeast and bacteria. It takes 24 hours.

## How it works

The [[Starter]] is fed with [[Flour]] and water every 12 hours, and doubles in 4 hours at 26 degrees.

## Sources

Written from the notes of a bakery.
""",
    "wiki/concepts/starter.md": """\
---
title: Starter
type: concept
lang: en
tags: [rye, starter]
sources: [raw/sources/baking.md]
requires: "[[Flour]]"
---
A starter is a culture of yeast and bacteria in a mixture of flour and water.
""",
    "wiki/entities/flour.md": """\
---
title: Flour
type: entity
lang: en
tags: [grain, rye]
sources: [raw/sources/baking.md]
---
Flour is ground grain. Rye flour holds 1,150 milligrams of ash in 100 grams.
""",
    "wiki/concepts/baking-powder.md": """\
---
title: Baking powder
type: concept
lang: en
tags: [leavening, chemistry]
sources: [raw/sources/baking.md]
---
Baking powder raises dough by a chemical reaction, without yeast.
""",
    "wiki/comparisons/yeast-or-starter.md": """\
---
title: Yeast or starter
type: comparison
lang: en
tags: [starter, yeast]
sources: [raw/sources/baking.md]
---
Yeast raises dough in 2 hours; a [[Starter]] takes longer and keeps [[Sourdough]] fresh.
""",
    "wiki/concepts/old-oven.md": """\
---
title: Old oven
type: concept
lang: en
lifecycle: superseded
superseded-by: "[[Deck oven]]"
tags: [oven, history]
sources: [raw/sources/baking.md]
---
The old oven was heated with wood and baked sourdough for an hour.
""",
    "wiki/concepts/deck-oven.md": """\
---
title: Deck oven
type: concept
lang: en
tags: [oven, heat]
sources: [raw/sources/baking.md]
---
A deck oven bakes sourdough on stone at 250 degrees.
""",
    "wiki/sources/baking-notes.md": """\
---
title: Baking notes
type: source
lang: de
tags: [notes, bakery]
sources: [raw/sources/baking.md]
---
Der Sauerteig ruht über Nacht. Quelle für alle Zeiten und Mengen.
""",
}

DOMAIN: Final = """\
name: baking
version: 1.0.0
description: Bread and what it takes
tags: [rye, starter, oven]
axes:
  - {name: tool, description: what is used, matches: [oven, mixer], required: true}
contract:
  conditionally_required: [{when: "task_type:author", include: [Flour]}]
validators:
  - {name: no-cups, description: weights are given in grams, checker: "regex:/\\\\bcups?\\\\b/i", severity: error}
synonyms: {starter: [levain culture, mother]}
intent:
  fields: {skill: {values: {beginner: [beginner, first time], expert: [expert]}}}
"""


def fill(folder: VaultFolder, *, domain: bool = False) -> None:
    """Write the vault, and its domain if that is wanted. It is not scanned yet."""
    for path, text in PAGES.items():
        folder.write(path, text)
    folder.write("raw/sources/baking.md", "Notes.")
    if domain:
        folder.write(".synapse/domains/baking.yaml", DOMAIN)
