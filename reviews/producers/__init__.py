"""What a scan or a write makes worth a decision: deterministic producers, each a pure function of the index."""
