"""The review queue: what agents and scans think a person should decide, and the one writer of those decisions."""
