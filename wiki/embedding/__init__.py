"""From pages to vectors: what waits, a batch at a time, in the background.

:class:`~wiki.embedding.thread.EmbedThread` does it in ``serve``; a scan by itself embeds nothing.
"""
