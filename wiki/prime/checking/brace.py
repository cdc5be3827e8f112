"""The brace form of an atom: ``kind Name { id: "@scope/kind-name" version: "1.0.0" … contract { … } }``.

Read in one pass, linear in the length of the text. What cannot be read is a :class:`Fault` with its line, and reading
goes on at the next ``key:``, so that one look shows every mistake.

Values: ``"text"``, ``\"\"\"text over lines\"\"\"``, a ``|`` block of lines that stand further right than their key,
numbers (with a unit they are text, as are ranges like ``1..5``, versions and dates), ``true`` and ``false``, bare
words, references ``@scope/id``, ``[lists]``, ``{objects}``, and alternatives ``a | b``, which are a list. Commas are
optional. ``//`` and ``/* */`` are comments.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

MAX_DEPTH: Final = 32
MAX_FAULTS: Final = 100

_TOKEN: Final = re.compile(
    r"""
      (?P<blank>[ \t\r\n\f\v\u00a0\ufeff,;]++ | //[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/)
    | (?P<open_comment>/\*(?:[^*]++|\*(?!/))*+\Z)
    | \"\"\"(?P<long>(?:[^"]++|"(?!""))*+)\"\"\"
    | "(?P<text>(?:[^"\\\n]++|\\.)*+)"
    | (?P<block>\|[-+]?[ \t]*+(?=\r?\n))
    | (?P<ref>@[\w.-]++/[\w./-]++)
    | (?P<number>[-+]?\d[\w.%+-]*+)
    | (?P<word>[^\W\d][\w.-]*+)
    | (?P<mark>[{}\[\]:|=])
    | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_ESCAPE: Final = re.compile(r"\\(.)")
_PLAIN: Final = re.compile(r"[-+]?[0-9]{1,300}(?:\.[0-9]{1,300})?")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOSES: Final = {"{": "}", "[": "]"}


class Fault(NamedTuple):
    """What can't be read, in which line (from 1), and what to do."""

    line: int
    message: str
    hint: str


class Entry(NamedTuple):
    """A field of the atom and the line of its key. Objects inside are plain dicts."""

    value: Any
    line: int


@dataclass(slots=True)
class Source:
    """One atom as written. ``kind`` and ``name`` are empty where they can't be read."""

    kind: str = ""
    name: str = ""
    parent: str = ""
    """What it ``extends``."""
    line: int = 1
    fields: dict[str, Entry] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def value(self, *names: str) -> Any:
        """The value of the first of these fields that is there, else None."""
        return next((self.fields[name].value for name in names if name in self.fields), None)

    def line_of(self, *names: str) -> int:
        """The line of the first of these fields that is there, else that of the atom."""
        return next((self.fields[name].line for name in names if name in self.fields), self.line)


def read_atom(text: str) -> Source:
    """The atom of a source; never raises for what the text holds."""
    found = _Reader(text).atom()
    found.faults.sort(key=lambda fault: fault.line)
    return found


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    start: int


_END: Final = "end"


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._found = Source()
        self._tokens = self._scan()
        self._at = 0

    def atom(self) -> Source:
        found = self._found
        head = self._take()
        found.line = head.line
        if head.kind != "word":
            self._fault(head, "An atom begins with its kind and name", 'Write: rule MyName { id: "@wiki/…" … }')
        else:
            found.kind = head.text
            if self._peek().kind == "word":
                found.name = self._take().text
            else:
                self._fault(head, "The atom has no name", f"Write: {head.text} MyName {{ … }}")
            if self._peek().text == "extends" and self._peek().kind == "word":
                self._take()
                found.parent = self._take().text
                if found.kind == "prime":  # the older form: prime Contrast extends Rule { … }
                    found.kind = "-".join(_HUMP.split(found.parent)).lower()
        while not self._is("{") and self._peek().kind != _END:
            self._take()
        if self._peek().kind == _END:
            self._fault(head, "The atom has no braces", "Put its fields between { and }.")
            return found
        self._take()
        found.fields = self._fields(1)
        rest = self._peek()
        if rest.kind != _END:
            self._fault(rest, "There is more after the atom", "One source holds one atom: put the other in its own.")
        return found

    def _fields(self, depth: int) -> dict[str, Entry]:
        """The fields up to the closing brace, which is taken too."""
        found: dict[str, Entry] = {}
        while True:
            token = self._take()
            if token.kind == _END:
                self._fault(token, "A brace is not closed", "Add the missing }.")
                return found
            if token.kind == "mark" and token.text == "}":
                return found
            if token.kind not in ("word", "text", "ref"):
                self._fault(token, "A field begins with its name", "Write: name: value")
                self._skip_to_field()
                continue
            if self._is(":") or self._is("="):
                self._take()
            elif not self._is("{"):  # `contract { … }` needs no colon
                self._fault(token, f"The field {_shown(token.text)} has no value", "Write: name: value")
                self._skip_to_field()
                continue
            if token.text in found:
                self._fault(token, f"The field {_shown(token.text)} is there twice", "Keep one of them.")
            value = self._alternatives(token, depth)
            if value is not None:
                found.setdefault(token.text, Entry(value, token.line))

    def _alternatives(self, key: _Token, depth: int) -> Any:
        first = self._value(key, depth)
        if not self._is("|"):
            return first
        values = [first]
        while self._is("|"):
            self._take()
            values.append(self._value(key, depth))
        return [value for value in values if value is not None]

    def _value(self, key: _Token, depth: int) -> Any:
        token = self._peek()
        if token.kind == "mark" and token.text in _CLOSES:
            self._take()
            if depth >= MAX_DEPTH:
                self._fault(token, f"Nested more than {MAX_DEPTH} deep", "Write it flatter.")
                self._skip_over(token)
                return None
            if token.text == "{":
                return {name: entry.value for name, entry in self._fields(depth + 1).items()}
            return self._items(token, depth + 1)
        if token.kind in ("text", "long"):
            self._take()
            return token.text
        if token.kind == "block":
            self._take()
            return token.text
        if token.kind == "number":
            self._take()
            return _number(token.text)
        if token.kind == "word" and not self._is(":", ahead=1):
            self._take()
            return {"true": True, "false": False}.get(token.text, token.text)
        if token.kind == "ref":
            self._take()
            return token.text
        self._fault(key, f"The field {_shown(key.text)} has no value", "Write: name: value")
        return None

    def _items(self, opened: _Token, depth: int) -> list[Any]:
        found: list[Any] = []
        while True:
            token = self._peek()
            named = token.kind == "word" and self._is(":", ahead=1)  # the next field
            if named or token.kind == _END or (token.kind == "mark" and token.text in "}:="):
                self._fault(opened, "A bracket is not closed", "Add the missing ].")
                return found
            if token.kind == "mark" and token.text == "]":
                self._take()
                return found
            if token.kind in ("mark", "stray") and token.text not in _CLOSES:
                self._fault(token, "This is no value of a list", "Put texts between quotes.")
                self._take()
                continue
            value = self._alternatives(token, depth)
            if value is not None:  # else it was nested too deeply
                found.append(value)

    def _skip_to_field(self) -> None:
        """Go on at the next ``name:``, or at the brace that closes."""
        while True:
            token = self._peek()
            if token.kind == _END or (token.kind == "mark" and token.text == "}"):
                return
            if token.kind == "word" and self._is(":", ahead=1):
                return
            self._take()

    def _skip_over(self, opened: _Token) -> None:
        depth = 1
        while depth:
            token = self._take()
            if token.kind == _END:
                self._fault(opened, "A bracket is not closed", f"Add the missing {_CLOSES[opened.text]}.")
                return
            if token.kind == "mark":
                depth += (token.text in "{[") - (token.text in "}]")

    def _is(self, mark: str, *, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return token.kind == "mark" and token.text == mark

    def _peek(self, ahead: int = 0) -> _Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._peek()
        self._at += token.kind != _END
        return token

    def _fault(self, token: _Token, message: str, hint: str) -> None:
        if len(self._found.faults) < MAX_FAULTS:  # a text in another form is a mistake at every character
            self._found.faults.append(Fault(token.line, message + ".", hint))

    def _scan(self) -> list[_Token]:
        found: list[_Token] = []
        at, line, text = 0, 1, self._text
        while at < len(text):
            match = _TOKEN.match(text, at)
            assert match is not None  # noqa: S101  (the last alternative takes any character)
            kind, end = str(match.lastgroup), match.end()
            value = match[kind]
            if kind == "block":
                value, end = self._block(at, end)
                # A bar between values is no block: only behind a colon is it one.
                if not (found and found[-1].kind == "mark" and found[-1].text in ":="):
                    kind, value, end = "mark", "|", at + 1
            elif kind == "text":
                value = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), value)
            token = _Token(kind, value, line, at)
            if kind == "open_comment":
                self._fault(token, "A comment is not closed", "Add the missing */.")
            elif kind == "stray":
                unclosed = value == '"'
                self._fault(
                    token,
                    "A text is not closed" if unclosed else "This character is not understood",
                    'Close it with ", in the same line.' if unclosed else 'Put the text between double quotes: "…".',
                )
                if unclosed:
                    end = _line_end(text, at)
            elif kind != "blank":
                found.append(token)
            line += text.count("\n", at, end)
            at = end
        found.append(_Token(_END, "", line, len(text)))
        return found

    def _block(self, bar: int, start: int) -> tuple[str, int]:
        """The lines below a ``|`` that stand further right than the line it is in, and where they end."""
        text = self._text
        margin = _indent(text, text.rfind("\n", 0, bar) + 1)
        lines: list[str] = []
        at = _line_end(text, start) + 1
        while at < len(text):
            end = _line_end(text, at)
            line = text[at:end].rstrip()
            if line and _indent(text, at) <= margin:
                break
            lines.append(line)
            at = end + 1
        depth = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
        return "\n".join(line[depth:] for line in lines).strip("\n"), min(at, len(text))


def _indent(text: str, at: int) -> int:
    end = at
    while end < len(text) and text[end] in " \t":
        end += 1
    return end - at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _number(text: str) -> int | float | str:
    """A number, or the text where it is none: a range, a version, a date, a number with its unit."""
    if not _PLAIN.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return number if math.isfinite(number) else text


def _shown(name: str) -> str:
    return name[:40]
