"""The admin: what a person sees of the index, and where tokens and accounts are made and taken back.

It holds no rules: rows of the index are shown as they are, tokens are made and revoked by :mod:`wiki.tokens`.
"""

from __future__ import annotations

from wiki.admin import accounts, embedding, files, links, pages, records, tokens

__all__ = ["accounts", "embedding", "files", "links", "pages", "records", "tokens"]
