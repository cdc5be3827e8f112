"""Doors for people: each view asks a service and shows its answer. They hold no rules."""
