"""Everything that changes the vault or what belongs to it, as keyword-only functions."""
