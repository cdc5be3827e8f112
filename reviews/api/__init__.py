"""REST: the queue and research."""
