"""The edges between pages: their weights, kept incrementally, and what lies around a page."""

from wiki.graph.edges import recompute_edges
from wiki.graph.neighborhood import near_pages, neighborhood
from wiki.graph.settle import settle_edges

__all__ = ["near_pages", "neighborhood", "recompute_edges", "settle_edges"]
