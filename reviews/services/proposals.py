"""What agents file: checked item by item, so that one mistake hides no other item."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from django.conf import settings

from reviews.models import ItemType, Origin
from reviews.services.bases import keep_bases
from reviews.services.creating import check_can_be_written
from reviews.services.filing import file
from reviews.services.findings import MAX_QUERIES, MAX_QUERY, MAX_RATIONALE, MAX_REFERENCES, Finding
from reviews.services.rules import as_id, check_writes_allowed
from reviews.services.stubs import standing_page
from vault.errors import ErrorCode, SynapseError
from vault.frontmatter import check_characters
from vault.history import Author
from vault.links import text_key
from vault.paths import is_allowed
from wiki.models import Page, PageType
from wiki.services import page_by_id, page_by_title
from wiki.services.rules import check_text, clean_title
from wiki.sync.values import MAX_TITLE as PAGE_TITLE

MAX_ITEMS: Final = 20
MAX_TITLE: Final = 200
#: The rule under which agents file.
RULE: Final = "agent"
#: Where its items stand in lists by rank: above what scans find of a page or a few, below writes that wait.
RANK: Final = 500
FIELDS: Final = (
    "item_type",
    "title",
    "rationale",
    "page",
    "proposed_title",
    "proposed_page_type",
    "proposed_frontmatter",
    "proposed_body",
    "base_hash",
    "referenced_pages",
    "search_queries",
)
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HASH: Final = re.compile("[0-9a-fA-F]{64}")
#: Longest text that names a page, and how much of an unknown key is shown.
_PAGE_NAME: Final = 1_000
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Parsed:
    """The items that can be filed, each with its place in the list, and the refusals: {index, error, error_code, …}."""

    findings: list[tuple[int, Finding]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)


def propose(*, items: Sequence[object], author: Author) -> dict[str, Any]:
    """File what an agent proposes: ``result`` says what became of each item, in the order given.

    An entry holds ``index``, ``outcome`` (filed, refreshed, unchanged, refused) and ``id``; a refused one also
    ``error`` and ``error_code``, and the ``id`` only where the question was decided before. ``filed``, ``refreshed``,
    ``unchanged`` and ``refused`` count them.

    Raises ``read_only``, ``invalid_param_type``, ``invalid_param_value`` for none or more than 20 items; then nothing
    was filed.
    """
    check_writes_allowed()
    parsed = parse_items(items, author=author)
    filed = file(findings=[finding for _, finding in parsed.findings], origin=Origin.AGENT, author=author)
    keep_bases([*filed.filed, *filed.refreshed])
    entries = [{"outcome": "refused", **refusal} for refusal in parsed.refused]
    for (index, _), outcome in zip(parsed.findings, filed.outcomes, strict=True):
        entry: dict[str, Any] = {"index": index, "outcome": outcome.what}
        if outcome.item is not None:
            entry |= {"id": str(outcome.item.pk), "status": str(outcome.item.status)}
        if outcome.what == "refused":
            entry |= {"error": outcome.reason, "error_code": ErrorCode.REVIEW_TERMINAL.value}
        entries.append(entry)
    entries.sort(key=lambda entry: entry["index"])
    outcomes = [entry["outcome"] for entry in entries]
    counts = {what: outcomes.count(what) for what in ("filed", "refreshed", "unchanged", "refused")}
    return {"result": entries, **counts}


def parse_items(items: Sequence[object], *, author: Author) -> Parsed:
    """Findings from what an agent sent, and a refusal for each item that is wrong, or that could never be written.

    Raises ``invalid_param_type`` for what is no list, ``invalid_param_value`` for none or more than 20 items.
    """
    if not isinstance(items, list | tuple):
        raise SynapseError(ErrorCode.INVALID_PARAM_TYPE, "items must be a list of objects.")
    if not 1 <= len(items) <= MAX_ITEMS:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"items must hold 1 to {MAX_ITEMS} items a call.", limit=MAX_ITEMS
        )
    parsed = Parsed()
    known: dict[str, Page] = {}
    for index, item in enumerate(items):
        try:
            finding = _finding(item, known)
            check_can_be_written(finding, author=author)
            parsed.findings.append((index, finding))
        except SynapseError as error:
            parsed.refused.append({"index": index, **error.envelope()})
    return parsed


def page_named(text: str) -> Page:
    """The live page that a text names: by its id, its vault path, or its exact title.

    Raises ``page_not_found``, ``ambiguous_title``.
    """
    check_characters(text)
    uid = as_id(text)
    if uid is not None:
        return page_by_id(uid)
    if text.lower().endswith(".md") and is_allowed(text):
        try:
            return page_by_title("", path=text)
        except SynapseError as error:
            if error.code is not ErrorCode.PAGE_NOT_FOUND:
                raise
    return page_by_title(text)


def _finding(item: object, known: dict[str, Page]) -> Finding:
    if not isinstance(item, Mapping):
        raise _wrong_type("An item must be an object.")
    unknown = sorted(_printable(str(name)) for name in item if name not in FIELDS)
    if unknown:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            f"Unknown keys in the item: {', '.join(unknown)[:_SHOWN]}. Known: {', '.join(FIELDS)}.",
        )

    def page(text: str) -> Page:
        if text not in known:
            known[text] = page_named(text)
        return known[text]

    item_type = _choice(item, "item_type", ItemType.values)
    if not item_type:
        raise SynapseError(ErrorCode.MISSING_REQUIRED_PARAMS, "Give item_type and title.", missing=["item_type"])
    title = _line(item, "title", MAX_TITLE)
    if not title:
        raise SynapseError(ErrorCode.MISSING_REQUIRED_PARAMS, "Give item_type and title.", missing=["title"])
    about = _text(item, "page", _PAGE_NAME)
    finding = Finding(
        item_type=item_type,
        rule=RULE,
        target="",
        title=title,
        rationale=_text(item, "rationale", MAX_RATIONALE),
        page=page(about) if about else None,
        proposed_title=clean_title(_line(item, "proposed_title", PAGE_TITLE)),
        proposed_page_type=_choice(item, "proposed_page_type", PageType.values),
        proposed_frontmatter=_frontmatter(item),
        proposed_body=_body(item),
        base_hash=_base_hash(item),
        references=_references(item, page),
        search_queries=_queries(item),
        rank=RANK,
    )
    return _complete(finding)


def _complete(finding: Finding) -> Finding:
    """The finding with its target and its evidence, if its parts go together."""
    if finding.item_type == ItemType.MISSING_PAGE:
        _check_missing(finding)
    if finding.proposed_body is not None and finding.page is None and not finding.proposed_title:
        raise SynapseError(
            ErrorCode.MISSING_REQUIRED_PARAMS,
            "A proposed_body needs the page it is for, or the proposed_title of a new one.",
            missing=["page"],
        )
    if finding.proposed_frontmatter is not None and finding.proposed_body is None and not _names_another(finding):
        raise SynapseError(
            ErrorCode.MISSING_REQUIRED_PARAMS,
            "proposed_frontmatter alone can't be written. Send the body too: proposed_body is the page's whole text "
            "without frontmatter (and base_hash its version), or the text of a new page under proposed_title.",
            missing=["proposed_body"],
        )
    if _is_edit(finding) and finding.page is not None and not finding.base_hash:
        raise SynapseError(
            ErrorCode.BASE_REQUIRED,
            "A proposed_body for a page needs base_hash, the content_hash of the version you have read.",
            content_hash=finding.page.content_hash,
        )
    finding = _based(finding)
    asked = finding.proposed_title if finding.item_type == ItemType.MISSING_PAGE else finding.title
    target = " ".join(text_key(asked).split())
    if finding.item_type != ItemType.MISSING_PAGE and finding.proposed_title:
        target += "\n" + " ".join(text_key(finding.proposed_title).split())
    evidence = [str(page.uid) for page in finding.references]
    if finding.page is not None:
        evidence.append(finding.page.content_hash)
    return replace(finding, target=target, evidence=evidence)


def _check_missing(finding: Finding) -> None:
    """Refuse a missing page without a title, about a page, or that is there."""
    if not finding.proposed_title:
        raise SynapseError(
            ErrorCode.MISSING_REQUIRED_PARAMS,
            "A missing page needs proposed_title, the title it would have.",
            missing=["proposed_title"],
        )
    if finding.page is not None:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "A missing page has no page. Name the pages that ask for it in referenced_pages.",
        )
    standing = standing_page(finding.proposed_title)
    if standing is not None:
        raise SynapseError(
            ErrorCode.CONFLICT,
            f"The page is there already, at {standing.path}. Read it; to change it, file a suggestion about it.",
            title=standing.title,
            path=standing.path,
        )


def _based(finding: Finding) -> Finding:
    """The finding without the version of a page that it proposes no text for; refuses one beside a new page."""
    if not finding.base_hash or _is_edit(finding):
        return finding
    if finding.proposed_body is None:
        return replace(finding, base_hash="")  # or it would look out of date as soon as the page changes
    if finding.page is None:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "A new page has no version that its text is made from. Leave out base_hash, or name the page to change.",
            field="base_hash",
        )
    raise SynapseError(
        ErrorCode.INVALID_PARAM_VALUE,
        "base_hash says that the page shall have this text, proposed_title that another page shall. Leave out "
        "proposed_title to change the page, or base_hash to make a new one.",
        field="proposed_title",
    )


def _is_edit(finding: Finding) -> bool:
    """Whether it proposes another text for the page it is about; a body beside another title is a new page."""
    return finding.page is not None and finding.proposed_body is not None and not _names_another(finding)


def _names_another(finding: Finding) -> bool:
    """Whether its title is that of a new page."""
    return finding.proposed_title not in ("", finding.page.title if finding.page else "")


def _text(item: Mapping[str, Any], name: str, limit: int) -> str:
    """A text of at most ``limit`` characters; "" where it is left out or null."""
    value = item.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong_type(f"{name} must be a text.")
    if len(value) > limit:
        raise _too_long(name, limit)
    check_characters(value)
    return value.strip()


def _line(item: Mapping[str, Any], name: str, limit: int) -> str:
    text = _text(item, name, limit)
    if _CONTROL.search(text):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"{name} must be one line without control characters.", field=name
        )
    return text


def _choice(item: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    value = _text(item, name, _PAGE_NAME)
    if value and value not in known:
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, f"{name} must be one of {', '.join(known)}.", allowed=list(known)
        )
    return value


def _body(item: Mapping[str, Any]) -> str | None:
    value = item.get("proposed_body")
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong_type("proposed_body must be a text.")
    check_text(value)
    return value


def _base_hash(item: Mapping[str, Any]) -> str:
    value = _text(item, "base_hash", _PAGE_NAME)
    if value and not _HASH.fullmatch(value):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE,
            "base_hash is the content_hash of a page, as reading it gave.",
            field="base_hash",
        )
    return value.lower()


def _frontmatter(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Properties made of JSON values alone, no longer than a page."""
    value = item.get("proposed_frontmatter")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise _wrong_type("proposed_frontmatter must be an object.")
    check_characters(value)
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise SynapseError(
            ErrorCode.INVALID_PARAM_VALUE, "proposed_frontmatter may hold JSON values only; NaN and Infinity are none."
        ) from None
    if len(text) > settings.SYNAPSE_MAX_PAGE_BYTES:
        raise _too_long("proposed_frontmatter", settings.SYNAPSE_MAX_PAGE_BYTES)
    stored: dict[str, Any] = json.loads(text)
    return stored


def _references(item: Mapping[str, Any], page: Callable[[str], Page]) -> list[Page]:
    named = _texts(item, "referenced_pages", count=MAX_REFERENCES, limit=_PAGE_NAME)
    found = {one.pk: one for one in (page(text) for text in named)}
    return list(found.values())


def _queries(item: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(_texts(item, "search_queries", count=MAX_QUERIES, limit=MAX_QUERY)))


def _texts(item: Mapping[str, Any], name: str, *, count: int, limit: int) -> list[str]:
    """A list of at most ``count`` texts that are not blank."""
    value = item.get(name)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise _wrong_type(f"{name} must be a list of texts.")
    if len(value) > count:
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"{name} holds at most {count} texts.", limit=count)
    texts = [_line({name: text}, name, limit) if text is not None else "" for text in value]
    if not all(texts):
        raise SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"{name} must hold texts that are not blank.", field=name)
    return texts


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name[:_SHOWN]) or '""'


def _wrong_type(sentence: str) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_PARAM_TYPE, sentence)


def _too_long(name: str, limit: int) -> SynapseError:
    return SynapseError(ErrorCode.INVALID_PARAM_VALUE, f"{name} has at most {limit} characters.", limit=limit)
