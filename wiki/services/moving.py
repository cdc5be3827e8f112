"""Another path or another title for a page, with the links that would break written anew.

A linking file is changed by the same compare-and-exchange as any page, and only in its links. What can't be changed
is told of, file by file; the page itself has its new name by then.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from vault import drafts, frontmatter, writer
from vault.current import current_vault
from vault.errors import ErrorCode, SynapseError
from vault.history import Author
from vault.paths import check_writable_name, classify, is_reserved
from vault.root import FileRead
from vault.slugs import slugify
from wiki import sync
from wiki.models import Page
from wiki.services import rules
from wiki.services.filing import LOCK_SECONDS, Held, check_may_change, held, looked_at_again, replace
from wiki.services.inbound import Renaming, Rewrite, affected_pages, changed_lines, plan, rewritten, text_of
from wiki.services.merge import existing_properties
from wiki.services.naming import free_name, taken_by
from wiki.services.reading import page_ref, read_page, titled
from wiki.services.recording import Change, PageWritten, record

#: Linking files whose changed lines a preview shows.
MAX_SHOWN: Final = 200
_TRIES: Final = 3
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A page with its new name, and what became of the files that link to it.

    ``files`` are {id, title, path, lines: [{line, before, after}]}, ``failed`` {path, error, error_code}. Of a
    preview nothing has been written.
    """

    page: Page
    path: str
    title: str
    content_hash: str
    preview: bool = False
    files: list[dict[str, Any]] = field(default_factory=list)
    files_total: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """JSON-serialisable, for the doors."""
        return {
            "page": {**page_ref(self.page), "path": self.path, "title": self.title},
            "content_hash": self.content_hash,
            "preview": self.preview,
            "files": self.files,
            "files_total": self.files_total,
            "failed": self.failed,
            "warnings": self.warnings,
        }


def page_move(*, page: Page, path: str, author: Author, base_hash: str | None = None, preview: bool = False) -> Renamed:
    """Give a page another path, which must be free; its id stays, and links that would break are rewritten.

    ``base_hash``, if given, must be the page's. Raises ``path_not_allowed``, ``conflict`` (the path is taken, or the
    base is stale), ``page_not_found``.
    """
    check_may_change(page, author)
    _check_target(path, author)
    renaming = Renaming(page, path, page.title)
    if not renaming.moved:
        return Renamed(page, path, page.title, page.content_hash, preview=preview)
    if page.title == _stem(page.path) and not page.frontmatter.get("title"):
        renaming = Renaming(page, path, unicodedata.normalize("NFC", _stem(path)))
    return _rename(renaming, author, base_hash, preview=preview)


def page_retitle(
    *,
    page: Page,
    title: str,
    author: Author,
    base_hash: str | None = None,
    rename: bool = False,
    preview: bool = False,
) -> Renamed:
    """Give a page another title; with ``rename`` its file gets that title's slug too. Links follow.

    ``preview`` tells which lines of which files would change and writes nothing. The base is checked as for a write.
    Raises ``invalid_frontmatter``, ``conflict`` (the title is taken, or the base is stale), ``base_required``,
    ``path_not_allowed``.
    """
    check_may_change(page, author)
    title = _check_title(title)
    taken = titled(title).exclude(pk=page.pk).first()
    if taken is not None:
        raise taken_by(taken, "Another page has this title.")
    rules.check_new_title(title)
    path = page.path
    if rename:
        wanted = page.path[: page.path.rfind("/") + 1] + f"{slugify(title)}.md"
        path = wanted if wanted == page.path else free_name(wanted, title)
        _check_target(path, author)
    renaming = Renaming(page, path, title, write_title=title != page.title or not page.frontmatter.get("title"))
    return _rename(renaming, author, base_hash, preview=preview)


def _check_title(title: str) -> str:
    title = rules.clean_title(title)
    if not title or _CONTROL.search(title):
        raise SynapseError(
            ErrorCode.INVALID_FRONTMATTER,
            "The title must be text without line breaks and control characters.",
            fields={"title": "Give text on one line."},
        )
    return title


def _check_target(path: str, author: Author) -> None:
    check_writable_name(path)
    in_raw = path.split("/", 1)[0].casefold() == "raw"  # `Raw/` is another folder here, and the same one elsewhere
    if in_raw or is_reserved(path) or classify(path, current_vault().exclude) != "page":
        raise SynapseError(
            ErrorCode.PATH_NOT_ALLOWED, "A page can't be moved there. Give a path outside raw/ that no rule keeps."
        )
    if rules.is_agent(author):
        rules.check_place(path)


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


def _rename(renaming: Renaming, author: Author, base_hash: str | None, *, preview: bool) -> Renamed:
    with _locked(renaming) as now:
        renaming = renaming._replace(page=now.page)
        if base_hash or renaming.write_title:
            rules.check_base(now.page, now.read, base_hash, author=author)
        texts, unreadable = _texts(affected_pages(renaming))
        rewrites = plan(renaming, texts)
        shown = _shown(rewrites, {page.pk: text for page, text in texts}, renaming)
        if preview:
            return Renamed(
                now.page,
                renaming.path,
                renaming.title,
                now.read.content_hash,
                preview=True,
                files=shown[:MAX_SHOWN],
                files_total=len(shown),
                failed=unreadable,
            )
        done = _rename_itself(now, renaming, author)
    failed = [*unreadable, *_rewrite_all(rewrites, renaming, author)]
    refused = {failure["path"] for failure in failed}
    changed = [file for file in shown if file["path"] not in refused]
    page = Page.objects.filter(uid=now.page.uid).first() or done.page
    return Renamed(
        page,
        renaming.path,
        renaming.title,
        page.content_hash,
        files=changed[:MAX_SHOWN],
        files_total=len(changed),
        failed=failed,
        warnings=done.warnings,
    )


@contextmanager
def _locked(renaming: Renaming) -> Iterator[Held]:
    """The locks of a change of name, in the order in which everybody takes them: the title's, then the page's."""
    with ExitStack() as stack:
        if renaming.write_title:
            name = rules.title_lock_name(renaming.title)
            stack.enter_context(current_vault().lock(name, timeout=LOCK_SECONDS))
            taken = titled(renaming.title).exclude(pk=renaming.page.pk).first()
            if taken is not None:
                raise taken_by(taken, "Another page has this title.")
        yield stack.enter_context(held(renaming.page))


def _texts(pages: list[Page]) -> tuple[list[tuple[Page, str]], list[dict[str, Any]]]:
    """The files as text, and those that can't be read, are not UTF-8, or have frontmatter that can't be parsed."""
    texts, failed = [], []
    for page in pages:
        try:
            text = text_of(read_page(page))
            existing_properties(frontmatter.split(text or ""))
        except SynapseError as error:
            failed.append(_failure(page, error))
            continue
        if text is None:
            failed.append(_failure(page, SynapseError(ErrorCode.NOT_A_TEXT_FILE, "The file is not UTF-8.")))
        else:
            texts.append((page, text))
    return texts, failed


def _failure(page: Page, error: SynapseError) -> dict[str, Any]:
    return {"path": page.path, **error.envelope()}


def _shown(rewrites: list[Rewrite], texts: dict[int, str], renaming: Renaming) -> list[dict[str, Any]]:
    """The lines that change, file by file."""
    shown = []
    for rewrite in rewrites:
        before = texts[rewrite.page.pk]
        lines = changed_lines(before, rewritten(before, rewrite.decisions, renaming))
        if lines:
            page = rewrite.page
            shown.append({"id": str(page.uid), "title": page.title, "path": page.path, "lines": lines})
    return shown


def _rename_itself(now: Held, renaming: Renaming, author: Author) -> PageWritten:
    """The page's own title and path, before any link follows."""
    data, done = now.read.data, PageWritten(now.page, now.read.content_hash)
    if renaming.write_title:
        data = frontmatter.update(now.text, {"title": renaming.title}).encode()
        detail = {"title_before": now.page.title, "title": renaming.title}
        done = replace(now, data, author=author, action="retitle", detail=detail)
    if not renaming.moved:
        return done
    with looked_at_again(now.page.path, renaming.path):
        written = writer.move(current_vault(), now.page.path, renaming.path, page_id=now.page.uid, author=author)
    change = Change(
        action="move",
        uid=now.page.uid,
        path=renaming.path,
        author=author,
        written=written,
        before_hash=written.content_hash,
        detail={"path_before": now.page.path},
    )
    same = written.content_hash == done.content_hash
    read = FileRead(data, written.stat, written.content_hash, renaming.path) if same else None

    def index() -> Page:
        return sync.rename_page(done.page, renaming.path, read=read)

    page, warnings = record(change, index, title=renaming.title)
    return PageWritten(page or done.page, written.content_hash, warnings=[*done.warnings, *warnings])


def _rewrite_all(rewrites: list[Rewrite], renaming: Renaming, author: Author) -> list[dict[str, Any]]:
    """Write the linking files anew, one lock at a time; what can't be written is told."""
    failed = []
    for rewrite in rewrites:
        if not any(decision.target or decision.means_page for decision in rewrite.decisions.values()):
            continue
        page = Page.objects.live().filter(uid=rewrite.page.uid).first() or rewrite.page
        try:
            check_may_change(page, author)
            _rewrite(page, rewrite, renaming, author)
        except SynapseError as error:
            failed.append(_failure(page, error))
    return failed


def _rewrite(page: Page, rewrite: Rewrite, renaming: Renaming, author: Author) -> None:
    """Write one file's links. Somebody may save it at the same moment: then their version is taken, and tried again."""
    for attempt in range(1, _TRIES + 1):
        with held(page) as now:
            existing_properties(frontmatter.split(now.text))
            data = rewritten(now.text, rewrite.decisions, renaming).encode()
            try:
                replace(now, data, author=author, action="relink", detail={"page": str(renaming.page.uid)})
            except SynapseError as error:
                draft = error.repair.pop("draft", None)
                if draft:  # the same text with other links: nobody's words are in it
                    drafts.drop_draft(current_vault(), draft)
                if draft is None or attempt == _TRIES:
                    raise
            else:
                return
