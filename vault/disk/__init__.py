"""Opening what lies below the root, and nothing else: confined paths, reading, walking, the .synapse folder."""
