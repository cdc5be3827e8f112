"""Pages as atoms: what is kept of each, at which lengths, and how they are read and found."""
