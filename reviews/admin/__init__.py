"""The review desk: where a person looks through the queue and decides.

It holds no rules: what can be decided is the table's to say (:mod:`reviews.actions`), and what happens then is done by
:mod:`reviews.services`. Nothing is changed but by a POST.
"""

from __future__ import annotations

from reviews.admin import items, runs, sources

__all__ = ["items", "runs", "sources"]
