"""Sign-in for agents: OAuth 2.1 for /mcp and nothing else, on django-oauth-toolkit.

The toolkit keeps clients, codes and tokens and speaks the protocol. Here is what this server adds: its own addresses
are the only resource a token can be for, scopes are never more than the person still has, and what strangers may
cause is bounded.
"""
