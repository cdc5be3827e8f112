"""Fields of a body that the service judges, so that what is wrong with them is told alike through every door."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty


class _AsGiven(serializers.Field[Any, Any, Any, Any]):
    """A field that hands on whatever JSON value it gets; only that it is there is seen to here."""

    def run_validation(self, data: Any = empty) -> Any:
        """The value as it is."""
        return super().run_validation(data) if data is empty else data


class Choice(_AsGiven, serializers.ChoiceField):
    """One of some words: an action, or a status."""


class Ids(_AsGiven, serializers.ListField):
    """Ids of items, at most 200 as given; one that is no id at all is answered as one that is not found."""


class Objects(_AsGiven, serializers.ListField):
    """Objects, each with its own answer."""
