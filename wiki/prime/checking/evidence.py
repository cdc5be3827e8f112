"""A text that was made from atoms, beside the texts of these atoms: what a validator looks at."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vault.frontmatter import Loaded, Split, load, split
from vault.markdown import ParsedBody, ParsedLink, parse_body, prose
from wiki.candidates import Candidates
from wiki.prime.asking.contracts import Demands
from wiki.prime.asking.phrases import PhraseTable, Word, normalised, words_of
from wiki.prime.atoms.reading import Atom, AtomIndex, Relation, relations
from wiki.prime.domains import Domain

_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the text and where it begins. ``borrowed``: it stands so in the atoms, and is not the author's."""

    text: str
    start: int
    borrowed: bool


@dataclass
class Evidence:
    """The text, the atoms it was made from and all that validators ask of both. Each part is made when asked for.

    ``given`` are the names as the caller gave them, ``atoms`` those that there are, ``texts`` their full levels.
    """

    artifact: str
    given: Sequence[str]
    atoms: Sequence[Atom]
    texts: Mapping[int, str]
    summaries: Mapping[int, str]
    index: AtomIndex
    domain: Domain
    demands: Demands

    @cached_property
    def parts(self) -> Split:
        """Frontmatter and body."""
        return split(self.artifact)

    @property
    def is_page(self) -> bool:
        """Whether the text is a whole page, with frontmatter."""
        return self.parts.raw is not None

    @cached_property
    def properties(self) -> Loaded:
        """The frontmatter as read."""
        return load(self.parts.raw or "")

    @cached_property
    def body(self) -> ParsedBody:
        """The body as read; offsets are into ``parts.body``."""
        return parse_body(self.parts.body)

    @cached_property
    def prose(self) -> str:
        """The body with all but prose hidden; it is as long as the body."""
        return prose(self.parts.body)

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of the body."""
        given = (*self.texts.values(), *self.summaries.values())  # a summary may end within a line of the whole
        theirs = {_plain(line) for text in given for line in text.splitlines()}
        found, at = [], 0
        for raw in self.parts.body.split("\n"):
            plain = _plain(raw)
            found.append(Line(raw, at, bool(plain) and plain in theirs))
            at += len(raw) + 1
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.lines]

    def line_at(self, offset: int) -> Line:
        """The line of the body that holds this place."""
        return self.lines[max(0, bisect_right(self._starts, offset) - 1)]

    def own_links(self) -> Iterator[ParsedLink]:
        """The links that the author set, not those of borrowed lines."""
        return (link for link in self.body.links if not self.line_at(link.start).borrowed)

    @cached_property
    def all_words(self) -> str:
        """The words of the atoms, one blank between, for whole phrases to be looked for."""
        return " " + " ".join(word.text for text in self.texts.values() for word in words_of(normalised(text))) + " "

    @cached_property
    def words(self) -> list[Word]:
        """The words of the whole text."""
        return words_of(normalised(self.artifact))

    @cached_property
    def mentioned(self) -> set[int]:
        """The atoms that the text names: by a link, an id, a title or an alias."""
        names = ((name, atom.pk) for atom in self._concerned for name in (atom.title, *atom.aliases))
        found = {pk for match in PhraseTable(names).find(self.words) for pk in match.values}
        found |= {atom.pk for atom in self._concerned if atom.id in self.artifact}
        targets = {link.target for link in self.body.links}
        return found | {atom.pk for target in targets for atom in self.index.named(target.partition("#")[0])}

    @cached_property
    def _concerned(self) -> list[Atom]:
        demanded = [one.atom for one in (*self.demands.include.values(), *self.demands.avoid.values()) if one.atom]
        return list(dict.fromkeys([*self.atoms, *demanded]))

    @cached_property
    def relations(self) -> dict[int, list[Relation]]:
        """The relations of the atoms."""
        return relations([atom.pk for atom in self.atoms])

    @cached_property
    def candidates(self) -> Candidates:
        """What the links of the text can lead to."""
        found = Candidates()
        found.load({link.target for link in self.body.links})
        return found


def _plain(line: str) -> str:
    """A line as it is compared: its words, whatever stands in front to make it a quotation or an item."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", line.strip().lstrip(">-*+ \t"))).strip()


def shown(text: str, most: int = 80) -> str:
    """A piece of the caller's own text, short enough for a message."""
    line = _BLANKS.sub(" ", text).strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
