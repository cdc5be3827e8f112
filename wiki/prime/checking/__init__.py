"""Checks: a text against the atoms it was made from, and a source as the atom it would be."""
