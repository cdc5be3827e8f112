"""Edges between pages, kept incrementally and only ever read at look-up."""
