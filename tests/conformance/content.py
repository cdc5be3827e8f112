"""What the suite's tools, resources and prompts hold: its own words, and the smallest picture and sound there are."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final

from mcp import types


def _png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + chunk(b"IEND", b"")
    )


def _wav() -> bytes:
    """One sample of silence."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8_000, 16_000, 2, 16)
    data = struct.pack("<4sIh", b"data", 2, 0)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


PNG: Final = base64.b64encode(_png()).decode()
WAV: Final = base64.b64encode(_wav()).decode()
IMAGE: Final = types.ImageContent(data=PNG, mime_type="image/png")
AUDIO: Final = types.AudioContent(data=WAV, mime_type="audio/wav")


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=words))
