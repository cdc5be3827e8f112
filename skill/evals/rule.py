"""The trigger rule of the skill, as a careful reader of its description would apply it; no model, no network.

It stands in for a model where none can be asked: a test runs it over all labelled prompts. The phrases that start the
skill and those that must not are taken from the description itself, so a phrase that is dropped there fails here.
In this order:

1. "my wiki", in an own language's form, starts it (yes), unless the next words say whose it is, or that it is kept
   elsewhere ("my wiki at work", "my wiki on Notion").
2. Somebody else's wiki, and notes, files or documents, do not (no).
3. The name Synapse beside a word of another thing of that name does not (no); beside one of wiki work it does (yes).
4. The name alone, or "the wiki" without a word whose, may be either (ask).
5. Everything else does not (no).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

import yaml

Decision = Literal["yes", "no", "ask"]

SKILL: Final = Path(__file__).resolve().parent.parent / "synapse-wiki" / "SKILL.md"

# How the possessive of each quoted phrase bends, and what may stand between it and the noun.
_FORMS: Final = {
    "my": r"my",
    "mio": r"mi[oa]",
    "mein": r"mein(?:e[mnrs]?)?",
    "mon": r"mon",
    "mi": r"mi",
}
_BETWEEN: Final = r"(?: (?:own|personal|private|eigene[mnrs]?|Synapse))?"
_AT_WORK: Final = r"(?! (?:at work|at my company|aziendale|der Firma|d'entreprise|de l'entreprise|de la empresa)\b)"
_ELSEWHERE: Final = r"(?! (?:on|in|at|su|auf|bei|sur|dans|en) (?:Confluence|Notion|GitHub|Fandom)\b)"

_NOT_OWN: Final = re.compile(
    r"wikipedia|fandom|confluence|\b(?:company|team|project|game|our|notre|nos|nostr[oa]|unser\w*)\b|aziendale|firmenwiki"
    r"|projekt-?wiki|team-?wiki|entreprise",
    re.IGNORECASE,
)
_OTHER_THING: Final = re.compile(
    r"azure|databricks|spark|matrix|homeserver|razer|neuro[nts]|brain|cervello|gehirn|cerveau|cortex|sinaps"
    r"|synaps(?:es|en|tic)\b|(?-i:\b(?:a|each|une) synapse\b)|glutamat|dopamin|axon|dendrit",
    re.IGNORECASE,
)
_WORK_OF_A_WIKI: Final = re.compile(
    r"\b(?:wiki|vault|pages?|sources?|review|revues?|ingest|pagin[ae]|font[ei]|revision[ei]|seiten?|quellen?|review-queue)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"\bSynapse\b")
_MAYBE: Final = re.compile(r"\bsynapse\b|\b(?:the|this|il|la|nel|nella|das|dem|im|le|ce|el) wiki\b", re.IGNORECASE)


def description() -> str:
    """What a client shows a model of the skill before it has decided to read it."""
    front = SKILL.read_text(encoding="utf-8").split("---\n")[1]
    return str(yaml.safe_load(front)["description"])


def phrases(text: str) -> tuple[list[str], list[str]]:
    """The quoted phrases of a description: those that start the skill, and those that must not."""
    starting, _, rest = text.partition("Do NOT use for")
    return re.findall(r'"([^"]+)"', starting), re.findall(r'"([^"]+)"', rest)


def decide(prompt: str, text: str | None = None) -> Decision:
    """Should the skill start for this prompt, by a description (the skill's own unless given)?"""
    starting, _ = phrases(description() if text is None else text)
    said = prompt.replace("’", "'")
    if _own_wiki(starting).search(said):
        return "yes"
    if _NOT_OWN.search(said):
        return "no"
    if "Synapse" in starting and _NAME.search(said):
        if _OTHER_THING.search(said):
            return "no"
        return "yes" if _WORK_OF_A_WIKI.search(_NAME.sub("", said)) else "ask"
    return "ask" if _MAYBE.search(said) and not _OTHER_THING.search(said) else "no"


def _own_wiki(starting: list[str]) -> re.Pattern[str]:
    owners = [phrase.split()[-2] for phrase in starting if phrase.lower().endswith(" wiki")]
    forms = "|".join(_FORMS.get(owner, re.escape(owner)) for owner in owners)
    return re.compile(rf"\b(?:{forms or '(?!)'}){_BETWEEN} wikis?\b{_AT_WORK}{_ELSEWHERE}", re.IGNORECASE)
