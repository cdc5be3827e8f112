"""Where vectors are searched."""
