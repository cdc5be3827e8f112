"""The tools' handlers: each takes validated arguments, calls one service or read, and shapes the answer."""
