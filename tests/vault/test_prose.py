"""What of a note is prose: where a reader could put a link."""

from __future__ import annotations

import random

import pytest

from vault.markdown import HIDDEN, parse_body, prose

NAME = "Alan Turing"

SEEN = {
    "plain": "He met Alan Turing there.",
    "emphasis": "He met **Alan Turing** and *Alan Turing*.",
    "list": "- Alan Turing\n- [x] Alan Turing\n1. Alan Turing",
    "continued item": "- an item\n\n    Alan Turing goes on in it",
    "quote": "> Alan Turing said so",
    "callout": "> [!note] Alan Turing",
    "table": "| who | when |\n|---|---|\n| Alan Turing | 1936 |",
    "brackets that are no link": "as in [Alan Turing] and (Alan Turing)",
    "open code": "a ` and then Alan Turing",
    "money": "It cost $5, and Alan Turing had $6.",
    "less than": "a < b, Alan Turing, c > d",
    "a footnote's text": "[^1]: Alan Turing wrote it",
    "escaped": r"\[\[Alan Turing\]\]",
    "unclosed link element": 'an <a href="x"> and Alan Turing',
    "after a rule": "Text\n\n---\n\nAlan Turing",
    "percents": "5 % of 6 %, says Alan Turing, 7 %",
}
NOT_SEEN = {
    "wikilink": "[[Alan Turing]]",
    "alias": "[[turing|Alan Turing]]",
    "embed": "![[Alan Turing]]",
    "link": "[Alan Turing](turing.md)",
    "link to elsewhere": "[about Alan Turing](https://example.org/turing)",
    "picture": "![Alan Turing](turing.png)",
    "link in a table": "| [[turing\\|Alan Turing]] | x |\n|---|---|\n| a | b |",
    "reference": "[Alan Turing][1] and [Alan Turing][]",
    "definition": "[1]: https://example.org Alan Turing",
    "code": "`Alan Turing`",
    "two backticks": "``a ` Alan Turing``",
    "fence": "```\nAlan Turing\n```",
    "tildes": "~~~ python\nAlan Turing\n~~~",
    "fence in a list": "- item\n  ```\n  Alan Turing\n  ```",
    "indented code": "Text\n\n    Alan Turing\n",
    "mathematics": "$Alan Turing$",
    "displayed mathematics": "$$\nAlan Turing\n$$",
    "html comment": "a <!-- Alan Turing --> b",
    "comment": "a %%Alan Turing%% b",
    "comment of several lines": "%%\nAlan Turing\n%%",
    "heading": "## Alan Turing",
    "heading in a quote": "> # Alan Turing",
    "underlined": "Alan Turing\n===",
    "attribute": '<img alt="Alan Turing">',
    "link element": '<a href="x">Alan Turing</a>',
    "code element": "<pre>\nAlan Turing\n</pre>",
    "script": "<SCRIPT>var x = 'Alan Turing'</SCRIPT>",
    "autolink": "<https://example.org/Alan Turing>",
}


@pytest.mark.parametrize("case", SEEN)
def test_what_is_prose(case: str) -> None:
    assert prose(SEEN[case]).count(NAME) == SEEN[case].count(NAME)


@pytest.mark.parametrize("case", NOT_SEEN)
def test_what_is_no_prose(case: str) -> None:
    hidden = prose(NOT_SEEN[case])
    assert NAME not in hidden
    assert len(hidden) == len(NOT_SEEN[case])


@pytest.mark.parametrize("word", ["example.org", "turing", "me@"])
def test_addresses_are_hidden(word: str) -> None:
    text = "see https://example.org/turing?q=turing, www.example.org/turing or write to me@example.org now"
    assert word not in prose(text)
    assert prose(text).endswith(" now")


def test_tags_are_hidden() -> None:
    assert "turing" not in prose("about #turing and #people/turing")


def pieces(chance: random.Random) -> str:
    parts = [
        *SEEN.values(),
        *NOT_SEEN.values(),
        "\n",
        "\n\n",
        "\r\n",
        "`",
        "$",
        "%%",
        "[[",
        "]]",
        "<",
        "<!--",
        "é漢\u0301",
    ]
    return chance.choice(["", "\n\n"]).join(chance.choices(parts, k=chance.randint(1, 12)))


def test_offsets_hold_and_links_are_hidden_in_any_mixture() -> None:
    chance = random.Random(7)
    for _ in range(400):
        text = pieces(chance)
        hidden = prose(text)
        assert len(hidden) == len(text)
        plain = text.replace("\r\n", " \n").replace("\r", "\n")
        assert all(seen in (HIDDEN, " ", written) for seen, written in zip(hidden, plain, strict=True))
        for link in parse_body(text).links:
            assert set(hidden[link.start : link.end]) <= {HIDDEN}, (text, link)
