"""What a page says it has to do with others, beyond linking to them: by verbs, in its frontmatter and in its text.

Written as ``requires: [[X]]`` in the frontmatter, as an entry of a ``relations:`` mapping, or as a line
``requires:: [[X]]`` of the body. Any other link is ``related``; a source that is a page is ``derived-from``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from vault.frontmatter import text_of
from wiki.prime.atoms.pagetext import PageText
from wiki.storable import storable

RELATED: Final = "related"
DERIVED: Final = "derived-from"
REQUIRES: Final = "requires"
CONFLICTS: Final = "conflicts"
SUPERSEDES: Final = "supersedes"
SUPERSEDED_BY: Final = "superseded-by"
#: The property that may hold all verbs, as keys of a mapping.
RELATIONS: Final = "relations"

#: The verbs, in the order in which they are told.
VERBS: Final = (
    REQUIRES,
    CONFLICTS,
    SUPERSEDES,
    SUPERSEDED_BY,
    "extends",
    "part-of",
    "example-of",
    "validates-with",
    DERIVED,
    "see-also",
    RELATED,
)

_ORDER: Final = {verb: number for number, verb in enumerate(VERBS)}
_OTHER_NAMES: Final = {"depends-on": REQUIRES, "conflicts-with": CONFLICTS, "contradicts": CONFLICTS}
_NAME: Final = re.compile(r"[\s_-]+")
_LONGEST_NAME: Final = 40
_VERBS: Final = "|".join(name.replace("-", "[ _-]") for name in (*VERBS, *_OTHER_NAMES))
#: An inline field with a verb: at the start of its line, behind marks of quotes and lists, or in brackets.
_FIELD: Final = re.compile(
    rf"(?:^[ \t>]*+(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]++)?|([\[(]))[*_]{{0,3}}({_VERBS})[*_]{{0,3}}::",
    re.IGNORECASE | re.MULTILINE,
)


class Written(NamedTuple):
    """A relation as a page writes it.

    ``text`` names the other page as written; ``link_order`` is the number of the link that it is written as, in the
    order of the page's links (body first), None for a name that is no link. ``as_written`` is the verb as it stands
    where that is no verb known here, and ``verb`` then ``related``.
    """

    verb: str
    text: str
    link_order: int | None
    as_written: str = ""


@lru_cache(maxsize=1_000)
def verb_of(key: str) -> str | None:
    """The verb that a property or inline field stands for (``See also``, ``see_also``); None when it is none."""
    if len(key) > _LONGEST_NAME:
        return None
    name = _NAME.sub("-", key.strip().casefold())
    name = _OTHER_NAMES.get(name, name)
    return name if name in _ORDER else None


def relations_of(page: PageText) -> list[Written]:
    """The relations that a page writes with a verb, in the order of VERBS; plain links are not among them.

    Under one verb: links of the frontmatter, other names in it, then lines of the body.
    """
    found = [*_property_links(page), *_names(page.frontmatter)]
    if "::" in page.body:
        found += _fields(page)
    found.sort(key=lambda written: _ORDER[written.verb])
    return found


def _property_links(page: PageText) -> Iterator[Written]:
    for order, link in enumerate(page.property_links, start=len(page.read.links)):
        key, _, below = link.property.partition(".")
        name = below.partition(".")[0] if key.lower() == RELATIONS else key
        verb = verb_of(name)
        target = storable(link.target)
        if verb:
            yield Written(verb, target, order)
        elif key.lower() == RELATIONS:
            yield Written(RELATED, target, order, storable(name))


def _names(frontmatter: Mapping[str, Any]) -> Iterator[Written]:
    """Names of other pages that are no links, by the names of their properties."""
    for key in sorted(frontmatter):
        value = frontmatter[key]
        if key.lower() == RELATIONS and isinstance(value, Mapping):
            for name in sorted(value):
                verb = verb_of(name)
                yield from _plain(verb or RELATED, value[name], "" if verb else storable(name))
        elif verb := verb_of(key):
            yield from _plain(verb, value, "")


def _plain(verb: str, value: Any, as_written: str) -> Iterator[Written]:
    for item in value if isinstance(value, list) else [value]:
        text = " ".join(storable(text_of(item)).split())
        if text and not (text.startswith("[[") and text.endswith("]]")):
            yield Written(verb, text, None, as_written)


def _fields(page: PageText) -> Iterator[Written]:
    """The links of the body's lines that begin with a verb and ``::``; of one in brackets the first."""
    body, links = page.body, page.read.links
    starts = [link.start for link in links]
    fields = list(_FIELD.finditer(body))
    for field, following in zip_longest(fields, fields[1:]):
        verb, end = verb_of(field[2]), following.start() if following else len(body)
        read, at = field.end(), bisect_left(starts, field.end())
        while verb and at < len(links) and starts[at] < end and "\n" not in body[read : starts[at]]:
            yield Written(verb, links[at].target, at)
            if field[1]:
                break
            read, at = starts[at], at + 1
