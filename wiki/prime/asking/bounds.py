"""How much may be asked for, and what is taken where nothing is said. Light to load: doors name these at start."""

from __future__ import annotations

from typing import Final

from wiki.models import PageType
from wiki.prime.atoms.pagetext import NO_TYPE

#: Tokens that one answer may have; what is asked for beyond is clamped.
MAX_BUDGET: Final = 25_000
#: Tokens of prime_query.
DEFAULT_BUDGET: Final = 1_200
#: Tokens of prime_resolve.
DEFAULT_TOKENS: Final = 1_500
#: The kinds of atom: the five types, and ``page`` for those that have none.
KINDS: Final = (*PageType.values, NO_TYPE)
