"""Reading the vault into the index."""
