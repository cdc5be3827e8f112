"""Each change of a page that the services make: prepared by its function, and returned as what is to be done.

Django must be set up before one is called; no test's fixtures are needed, so that processes of their own can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

END = "\n<!-- the end -->\n"
GIVEN = {"type": "concept", "sources": ["raw/sources/a.md"], "lang": "en"}


def body(number: int, links: str = "") -> str:
    return f"Text {number}, about {links or 'nothing'}.\n" * 30 + END


def author() -> Any:
    from vault.history import Author

    return Author("claude", "mcp-stdio")


def person() -> Any:
    from vault.history import Author

    return Author("user:alice", "rest")


def write(title: str, number: int, links: str = "", **options: Any) -> Any:
    from wiki.services import write_page

    given = {**GIVEN, "title": title}
    return write_page(title=title, content=body(number, links), frontmatter=given, author=author(), **options)


def page(title: str, number: int = 0) -> Any:
    """The live page of a title; made if there is none."""
    from wiki.models import Page

    found = Page.objects.live().filter(title=title).first()
    if found is None:
        write(title, number)
        found = Page.objects.live().get(title=title)
    return found


def standing(title: str) -> str:
    """The hash of a page's file."""
    from vault.current import current_vault

    return current_vault().read(page(title).path).content_hash


def change_write(number: int) -> Callable[[], Any]:
    base = standing("Target")
    return lambda: write("Target", number, "[[Other]]", base_hash=base)


def change_create(number: int) -> Callable[[], Any]:
    return lambda: write(f"New {number}", number, "[[Target]]")


def change_edit(number: int) -> Callable[[], Any]:
    from wiki.services import put_page

    edited, base = page("Target"), standing("Target")
    text = f"---\ntitle: Target\ntype: concept\nlang: en\nsources: [a]\n---\n{body(number)}"
    return lambda: put_page(page=edited, text=text, base_hash=base, author=person())


def change_delete(number: int) -> Callable[[], Any]:
    from wiki.services import page_delete

    doomed, base = page("Doomed", number), standing("Doomed")
    return lambda: page_delete(page=doomed, base_hash=base, author=author())


def change_move(number: int) -> Callable[[], Any]:
    from wiki.services import page_move

    moving = page("Moving")
    path = f"wiki/moved/place-{number}.md"
    return lambda: page_move(page=moving, path=path, author=author())


def change_retitle(number: int) -> Callable[[], Any]:
    from wiki.models import Page
    from wiki.services import page_retitle

    named = Page.objects.live().filter(title__startswith="Named ").first() or page("Named 0")
    for title in ("Linking one", "Linking two"):
        write(title, number, f"[[{named.title}]]", base_hash=standing(title))
    base = standing(named.title)
    return lambda: page_retitle(page=named, title=f"Named {number}", rename=True, base_hash=base, author=author())


def change_restore(number: int) -> Callable[[], Any]:
    from wiki.services import page_restore

    write("Target", number, base_hash=standing("Target"))
    restored, base = page("Target"), standing("Target")
    return lambda: page_restore(page=restored, version=1, base_hash=base, author=person())


def change_bring_back(number: int) -> Callable[[], Any]:
    from wiki.models import Page
    from wiki.services import page_delete, page_history, page_restore

    gone = page("Gone", number)
    page_delete(page=gone, base_hash=standing("Gone"), author=author())
    gone = Page.objects.get(uid=gone.uid)
    version = page_history(gone)[0]["number"]
    return lambda: page_restore(page=gone, version=version, author=person())


def change_draft(number: int) -> Callable[[], Any]:
    from vault import drafts
    from vault.current import current_vault
    from wiki.services import draft_apply

    base = standing("Target")
    text = f"---\ntitle: Target\ntype: concept\nlang: en\nsources: [a]\n---\n{body(number)}"
    path = page("Target").path
    kept = drafts.keep(
        current_vault(), path=path, data=text.encode(), author=author(), reason="stale_base", base_hash=base
    )
    return lambda: draft_apply(draft_id=kept, author=person())


def change_review(number: int) -> Callable[[], Any]:
    from reviews.services import resolve
    from reviews.services.staging import stage_write

    title = f"New staged {number}"
    item = stage_write(title=title, content=body(number), frontmatter={**GIVEN, "title": title}, author=author())
    return lambda: resolve(item_id=str(item.pk), action="create", author=person())


def change_catalog(number: int) -> Callable[[], Any]:
    from wiki.services.catalog import write_index

    write(f"New listed {number}", number)
    return write_index


CHANGES = {name.removeprefix("change_"): made for name, made in list(globals().items()) if name.startswith("change_")}
