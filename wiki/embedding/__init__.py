"""From pages to vectors: what waits, a batch at a time, in the background."""
