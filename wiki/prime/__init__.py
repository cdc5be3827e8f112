"""Ranked context within a token budget: pages as atoms, each at three lengths, without a model and a network.

Five questions: what is there for this (:func:`query`), what does this brief ask for (:func:`intent`), which context
serves it (:func:`resolve`), does this text keep to it (:func:`validate`), what atom does this source make
(:func:`compile_source`).
"""
