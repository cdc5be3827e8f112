"""The closed error catalog: every error that Synapse shows, through any door.

One code belongs to one HTTP status. A door (REST, MCP, a command) turns a
:class:`SynapseError` into its envelope and adds nothing; what is not a
SynapseError reaches the outside only as ``internal_error``.

Source: the table in docs/errors.md, which a test compares with this module.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final


class ErrorCode(StrEnum):
    """Machine-readable names of what can go wrong. Closed: a code is never invented at the place of use."""

    # 400: the request is not well formed
    MISSING_REQUIRED_PARAMS = "missing_required_params"
    INVALID_PARAM_TYPE = "invalid_param_type"
    INVALID_PARAM_VALUE = "invalid_param_value"
    INVALID_SCOPE = "invalid_scope"
    INVALID_LEVEL = "invalid_level"
    INVALID_CURSOR = "invalid_cursor"
    MALFORMED_BODY = "malformed_body"
    # 401, 403: who is asking, and may they
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    WRITE_DISABLED = "write_disabled"
    READ_ONLY = "read_only"
    PATH_NOT_ALLOWED = "path_not_allowed"
    # 404, 410: what is named is not there
    PAGE_NOT_FOUND = "page_not_found"
    SOURCE_NOT_FOUND = "source_not_found"
    REVIEW_NOT_FOUND = "review_not_found"
    NOT_FOUND = "not_found"
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_ATOM = "unknown_atom"
    UNKNOWN_DOMAIN = "unknown_domain"
    UNKNOWN_VALIDATOR = "unknown_validator"
    TOOL_REMOVED = "tool_removed"
    # 405, 406, 413, 415: the form of the request
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    NOT_A_FILE = "not_a_file"
    NOT_A_TEXT_FILE = "not_a_text_file"
    PAYLOAD_TOO_LARGE = "payload_too_large"
    # 409, 412, 428: the state of the vault
    CONFLICT = "conflict"
    AMBIGUOUS_TITLE = "ambiguous_title"
    REVIEW_TERMINAL = "review_terminal"
    NOT_DOWNLOADED = "not_downloaded"
    STALE_BASE = "stale_base"
    BASE_REQUIRED = "base_required"
    # 422: well formed, but it can't be done
    INVALID_ACTION = "invalid_action"
    ACTION_NOT_SUPPORTED = "action_not_supported"
    INVALID_FRONTMATTER = "invalid_frontmatter"
    INVALID_CONTENT = "invalid_content"
    TOO_MANY_IDS = "too_many_ids"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    # 429, 5xx: not now
    RATE_LIMITED = "rate_limited"
    SEARCH_UNAVAILABLE = "search_unavailable"
    DEPENDENCY_MISSING = "dependency_missing"
    TOOL_TIMEOUT = "tool_timeout"
    STORAGE_ERROR = "storage_error"
    INTERNAL_ERROR = "internal_error"


HTTP_STATUS: Final[dict[ErrorCode, int]] = {
    ErrorCode.MISSING_REQUIRED_PARAMS: 400,
    ErrorCode.INVALID_PARAM_TYPE: 400,
    ErrorCode.INVALID_PARAM_VALUE: 400,
    ErrorCode.INVALID_SCOPE: 400,
    ErrorCode.INVALID_LEVEL: 400,
    ErrorCode.INVALID_CURSOR: 400,
    ErrorCode.MALFORMED_BODY: 400,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.WRITE_DISABLED: 403,
    ErrorCode.READ_ONLY: 403,
    ErrorCode.PATH_NOT_ALLOWED: 403,
    ErrorCode.PAGE_NOT_FOUND: 404,
    ErrorCode.SOURCE_NOT_FOUND: 404,
    ErrorCode.REVIEW_NOT_FOUND: 404,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.UNKNOWN_TOOL: 404,
    ErrorCode.UNKNOWN_ATOM: 404,
    ErrorCode.UNKNOWN_DOMAIN: 404,
    ErrorCode.UNKNOWN_VALIDATOR: 404,
    ErrorCode.TOOL_REMOVED: 410,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.NOT_ACCEPTABLE: 406,
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.NOT_A_FILE: 415,
    ErrorCode.NOT_A_TEXT_FILE: 415,
    ErrorCode.PAYLOAD_TOO_LARGE: 413,
    ErrorCode.CONFLICT: 409,
    ErrorCode.AMBIGUOUS_TITLE: 409,
    ErrorCode.REVIEW_TERMINAL: 409,
    ErrorCode.NOT_DOWNLOADED: 409,
    ErrorCode.STALE_BASE: 412,
    ErrorCode.BASE_REQUIRED: 428,
    ErrorCode.INVALID_ACTION: 422,
    ErrorCode.ACTION_NOT_SUPPORTED: 422,
    ErrorCode.INVALID_FRONTMATTER: 422,
    ErrorCode.INVALID_CONTENT: 422,
    ErrorCode.TOO_MANY_IDS: 422,
    ErrorCode.IDEMPOTENCY_CONFLICT: 422,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.SEARCH_UNAVAILABLE: 503,
    ErrorCode.DEPENDENCY_MISSING: 503,
    ErrorCode.TOOL_TIMEOUT: 504,
    ErrorCode.STORAGE_ERROR: 507,
    ErrorCode.INTERNAL_ERROR: 500,
}


class SynapseError(Exception):
    """A failure that may be shown: a catalog code, a sentence that says what to do, and repair fields.

    ``message`` must hold no exception text, no absolute path, no SQL and no
    page content. ``repair`` are the extra fields of the envelope (for example
    ``content_hash`` of the version that stands), JSON-serialisable.
    """

    def __init__(self, code: ErrorCode, message: str, **repair: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.repair = repair

    @property
    def status(self) -> int:
        """The HTTP status that belongs to the code."""
        return HTTP_STATUS[self.code]

    def envelope(self) -> dict[str, Any]:
        """The one JSON object that REST, MCP and ``--json`` answer with."""
        return {"error": self.message, "error_code": self.code.value, **self.repair}
