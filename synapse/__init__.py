"""The composition root: settings, urls, asgi, and the commands that start and examine the whole."""

__version__ = "0.1.0"
