"""What a page says it has to do with others, beyond linking to them: by verbs, in its frontmatter and in its text.

Written as ``requires: [[X]]`` in the frontmatter, as an entry of a ``relations:`` mapping, or as a line
``requires:: [[X]]`` of the body. Any other link is ``related``; a source that is a page is ``derived-from``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from wiki.prime.pagetext import PageText

RELATED: Final = "related"
DERIVED: Final = "derived-from"
REQUIRES: Final = "requires"
CONFLICTS: Final = "conflicts"
SUPERSEDES: Final = "supersedes"
SUPERSEDED_BY: Final = "superseded-by"

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


def verb_of(key: str) -> str | None:
    """The verb that a property or inline field stands for; None when it is none."""
    raise NotImplementedError


def relations_of(page: PageText) -> list[Written]:
    """The relations that a page writes with a verb, in the order of VERBS; plain links are not among them."""
    raise NotImplementedError
