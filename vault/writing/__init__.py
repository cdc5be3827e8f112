"""The steps of a write: exchange, place, record, recover.

:mod:`vault.writer` and :mod:`vault.history` put them together.
"""
