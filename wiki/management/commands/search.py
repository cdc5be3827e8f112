"""``manage.py search``: find pages from a terminal, or make the words index anew."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from django.core.management.base import CommandParser
from django.utils.dateparse import parse_date, parse_datetime

from vault.errors import ErrorCode, SynapseError
from wiki.management.base import SynapseCommand
from wiki.models import PageType
from wiki.search import MOST_SHOWN, SearchAnswer, search
from wiki.search.answer import HYBRID, LEXICAL, SEMANTIC
from wiki.search.rebuild import rebuild_words

#: What the modes of an answer are called for people.
SEARCHED_BY: Final = {HYBRID: "words and meaning", LEXICAL: "words alone", SEMANTIC: "meaning alone"}


class Command(SynapseCommand):
    help = "Find pages by words and meaning. Every word counts as a word: there is no query syntax."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("query", nargs="*", help="what to look for")
        parser.add_argument("-k", type=int, default=8, help="how many pages at most, 1 to 50 (default: 8)")
        add_filters(parser)
        parser.add_argument("--as-you-type", action="store_true", help="the last word is not ended yet: words alone")
        parser.add_argument("--rebuild", action="store_true", help="make the words index anew from the files, first")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def run(self, **options: Any) -> None:
        """Rebuild if asked to; search if there is a query."""
        if not options["query"] and not options["rebuild"]:
            raise SynapseError(
                ErrorCode.MISSING_REQUIRED_PARAMS, "Say what to look for: manage.py search WORDS.", parameter="query"
            )
        pages = rebuild_words() if options["rebuild"] else None
        if not options["query"]:
            self._say_rebuilt(pages, as_json=options["json"])
            return
        answer = search(
            " ".join(options["query"]),
            k=shown_at_most(options["k"]) or 8,
            prefix=options["as_you_type"],
            **filters(options),
        )
        if options["json"]:
            self.print_json(answer.as_dict())
        else:
            self._print(answer, filtered=any(filters(options).values()))

    def _say_rebuilt(self, pages: int | None, *, as_json: bool) -> None:
        if as_json:
            self.print_json({"indexed": pages})
        else:
            self.stdout.write(f"The words of {pages:,} page{'' if pages == 1 else 's'} are indexed.")

    def _print(self, answer: SearchAnswer, *, filtered: bool) -> None:
        """A table for people: score, title, path; below it the reason and the passage."""
        if answer.degraded:
            self.stderr.write(" ".join(answer.degraded.values()))
        elif not answer.hits:
            some = "No page among those that the options name" if filtered else "No page"
            self.stdout.write(f"{some} has any of these words.")
        else:
            self.stdout.write(f"Searched by {SEARCHED_BY[answer.mode]}.")
        width = min(50, max((len(hit.page.title) for hit in answer.hits), default=0))
        for number, hit in enumerate(answer.hits, 1):
            title, path = printable(hit.page.title), printable(hit.page.path)
            self.stdout.write(f"{number:>3}  {hit.score:.2f}  {title:<{width}}  {path}")
            self.stdout.write(f"           {hit.why}")
            if hit.snippet:
                self.stdout.write(f"           {hit.snippet}")


def add_filters(parser: CommandParser) -> None:
    """The options that say among which pages to look."""
    parser.add_argument("--type", action="append", choices=PageType.values, help="only this type; may be repeated")
    parser.add_argument("--tag", default="", help="only pages with this tag or one nested in it")
    parser.add_argument("--prefix", default="", help="only pages whose path begins so, e.g. wiki/concepts/")
    parser.add_argument("--lang", default="", help="only pages in this language, e.g. it")
    parser.add_argument("--since", default="", help="only pages changed since this date or time (UTC)")


def shown_at_most(k: int | None) -> int | None:
    """``-k`` as every door clamps it; None for what is left to the preset."""
    return None if k is None else max(1, min(k, MOST_SHOWN))


def filters(options: dict[str, Any]) -> dict[str, Any]:
    """Those options as the arguments of a search."""
    return {
        "types": options["type"],
        "tag": options["tag"],
        "path_prefix": options["prefix"],
        "lang": options["lang"],
        "updated_since": moment(options["since"]),
    }


def printable(text: str) -> str:
    """The text without characters that would steer the terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def moment(text: str) -> datetime | None:
    """The date or time that ``--since`` names, UTC unless it says otherwise; None for "".

    Raises SynapseError invalid_param_value for anything else.
    """
    if not text:
        return None
    try:
        day = parse_date(text)
        found = datetime(day.year, day.month, day.day) if day else parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "Give --since as 2027-01-31 or 2027-01-31T18:00.", parameter="since"
        )
    return found if found.tzinfo else found.replace(tzinfo=UTC)
