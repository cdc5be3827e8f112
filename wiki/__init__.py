"""The index of the vault: models, the scan, the one write path, search, graph, and their doors."""
