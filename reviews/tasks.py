"""What the review queue does in the background."""
