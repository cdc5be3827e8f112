"""When two titles are the same to a person, and which titles say nothing by themselves."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from wiki.search.text import SYMBOL_NAMES, symbol_token

#: Legal forms that are no part of a name, at the end of it; dots in them don't matter.
LEGAL_FORMS: Final = frozenset({"inc", "ltd", "llc", "gmbh", "corp", "plc", "srl"})
#: Those that are words as well: only in this case, or with dots inside (S.A., s.p.a.).
LEGAL_FORMS_AS_SPELLED: Final = frozenset({"AG", "SA", "SpA", "BV", "Co"})
#: Those that stick to the name, before or behind it.
LEGAL_FORMS_ATTACHED: Final = ("株式会社", "有限会社", "股份有限公司", "有限责任公司", "有限公司", "주식회사")

_SPELLED_WITH_DOTS: Final = frozenset(form.casefold() for form in LEGAL_FORMS_AS_SPELLED)
_DROPPED: Final = re.compile("['’‘ʼ`´＇]")
_DOTS: Final = re.compile(r"(?<=\w)\.(?=[^\W\d])|(?<=[^\W\d])\.")  # Node.js, S.p.A., but not 3.1
_ASCII_PUNCTUATION: Final = re.compile(r"[^\w\s$+<=>^|~]|_")
_LONGEST_KEY: Final = 64
#: Titles that several rules ask about in one look.
_TITLES_KEPT: Final = 32_768


@lru_cache(maxsize=_TITLES_KEPT)
def canonical_title(title: str) -> str:
    """What titles share that a person takes for the same; "" for one without letters, digits or symbols.

    NFKC, casefolded, without punctuation, blanks collapsed, without legal forms at the end (``Acme, Inc.``, ``ACME``:
    acme). Names that live by their signs keep them: C, C++ and C# are three.
    """
    text = title if title.isascii() else unicodedata.normalize("NFKC", title)
    text = _without_legal_form(text)
    if "+" in text or "#" in text or "." in text:
        text = SYMBOL_NAMES.sub(lambda name: f" {symbol_token(name)} ", text)
        text = _DOTS.sub("", text)
    text = _DROPPED.sub("", text.casefold())
    if text.isascii():
        text = _ASCII_PUNCTUATION.sub(" ", text)
    else:
        text = "".join(map(_letter, unicodedata.normalize("NFKC", text)))
    words = text.split()
    while len(words) > 1 and words[-1] in LEGAL_FORMS:  # as in acme-inc
        words.pop()
    return " ".join(words)


def title_key(canonical: str) -> str:
    """The key of a canonical title, at most 64 characters: itself, or the digest of a long one."""
    if len(canonical) < _LONGEST_KEY:
        return canonical
    return blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=_LONGEST_KEY // 2).hexdigest()


def _without_legal_form(text: str) -> str:
    words = text.split()
    while len(words) > 1 and _is_legal_form(words[-1]):
        words.pop()
    name = " ".join(words)
    if not name.isascii():
        for form in LEGAL_FORMS_ATTACHED:
            name = name.removeprefix(form).removesuffix(form).strip() or name
    return name


def _is_legal_form(word: str) -> bool:
    word = word.strip("(),;")
    bare = word.replace(".", "")
    return (
        bare.casefold() in LEGAL_FORMS
        or bare in LEGAL_FORMS_AS_SPELLED
        or ("." in word.rstrip(".") and bare.casefold() in _SPELLED_WITH_DOTS)
    )


def _letter(character: str) -> str:
    """The character, a blank for punctuation, nothing for what is not seen."""
    kind = unicodedata.category(character)
    if kind[0] in "PZ" or kind == "Cc":
        return " "
    return "" if kind == "Cf" or "\ufe00" <= character <= "\ufe0f" else character


_GENERIC: Final = """
    about; abstract; agenda; appendix; background; bibliography; bugs; conclusion; configuration; decisions; draft;
    drafts; examples; faq; further reading; getting started; glossary; goals; home; ideas; inbox; index; installation;
    intro; introduction; journal; links; log; map; meeting; meeting notes; meetings; minutes; new note; next steps;
    note; notes; open questions; outline; overview; people; plan; preface; project; projects; questions; readme;
    reading list;
    references; related work; requirements; research; resources; retrospective; roadmap; scratch; see also; setup;
    sources; spec; state; status; summary; table of contents; tasks; team; timeline; to do; todo; todos; toc;
    troubleshooting; untitled; usage; useful links; weekly review;
    aufgaben; einführung; einleitung; ideen; inhalt; literatur; notizen; offene fragen; protokoll; quellen; unbenannt;
    übersicht; ziele; zusammenfassung;
    idées; introduction; notes de réunion; objectifs; plan; résumé; sans titre; sommaire; tâches;
    ideas; introducción; notas; objetivos; resumen; sin título; tareas; appunti; introduzione; riassunto; senza titolo;
    без названия; введение; задачи; заметки; идеи; итоги; обзор; план; содержание;
    会议记录; 会议纪要; 参考文献; 待办事项; 总结; 未命名; 概述; 目录; 笔记; 简介;
    まとめ; メモ; 概要; 無題のファイル; 議事録; 메모; 무제; 요약; 회의록
"""
#: Canonical titles that say what part of something a page is, and not of what: each folder may have its own.
GENERIC: Final = frozenset(canonical_title(title) for title in _GENERIC.split(";"))
_NUMBERED: Final = re.compile(
    r"(?:(?:act|article|chapter|class|day|episode|exercise|figure|lab|lecture|lesson|module|month|note|page|part|phase|"
    r"question|section|session|sprint|step|unit|untitled|version|volume|week|kapitel|teil|unbenannt|woche|chapitre|"
    r"partie|capítulo|parte|capitolo|глава|часть|урок) )?(?:\d{1,4}|[ivxl]{1,6})"
    r"|第 ?[\d一二三四五六七八九十百]+ ?[章节節課课回话話週周]"
)


def is_generic(canonical: str) -> bool:
    """Whether a canonical title names a part (``notes``, ``chapter 3``) rather than a thing."""
    return canonical in GENERIC or _NUMBERED.fullmatch(canonical) is not None
