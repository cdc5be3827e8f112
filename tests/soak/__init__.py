"""All of Synapse at work at once for many minutes, with processes killed in between: ``make soak``."""
