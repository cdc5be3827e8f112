"""What the schemas of tools are made of: inputs and outputs, fields, and the envelope of a failure."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

ERROR: Final[Schema] = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "error_code": {"type": "string"}},
    "required": ["error", "error_code"],
}


def takes(properties: dict[str, Schema], required: list[str]) -> Schema:
    """An input schema; arguments it does not name are refused."""
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def gives(properties: dict[str, Schema], required: list[str]) -> Schema:
    """An output schema: the object described, or the error envelope."""
    success = {"type": "object", "properties": properties, "required": required}
    return {"type": "object", "oneOf": [success, ERROR]}


def described(schema: Schema, description: str) -> Schema:
    """The schema of a field, said what it is."""
    return {**schema, "description": description}


def rows(item: Schema, required: list[str]) -> Schema:
    """The schema of a list of objects with these properties."""
    return {"type": "array", "items": {"type": "object", "properties": item, "required": required}}
