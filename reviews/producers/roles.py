"""Pages that serve a vault instead of saying something: what no person expects to be linked, merged or mentioned.

A README is found by its folder and a daily note by its date; a template is there to be copied. All of it is told by
path, title and frontmatter alone. The tables are data: a name that is missing makes a finding too many, one too many
hides one.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, Final

_TEMPLATES: Final = """
    template templates _template _templates templater vorlage vorlagen modèle modèles plantilla plantillas modelo
    modelos modello modelli sjabloon sjablonen szablon szablony шаблон шаблоны テンプレート 模板 템플릿
"""
_ENTRIES: Final = """
    readme index _index home startpage welcome contents toc log changelog contributing contributors license licence
    copying code_of_conduct
"""
#: Folders whose pages are templates, and files that are one, casefolded.
TEMPLATES: Final = frozenset(_TEMPLATES.split())
#: Files that a folder, a repository or a person starts from, casefolded and without what tells their language.
ENTRIES: Final = frozenset(_ENTRIES.split())
#: What the frontmatter's ``type`` calls a page that people or agents work with instead of reading it.
TOOLS: Final = frozenset({"template", "rule", "rules", "prompt", "skill", "command", "instruction", "instructions"})

#: Pages that several rules ask about in one look.
_PATHS_KEPT: Final = 32_768

_MONTHS: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_PERIOD: Final = re.compile(
    rf"""
      (?:19|20)\d\d (?: [-_.]? (?:0[1-9]|1[0-2]) (?: [-_.]? [0-3]\d )? | [-_ ]? [wq]\d{{1,2}} )?  # 2024-05-17, 2024-W20
      (?: [ ,_-]+ (?:mon|tue|wed|thu|fri|sat|sun)[a-z]* )?
    | [0-3]?\d [-_.] [01]?\d [-_.] (?:19|20)\d\d                                                  # 17.05.2024
    | (?:{_MONTHS}) [ ] (?: [0-3]?\d (?:st|nd|rd|th)? ,? [ ] )? (?:19|20)\d\d                      # May 17th, 2024
    | [0-3]?\d [.]? [ ] (?:{_MONTHS}) [ ] (?:19|20)\d\d
    | (?:19|20)\d\d 年 (?: \d{{1,2}} 月 (?: \d{{1,2}} 日 )? )?
    | (?:19|20)\d\d 년 (?: [ ]? \d{{1,2}} 월 (?: [ ]? \d{{1,2}} 일 )? )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LANGUAGE: Final = re.compile(r"[._-][a-z]{2}(?:[-_][a-z]{2,4})?\Z")


def stem(path: str) -> str:
    """The name of a page's file, without folders and without ``.md``."""
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


def folder(path: str) -> str:
    """The folder of a page's file; "" at the root."""
    return path.rpartition("/")[0]


def is_template(path: str) -> bool:
    """Whether the page is there to be copied: it lies in a folder for templates, or is called one."""
    *folders, name = _folded(path).split("/")
    return stem(name) in TEMPLATES or not TEMPLATES.isdisjoint(folders)


def is_periodic(path: str, title: str = "") -> bool:
    """Whether the page is the note of a day, a week, a month, a quarter or a year."""
    return bool(_PERIOD.fullmatch(stem(path)) or _PERIOD.fullmatch(title))


def is_entry(path: str) -> bool:
    """Whether one starts at the page: a README, an index (``README.fr`` too), or what bears its folder's name."""
    parent, _, name = _folded(path).rpartition("/")
    name = stem(name)
    return name in ENTRIES or _LANGUAGE.sub("", name) in ENTRIES or name == parent.rpartition("/")[2]


def is_tag_listing(path: str) -> bool:
    """Whether the page stands for a tag, as publishing tools have them below ``tags/``."""
    return _folded(path).startswith("tags/")


def is_tool(frontmatter: dict[str, Any]) -> bool:
    """Whether the frontmatter's ``type`` says that the page is worked with instead of read."""
    kind = frontmatter.get("type")
    return isinstance(kind, str) and kind.casefold() in TOOLS


@lru_cache(maxsize=_PATHS_KEPT)
def serves(path: str, title: str = "") -> bool:
    """Whether the page is a template, an entry, the listing of a tag or a periodic note."""
    return is_template(path) or is_entry(path) or is_tag_listing(path) or is_periodic(path, title)


def _folded(path: str) -> str:
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
