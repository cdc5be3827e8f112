"""Where a person reads what the rooms below the desk show: they ask their rows, and know nothing of the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import reverse

if TYPE_CHECKING:
    from wiki.models import File, Page


def of_page(page: Page) -> str:
    """The page in the reader; "" when its file is gone (``Page.get_absolute_url``, by ABSOLUTE_URL_OVERRIDES)."""
    return "" if page.deleted_at is not None else reverse("desk:page", kwargs={"path": page.path})


def of_file(file: File) -> str:
    """The file at the desk, with the pages that rest on it; "" when it is gone."""
    return "" if file.deleted_at is not None else reverse("desk:page", kwargs={"path": file.path})
