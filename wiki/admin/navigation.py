"""The sidebar of the admin: what a person looks for, in the order in which it is needed."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

#: The function, of a room above, that counts the decisions that wait.
_PENDING: Final = "reviews.admin.counts.pending_badge"


def sections(request: HttpRequest) -> list[dict[str, Any]]:
    """The sidebar's sections, for the settings of the theme; of each only what the person may see."""
    broken = request.GET.get("state__exact") == "broken"
    links = request.path.startswith(_address("wiki_link"))
    view = request.GET.get("view", "") if request.path.startswith(_address("reviews_reviewitem")) else None
    item = "reviews.reviewitem"
    found = [
        (
            "Review",
            [
                _item(request, "Inbox", item, active=view in ("", "inbox", "all"), badge=_PENDING),
                _item(request, "Conflicts", item, "?view=conflicts", active=view == "conflicts"),
                _item(request, "Done", item, "?view=done", active=view == "done"),
                _item(request, "Research", "reviews.researchrun"),
            ],
        ),
        (
            "Wiki",
            [
                _item(request, "Pages", "wiki.page"),
                _item(request, "Links", "wiki.link", active=links and not broken),
                _item(request, "Broken links", "wiki.link", "?state__exact=broken", active=links and broken),
                _item(request, "Files and sources", "wiki.file"),
            ],
        ),
        (
            "Operation",
            [
                _item(request, "Audit", "wiki.audit"),
                _item(request, "Tool calls", "mcpapi.toolcall"),
                _item(request, "Jobs", "wiki.job"),
                _item(request, "Embedding", "wiki.embeddingstate"),
                _item(request, "Vault", "wiki.vaultstate"),
            ],
        ),
        (
            "Access",
            [
                _item(request, "Tokens", "wiki.token"),
                _item(request, "Clients (OAuth)", "oauth2_provider.application"),
                _item(request, "Access tokens", "oauth2_provider.accesstoken"),
                _item(request, "Refresh tokens", "oauth2_provider.refreshtoken"),
                _item(request, "Users", "auth.user"),
                _item(request, "Groups", "auth.group"),
            ],
        ),
    ]
    shown = [(title, [item for item in items if item["allowed"]]) for title, items in found]
    return [{"title": title, "separator": True, "items": items} for title, items in shown if items]


def _address(name: str) -> str:
    return reverse(f"admin:{name}_changelist")


def _item(
    request: HttpRequest, title: str, model: str, query: str = "", *, active: bool | None = None, badge: str = ""
) -> dict[str, Any]:
    """One line: ``model`` and ``badge`` (a function of the request that says how many) are names of rooms above too."""
    app, _, name = model.partition(".")
    address = _address(f"{app}_{name}")
    return {
        "title": title,
        "link": address + query,
        "active": request.path.startswith(address) if active is None else active,
        **({"badge": badge, "badge_variant": "primary"} if badge else {}),
        "allowed": request.user.has_perm(f"{app}.view_{name}") or request.user.has_perm(f"{app}.change_{name}"),
    }
