"""How a log line looks: one event is one line of JSON, without secrets, exception texts or absolute paths."""

from __future__ import annotations

import json
import logging
import re
import traceback
from datetime import UTC, datetime
from typing import Any

_MAX_MESSAGE = 2_000
# A bearer token, a token of ours, or the password of a URL, wherever it stands in a message.
_SECRETS = re.compile(
    r"(?i)(?P<bearer>bearer\s+)[^\s\"']+"
    r"|(?P<own>syn_)[A-Za-z0-9_-]{8,}"
    r"|(?P<url>[a-z][a-z0-9+.-]{0,30}://[^\s/@:]*:)[^\s/@]+(?=@)"  # bounded, or a long word costs the square
    r"|(?P<query>[?&](?:(?:access_|refresh_)?token|key|code|code_verifier|client_secret)=)[^\s&\"']+"
)
_ABSOLUTE_PATH = re.compile(r"(?<![\w:/.])/(?:[^\s/'\"<>]+/)+(?P<name>[^\s/'\"<>]*)")
_PREFIX = {"bearer", "own", "url", "query"}


def redact(message: str) -> str:
    """The message with tokens and passwords replaced by ``***``."""
    return _SECRETS.sub(lambda found: next(found[name] for name in _PREFIX if found[name]) + "***", message)


def _where(record: logging.LogRecord) -> dict[str, Any]:
    """The type of the exception and the project's own frames, without its text, which may quote a file."""
    kind, _, trace = record.exc_info or (None, None, None)
    frames = traceback.extract_tb(trace)[-8:]
    return {
        "exception": kind.__name__ if kind else None,
        "frames": ["/".join(frame.filename.split("/")[-2:]) + f":{frame.lineno}" for frame in frames],
    }


class AsWarning(logging.Filter):
    """For what strangers cause: told, but as no failure of this server, and without a stack."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Make a warning of the record, and let it pass where warnings do."""
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        record.exc_info = record.exc_text = None
        return logging.getLogger(record.name).isEnabledFor(logging.WARNING)


class JsonLineFormatter(logging.Formatter):
    """A record as one JSON object on one line: time, level, logger, message, reason, and where an exception was."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; control characters of the message are escaped by JSON, so a message can't forge a second event."""
        message = redact(record.getMessage())[:_MAX_MESSAGE]
        if record.name.startswith(("django", "asyncio", "uvicorn", "mcp", "py.warnings", "celery", "kombu")):
            message = _ABSOLUTE_PATH.sub(r"…/\g<name>", message) if record.name != "django.request" else message
        event: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
        }
        if reason := getattr(record, "reason", None):
            event["reason"] = redact(str(reason))[:_MAX_MESSAGE]
        if record.exc_info:
            event.update(_where(record))
        return json.dumps(event, ensure_ascii=True)
