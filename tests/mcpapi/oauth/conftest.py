from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User

from tests.mcpapi.oauth.flow import Agent, DjangoBrowser

PASSWORD = "a-long-password"


@pytest.fixture(autouse=True)
def fast_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def reader(db) -> User:
    """Somebody with an account and no more."""
    return User.objects.create_user("rita", password=PASSWORD)


@pytest.fixture
def editor(db) -> User:
    """Staff who may change pages and decide reviews."""
    user = User.objects.create_user("ed", password=PASSWORD, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["change_page", "change_reviewitem"]))
    return user


@pytest.fixture
def agent() -> Agent:
    """A client of this process, not registered yet."""
    return Agent(DjangoBrowser())
