"""Questions: a brief understood, atoms ranked for it, and a budget filled by what must be there."""
