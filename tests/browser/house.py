"""A vault in which there is something of everything: pages, sources, versions, a draft, decisions, calls of tools."""

from __future__ import annotations

import base64
from pathlib import Path

from tests.browser.site import Site

_PIXELS = (
    "iVBORw0KGgoAAAANSUhEUgAAAPAAAAB4CAIAAABD1OhwAAABFklEQVR42u3SUQkAIAxF0TUymRFsagG/rGAHZSDjwPl/sN2Ye0EZ4QQIGgQNggZB"
    "I2gQNAgaBA2CRtAgaBA0CBoEjaBB0CBoEDQIGkGDoEHQIGgQNIIGQYOgQdAgaAQNggZBg6BB0AgaBA2CBkEjaBA0CBoEDYJG0CBoEDQIGgSNoEHQ"
    "IGgQNAgaQYOgQdAgaBA0ggZBg6BB0CBoBA2CBkGDoEHQCBp+D7qNfu1l2K7djF1B2xW0Q9sVtAfbFbRdu4K2K2ioQdAIGgQNggZBI2gQNAgaBA2C"
    "RtAgaBA0CBoEjaBB0CBoEDQIGkGDoEHQIGgQNIIGQYOgQdAgaAQNggZBg6BB0AgaBA2CBkEjaFdA0CBoyHYA5c3rV6fqEfQAAAAASUVORK5CYII="
)
SPRING_TIDE = """---
type: concept
title: Spring tide
tags: [sea, moon]
sources: [raw/sources/tides.md]
lang: en
aliases: [springs]
---
A spring tide comes when the pull of the [[Sun]] and that of the [[Moon]] lie along one line, at new and full moon.[^1]
High water is then higher and low water lower than at a [[Neap tide|neap]]; the word has nothing to do with the season.
See also [[Storm surge]], which nobody has written yet, and #sea.

> [!warning] Not at the same hour everywhere
> The shape of the coast decides how far behind the moon the water comes.

## When

| phase | tide | range |
|---|:---:|---:|
| new moon | spring | 6.1 m |
| first quarter | neap | 2.4 m |
| full moon | spring | 5.8 m |

- [x] new moon
- [ ] full moon

## How much

The force falls with the cube of the distance, $F \\propto r^{-3}$: the Moon counts more than twice as much as the Sun.

```python
def range_of(day: float) -> float:
    return 4.2 + 1.8 * cos(4 * pi * day / 29.53)
```

## From elsewhere

![[Neap tide#Why]]

![[harbour.png|240]]

[^1]: The sources say a day or two later.
"""
FILES: dict[str, str | bytes] = {
    "wiki/concepts/spring-tide.md": SPRING_TIDE,
    "wiki/concepts/neap-tide.md": (
        "---\ntype: concept\ntitle: Neap tide\ntags: [sea]\nsources: [raw/sources/tides.md]\nlang: en\n---\n"
        "# Why\n\nThe [[Sun]] and the [[Moon]] pull at right angles. The opposite of a [[Spring tide]].\n"
    ),
    "wiki/entities/moon.md": (
        "---\ntype: entity\ntitle: Moon\nlang: en\n---\n"
        "Goes around once in 27.3 days, and makes a [[Spring tide]] twice a month.\n"
    ),
    "wiki/entities/sun.md": (
        "---\ntype: entity\ntitle: Sun\nlang: en\n---\n"
        "Far away. Its part of a [[Spring tide]] is a third, see [[Moon]].\n"
    ),
    "wiki/concepts/broken.md": "---\ntitle: [unclosed\n---\nThis block of properties can't be read.\n",
    "raw/sources/tides.md": "# Tides\n\nSprings follow new and full moon by a day or two. Neaps follow the quarters.\n",
    "raw/sources/notes.txt": "Measured at the pier: 6.1 m, 5.8 m, 2.4 m.\n",
    "wiki/harbour.png": base64.b64decode(_PIXELS),
}
#: What is written, filed and called once the server answers.
SEED = (Path(__file__).parent / "seeding.py").read_text(encoding="utf-8")
#: What a person opens, by the name that a picture or a failure has.
DESK = {
    "front": "/",
    "page": "/read/wiki/concepts/spring-tide.md",
    "page that could not be parsed": "/read/wiki/concepts/broken.md",
    "page that is not there": "/read/wiki/concepts/nowhere.md",
    "source": "/read/raw/sources/tides.md",
    "text": "/read/raw/sources/notes.txt",
    "picture": "/read/wiki/harbour.png",
    "pages": "/read",
    "search": "/read?q=tide",
    "search without hits": "/read?q=zeppelin",
    "links": "/read/wiki/concepts/spring-tide.md/links",
    "history": "/read/wiki/concepts/tidal-bore.md/history",
    "diff": "/read/wiki/concepts/tidal-bore.md/history?old=1&new=now",
    "restore": "/read/wiki/concepts/tidal-bore.md/restore?version=1",
    "drafts": "/drafts",
    "keys": "/keys",
    "map": "/map",
}
ADMIN = {
    "index": "/admin/",
    "queue": "/admin/reviews/reviewitem/",
    "conflicts": "/admin/reviews/reviewitem/?view=conflicts",
    "done": "/admin/reviews/reviewitem/?view=done",
    "research": "/admin/reviews/researchrun/",
    "pages": "/admin/wiki/page/",
    "links": "/admin/wiki/link/",
    "files": "/admin/wiki/file/",
    "audit": "/admin/wiki/audit/",
    "tool calls": "/admin/mcpapi/toolcall/",
    "jobs": "/admin/wiki/job/",
    "embedding": "/admin/wiki/embeddingstate/",
    "vault": "/admin/wiki/vaultstate/",
    "tokens": "/admin/wiki/token/",
    "clients": "/admin/oauth2_provider/application/",
    "users": "/admin/auth/user/",
    "password": "/admin/password_change/",
}


def one_of_each(site: Site) -> dict[str, str]:
    """The pages of single rows, whose addresses hold a number or an id."""
    said = site.run(
        "from reviews.models import ReviewItem; from mcpapi.models import ToolCall\n"
        "from wiki.models import File, Job, Token; from wiki.services import draft_list\n"
        "from oauth2_provider.models import Application\n"
        "item = ReviewItem.objects.get(title__startswith='Say how much')\n"
        "print('item', f'/admin/reviews/reviewitem/{item.pk}/change/')\n"
        "print('page row', f'/admin/wiki/page/{item.page_id}/change/')\n"
        "print('file row', f'/admin/wiki/file/{File.objects.first().pk}/change/')\n"
        "print('tool call', f'/admin/mcpapi/toolcall/{ToolCall.objects.first().pk}/change/')\n"
        "print('token', f'/admin/wiki/token/{Token.objects.first().pk}/change/')\n"
        "print('client', f'/admin/oauth2_provider/application/{Application.objects.first().pk}/change/')\n"
        "print('job', f'/admin/wiki/job/{Job.objects.first().pk}/change/')\n"
        "print('draft', f'/drafts/{draft_list()[0][\"id\"]}')\n"
    )
    return dict(line.rsplit(" ", 1) for line in said.splitlines() if " /" in line)
