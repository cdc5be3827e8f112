"""Fields of a JSON body: each takes its own JSON type and nothing that could be turned into it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class Text(serializers.CharField):
    """A JSON string, kept as it is; whether it may be empty is for the service to say."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **options)

    def to_internal_value(self, data: Any) -> str:
        """The string; a number or a boolean is not one."""
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class VaultPath(Text):
    """A path in the vault; the vault's own rules judge it, so that a bad one answers alike through every door."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = []  # those of a text speak of its characters, before anybody knows that it is a path


class Whole(serializers.IntegerField):
    """A JSON number without a fraction."""

    def to_internal_value(self, data: Any) -> int:
        """The number, also when written 5.0; a string of digits or a boolean is not one."""
        if isinstance(data, float) and data.is_integer():
            return int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class Flag(serializers.BooleanField):
    """``true`` or ``false``."""

    def to_internal_value(self, data: Any) -> bool:
        """The boolean; "yes" or 1 is not one."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data
