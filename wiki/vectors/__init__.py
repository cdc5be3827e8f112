"""Vectors of passages: how pages are cut, who embeds them, and where vectors are found again."""

import os

# numpy reads this when it is first imported. A product of 30,000 vectors takes one thread 2 ms; two that wait for each
# other on a busy machine take four times as much of the processor, and longer.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
