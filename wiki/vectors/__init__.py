"""Vectors of passages: how pages are cut, who embeds them, and where vectors are found again."""
