"""Rules: the one writer of review items, and the reads of them."""
