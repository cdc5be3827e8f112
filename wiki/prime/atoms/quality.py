"""How well a page is kept, from what can be told without reading it: the share of checks that it passes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from vault.frontmatter import text_of
from vault.links import text_key
from vault.markdown.text import count_words
from wiki.prime.atoms.pagetext import NO_TYPE, PageText

#: Shorter descriptions say too little, in characters.
SHORT: Final = 20
_PLACEHOLDERS: Final = ("TODO", "TBD", "orem ipsum")


class Check(NamedTuple):
    """One check. ``layer`` is L1 (the form) or L2 (what it says); ``hint`` is what to do when it fails."""

    name: str
    layer: str
    passes: Callable[[PageText], bool]
    message: str
    hint: str


def _repeats_title(page: PageText) -> bool:
    return text_key(page.description).rstrip(".") == text_key(page.title)


def _is_long_enough(page: PageText) -> bool:
    """A description in a script without spaces says in one character what others say in two or three."""
    text = page.description
    return len(text) >= SHORT or (not text.isascii() and count_words(text) >= SHORT // 3)


def _says_more(page: PageText) -> bool:
    return page.read.words > count_words(page.description)


#: All checks, in the order in which failures are told.
CHECKS: Final[tuple[Check, ...]] = (
    Check(
        "frontmatter",
        "L1",
        lambda page: not page.flags,
        "The file can't be read as it is meant.",
        "Mend what its flags say.",
    ),
    Check(
        "title",
        "L1",
        lambda page: bool(text_of(page.frontmatter.get("title")).strip()),
        "It has no title of its own.",
        "Give it `title:` in the frontmatter.",
    ),
    Check(
        "type",
        "L1",
        lambda page: page.kind != NO_TYPE,
        "It is none of the five types.",
        "Give it `type:` entity, concept, source, synthesis or comparison.",
    ),
    Check(
        "sources",
        "L1",
        lambda page: bool(page.sources),
        "It names no source.",
        "List in `sources:` where its statements come from.",
    ),
    Check("lang", "L1", lambda page: bool(page.lang), "It names no language.", "Give it `lang:`, such as en."),
    Check("body", "L1", lambda page: page.read.words > 0, "It has no text.", "Write what there is to say."),
    Check(
        "description",
        "L2",
        lambda page: bool(page.description),
        "Nothing says in a sentence what it is about.",
        "Give it `description:`, or begin its text with a sentence.",
    ),
    Check(
        "description-repeats-title",
        "L2",
        lambda page: not _repeats_title(page),
        "Its description only repeats its title.",
        "Say what the title does not.",
    ),
    Check(
        "description-short",
        "L2",
        _is_long_enough,
        "Its description says too little.",
        f"Say in {SHORT} characters or more what it is about.",
    ),
    Check(
        "body-repeats-description",
        "L2",
        _says_more,
        "Its text says no more than its description.",
        "Write more than the description, or leave the description out.",
    ),
    Check(
        "tags",
        "L2",
        lambda page: len(page.tags) > 1,
        "It has fewer than two tags.",
        "Give it tags under which it is looked for.",
    ),
    Check(
        "placeholder",
        "L2",
        lambda page: not any(word in page.body for word in _PLACEHOLDERS),
        "It holds text that waits to be written.",
        "Write what stands for TODO or TBD.",
    ),
)


def failed_checks(page: PageText) -> list[str]:
    """The names of the checks that a page fails, in the order of CHECKS."""
    return [check.name for check in CHECKS if not check.passes(page)]


def quality_of(failed: Collection[str]) -> float:
    """The share of CHECKS that was passed, 0 to 1, in three digits."""
    return round(1 - len(failed) / len(CHECKS), 3)
