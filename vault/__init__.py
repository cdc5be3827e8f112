"""The disk: everything that opens, reads, checks or writes a file of the vault. No models."""
