"""Arguments against a tool's input schema, before anything else looks at them.

A bad argument answers our envelope with what is expected, never a JSON-RPC error. The schema is the one that
tools/list shows. The inside of an object that allows further keys (frontmatter) is left to the service that
knows its rules; here it only must be text that can be stored.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from mcpapi.schema_forms import Schema
from vault.errors import ErrorCode, SynapseError

_CLAMPED: Final = frozenset({"k", "depth", "limit", "budget_tokens", "max_tokens"})
# A value outside its list answers this code where the catalog has one for it.
_CODES: Final = {"level": ErrorCode.INVALID_LEVEL}
# The vault's own path rules judge these, so that a bad path answers alike through every door.
_PATHS: Final = frozenset({"path"})
_SHOWN_NAMES: Final = 10
_SHOWN_CHARACTERS: Final = 40
_NAMES: Final = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def validated(schema: Schema, given: Any) -> dict[str, Any]:
    """The arguments with defaults filled in and bounds applied; ``given`` is left as it is.

    Raises ``invalid_param_type``, ``missing_required_params``, ``invalid_param_value`` or ``invalid_content``,
    with ``parameter`` and what is expected as repair fields.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        _refuse(ErrorCode.INVALID_PARAM_TYPE, "The arguments must be one object, by name.", expected="object")
    known: dict[str, Schema] = schema["properties"]
    _refuse_unknown(known, given)
    missing = [name for name in schema["required"] if name not in given]
    if missing:
        raise SynapseError(
            ErrorCode.MISSING_REQUIRED_PARAMS,
            f"Missing: {', '.join(missing)}. Send {'them' if len(missing) > 1 else 'it'} as well.",
            missing=missing,
        )
    return {
        name: rule.get("default") if _left_out(name, schema, given) else _value(name, rule, given[name])
        for name, rule in known.items()
    }


def _left_out(name: str, schema: Schema, given: dict[str, Any]) -> bool:
    """Is it not given? Null is nothing given for what may be left out and has no value then."""
    if name not in given:
        return True
    optional = name not in schema["required"] and "default" not in schema["properties"][name]
    return given[name] is None and optional


def _refuse_unknown(known: dict[str, Schema], given: dict[str, Any]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        names = ", ".join(known) or "none"
        shown = [_printable(str(name)) for name in unknown[:_SHOWN_NAMES]]
        _refuse(
            ErrorCode.INVALID_PARAM_VALUE,
            f"This tool has no such parameter. It takes: {names}.",
            unknown=shown,
            parameters=list(known),
        )


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name[:_SHOWN_CHARACTERS])


def _value(name: str, rule: Schema, value: Any) -> Any:
    value = _typed(name, rule, value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _bounded(name, rule, value)
    if "enum" in rule and value not in rule["enum"]:
        allowed = [str(option) if option is not None else "null" for option in rule["enum"]]
        _refuse(
            _CODES.get(name, ErrorCode.INVALID_PARAM_VALUE),
            f"{name} is one of: {', '.join(allowed)}.",
            parameter=name,
            allowed=rule["enum"],
        )
    if isinstance(value, str) and len(value) < rule.get("minLength", 0):
        _refuse(ErrorCode.INVALID_PARAM_VALUE, f"{name} must not be empty.", parameter=name)
    if name not in _PATHS and not _storable(value):
        _refuse(
            ErrorCode.INVALID_CONTENT,
            f"{name} holds a NUL or half a surrogate pair, which no file can hold. Remove it.",
            parameter=name,
        )
    return value


def _typed(name: str, rule: Schema, value: Any) -> Any:
    wanted = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    if isinstance(value, float) and "integer" in wanted and value.is_integer():
        value = int(value)  # JSON knows one kind of number: 5.0 is the integer 5
    kind = _NAMES.get(type(value), "unknown")
    if kind not in wanted and not (kind == "integer" and "number" in wanted):
        expected = " or ".join(wanted)
        _refuse(
            ErrorCode.INVALID_PARAM_TYPE,
            f"{name} must be {expected}, not {kind}.",
            parameter=name,
            expected=expected,
        )
    if isinstance(value, list) and rule.get("items", {}).get("type") == "string":
        strange = next((item for item in value if not isinstance(item, str)), "")
        if strange != "":
            _refuse(
                ErrorCode.INVALID_PARAM_TYPE,
                f"{name} must be an array of string, and one of it is {_NAMES.get(type(strange), 'unknown')}.",
                parameter=name,
                expected="string",
            )
    return value


def _bounded(name: str, rule: Schema, value: float) -> float:
    low: int = rule.get("minimum", value)
    high: int = rule.get("maximum", value)
    if name in _CLAMPED:
        return int(max(low, min(high, value)))  # what is clamped is counted: half a token is none
    if not low <= value <= high:
        _refuse(ErrorCode.INVALID_PARAM_VALUE, f"{name} must be at least {low}.", parameter=name, minimum=low)
    return value


def _storable(value: Any) -> bool:
    """No string in it, keys included, has a NUL or a lone surrogate. Walks without recursion: depth is the caller's."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\0" in item or not _encodable(item):
                return False
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return True


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse(code: ErrorCode, message: str, **repair: Any) -> NoReturn:
    raise SynapseError(code, message, **repair)
