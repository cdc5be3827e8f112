"""A vault with a few pages, people who may and may not, and a way to draw a text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from desk.rendering import Rendered, draw
from tests.conftest import VaultFolder
from vault.pages import parse_page
from wiki.sync import scan


@pytest.fixture
def boss(db: None) -> Client:
    """A person who may do everything, signed in."""
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


@pytest.fixture
def reader(db: None) -> Client:
    """A person of the staff who may read and change nothing."""
    client = Client()
    client.force_login(User.objects.create_user("reader", is_staff=True))
    return client


@pytest.fixture
def wiki(vault_folder: VaultFolder, db: None) -> VaultFolder:
    """A scanned vault: two pages of one name, one that is linked to, a picture, a source."""
    vault_folder.write(
        "notes/Alan.md", "---\ntitle: Alan Turing\naliases: [AMT]\n---\n# Life\nBorn.\n\n## Work\nMachines. ^m\n"
    )
    vault_folder.write("a/Twin.md", "one\n")
    vault_folder.write("b/Twin.md", "two\n")
    vault_folder.write("pictures/plan.png", b"\x89PNG\r\n\x1a\n")
    vault_folder.write("pictures/plan.svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    vault_folder.write("raw/sources/paper.md", "The *paper*.\n")
    scan()
    return vault_folder


@pytest.fixture
def drawn(wiki: VaultFolder) -> Callable[[str], Rendered]:
    """Draw a text as the body of ``notes/Page.md``."""
    return lambda text: draw(parse_page("notes/Page.md", text.encode()))
