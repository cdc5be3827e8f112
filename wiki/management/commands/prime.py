"""``manage.py prime``: ranked context, a brief's intent, and checks of texts and sources, from a terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from vault.errors import ErrorCode, SynapseError
from wiki.management.base import SynapseCommand
from wiki.management.commands.search import printable
from wiki.prime.asking.bounds import DEFAULT_BUDGET, DEFAULT_TOKENS, KINDS, MAX_BUDGET
from wiki.prime.asking.intent import intent
from wiki.prime.asking.query import query
from wiki.prime.asking.resolve import resolve
from wiki.prime.atoms.levels import Level
from wiki.prime.checking.compile import compile_source
from wiki.prime.checking.validate import validate

_FILE = "a file, or - for standard input"


class Command(SynapseCommand):
    help = "Give ranked context within a budget of tokens, and hold texts against the pages they were made from."

    def add_arguments(self, parser: CommandParser) -> None:
        """One sub-command a question."""
        asked = parser.add_subparsers(dest="question", required=True, metavar="QUESTION")
        one = asked.add_parser("query", help="the pages that serve a question best")
        one.add_argument("words", nargs="*", help="what it is about; the same as --scope focus:WORDS")
        one.add_argument("--scope", help="axis:value, as in type:concept, path:wiki/, page:TITLE, focus:WORDS")
        one.add_argument("--tag", action="append", default=[], help="must be there; may be repeated")
        one.add_argument("--level", default="core", choices=[str(level) for level in Level])
        one.add_argument(
            "--budget",
            type=int,
            default=DEFAULT_BUDGET,
            help=f"tokens, 1 to {MAX_BUDGET:,} (default: {DEFAULT_BUDGET:,})",
        )
        one.add_argument("--kind", action="append", choices=KINDS, help="only this kind; may be repeated")
        one.add_argument("--exclude", action="append", default=[], help="an atom to leave out; may be repeated")
        one.add_argument("--text", action="store_true", help="print the words too")
        two = asked.add_parser("resolve", help="the context for a brief, with its contract")
        two.add_argument("brief", nargs="+", help="what is to be done")
        two.add_argument(
            "--max-tokens", type=int, default=DEFAULT_TOKENS, help=f"1 to {MAX_BUDGET:,} (default: {DEFAULT_TOKENS:,})"
        )
        two.add_argument("--domain")
        two.add_argument("--text", action="store_true", help="print the words too")
        three = asked.add_parser("intent", help="what a brief asks for")
        three.add_argument("brief", nargs="+", help="what is to be done")
        three.add_argument("--domain")
        four = asked.add_parser("validate", help="hold a text against the atoms it was made from")
        four.add_argument("artifact", help=_FILE)
        four.add_argument("--atom", action="append", default=[], help="id, title, alias or path; may be repeated")
        four.add_argument("--validator", action="append", help="only this one; may be repeated")
        five = asked.add_parser("compile", help="what atom a source makes; nothing is written")
        five.add_argument("source", help=_FILE)
        five.add_argument("--deep", action="store_true", help="look at what it says, too")
        for each in (one, two, three, four, five):
            each.add_argument("--json", action="store_true", help="print one JSON document")

    def run(self, **options: Any) -> None:
        """Ask, and print the answer. Ends with exit code 1 where a text or a source has an error."""
        question = options["question"]
        answer: dict[str, Any] = getattr(self, f"_{question}")(options)
        if options["json"]:
            self.print_json(answer)
        else:
            getattr(self, f"_print_{question}")(answer)
        if answer.get("ok") is False:
            self.stdout.flush()
            raise SystemExit(1)

    def _query(self, options: dict[str, Any]) -> dict[str, Any]:
        words = " ".join(options["words"])
        if words and options["scope"]:
            raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, "Give words or --scope, not both.", param="scope")
        return query(
            scope=f"focus:{words}" if words else options["scope"],
            tags=options["tag"],
            level=options["level"],
            budget_tokens=options["budget"],
            kinds=options["kind"],
            exclude_ids=options["exclude"],
            include_text=options["text"],
        )

    def _resolve(self, options: dict[str, Any]) -> dict[str, Any]:
        return resolve(
            brief=" ".join(options["brief"]),
            max_tokens=options["max_tokens"],
            domain=options["domain"],
            include_text=options["text"],
        )

    def _intent(self, options: dict[str, Any]) -> dict[str, Any]:
        return intent(brief=" ".join(options["brief"]), domain=options["domain"])

    def _validate(self, options: dict[str, Any]) -> dict[str, Any]:
        return validate(artifact=_read(options["artifact"]), atom_set=options["atom"], validators=options["validator"])

    def _compile(self, options: dict[str, Any]) -> dict[str, Any]:
        return compile_source(source=_read(options["source"]), deep=options["deep"])

    def _print_query(self, answer: dict[str, Any]) -> None:
        for hit in answer["hits"]:
            self.stdout.write(f"{hit['tokens']:>6}  {printable(hit['id'])}  ({hit['level']})")
            self.stdout.write(f"        {printable(hit['explanation'])}")
            for line in hit.get("text", "").splitlines():
                self.stdout.write(f"        | {printable(line)}")
        if not answer["hits"]:
            self.stdout.write("No page fits.")
        self.stdout.write(f"{answer['total_tokens']:>6}  tokens in all")
        for one in answer["omitted"]:
            self.stdout.write(f"        left out: {printable(one['id'])}, {one['reason']}")

    def _print_resolve(self, answer: dict[str, Any]) -> None:
        self._print_intent(answer["intent"])
        self.stdout.write("")
        self._print_query(answer)
        for name in ("must_include", "must_avoid"):
            for what in answer["contract"][name]:
                self.stdout.write(f"{name.replace('_', ' ')}: {printable(what)}")
        for one in answer["contract"]["unmet"]:
            self.stdout.write(f"not met: {printable(one['name'])}, {one['reason']}")
        for one in answer["conflicts"]:
            self.stdout.write(f"conflict: {printable(one['name'])}, kept {one['kept']}, dropped {one['dropped']}")

    def _print_intent(self, answer: dict[str, Any]) -> None:
        for name, value in answer.items():
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            if isinstance(shown, dict):
                shown = ", ".join(f"{key}: {one}" for key, one in shown.items())
            if shown not in ("", None):
                self.stdout.write(f"{name}: {printable(str(shown))}")

    def _print_validate(self, answer: dict[str, Any]) -> None:
        for fix in answer["fixes"]:
            self.stdout.write(f"{fix['severity']}  {fix['validator']}: {printable(fix['message'])}")
            if "suggestion" in fix:
                self.stdout.write(f"        {printable(fix['suggestion'])}")
        self.stdout.write("The text is fine." if answer["ok"] else "The text has errors.")

    def _print_compile(self, answer: dict[str, Any]) -> None:
        for one in answer["diagnostics"]:
            place = f"{one['source']['file']}:{one['source']['line']}"
            self.stdout.write(f"{printable(place)}: {one['level']} ({one['layer']}) {printable(one['message'])}")
            if "hint" in one:
                self.stdout.write(f"        {printable(one['hint'])}")
        compiled = answer["compiled"]
        if compiled is None:
            self.stdout.write("It does not compile.")
            return
        atom = compiled["atom_yaml"]
        costs = ", ".join(f"{level} {atom['tokens'][level]}" for level in Level)
        self.stdout.write(f"{printable(atom['id'])}: {costs} tokens, quality {atom['quality']['overall']}")


def _read(name: str) -> str:
    """The text of a file that the person names; what is not UTF-8 becomes U+FFFD."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "This file can't be read. Name one that is there, or - for standard input."
        ) from None
    return data.decode("utf-8", "replace")
