"""The one search."""
