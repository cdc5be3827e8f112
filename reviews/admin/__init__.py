"""The review queue in the admin."""
