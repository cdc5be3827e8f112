"""Who decides in these tests."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.conftest import VaultFolder


@pytest.fixture
def boss(vault_folder: VaultFolder) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client
