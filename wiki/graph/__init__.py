"""The edges between pages: their weights, kept incrementally, and what lies around a page."""

from wiki.graph.edges import recompute_edges
from wiki.graph.neighborhood import neighborhood
from wiki.graph.settle import settle_edges

__all__ = ["neighborhood", "recompute_edges", "settle_edges"]
