"""News for whoever stands above this room; it never knows who listens.

A receiver runs after the transaction that it is told about, in the process that did the work. One that fails
is logged and stops nobody.
"""

from __future__ import annotations

from django.dispatch import Signal

#: Sent by each service that changed a page: ``page`` (wiki.models.Page), ``action`` (write, delete, move, …),
#: ``created`` (bool), ``author`` (vault.history.Author).
page_written = Signal()

#: Sent after each scan that ran to its end: ``report`` (wiki.sync.ScanReport).
rescan_finished = Signal()

#: Sent when the database is given to another vault, inside that transaction: what others keep about the old vault's
#: pages goes with them, or nothing does. Unlike for the others, a receiver that fails undoes it all.
vault_replaced = Signal()
