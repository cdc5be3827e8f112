"""Ranked context within a token budget: pages as atoms, each at three lengths, without a model and a network."""
