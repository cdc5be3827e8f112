"""What a person opens in a browser beside the admin: front page, reader, search, history, drafts, map."""
