"""The embedder of worker processes in tests: writes down what it embeds, and can be held at its gate."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.embedding import Hashed
from tests.services.gate import wait


class Slow(Hashed):
    """Hashed words; after three calls it waits at the gate, if there is one."""

    def embed_passages(self, texts: Sequence[str]) -> Any:
        folder = Path(os.environ["SYNAPSE_TEST_EMBEDDED"])
        with open(folder / "embedded", "a", encoding="utf-8") as log:
            log.writelines(hashlib.sha256(text.encode()).hexdigest() + "\n" for text in texts)
        made = super().embed_passages(texts)
        if os.environ.get("SYNAPSE_TEST_GATE") == "embedder" and len(self.passages) > 12:
            wait(Path(os.environ["SYNAPSE_TEST_GATE_FOLDER"]))
        return made


def load() -> Slow:
    return Slow()
