"""Django's SQLite, with a turn for each process that wants to write."""
