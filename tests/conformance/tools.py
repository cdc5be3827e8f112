"""The tools that the conformance suite calls by name, as it describes them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError

from tests.conformance import content

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Handler = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

_STEP: Final = 0.05
BUS: Final = InMemorySubscriptionBus()
"""Where a tool says that a list has changed, and open streams hear it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the fixture: what tools/list shows of it, and what it does."""

    handler: Handler
    description: str
    schema: dict[str, Any]


def said(*blocks: types.ContentBlock | str) -> types.CallToolResult:
    """A result of these blocks."""
    return types.CallToolResult(content=[content.text(block) if isinstance(block, str) else block for block in blocks])


def _saying(*blocks: types.ContentBlock | str) -> Handler:
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        return said(*blocks)

    return handler


async def _fail(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    return types.CallToolResult(
        content=[content.text("This tool intentionally returns an error for testing")], is_error=True
    )


async def _log(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
        await anyio.sleep(_STEP)
    return said("Logged three times.")


async def _log_once(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    await ctx.session.send_log_message("info", "Tool execution started", related_request_id=ctx.request_id)
    return said("Logged where asked to.")


async def _progress(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    for done in (0, 50, 100):
        await ctx.session.report_progress(done, 100)
        await anyio.sleep(_STEP)
    return said("Done.")


async def _sample(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    prompt = (params.arguments or {}).get("prompt", "")
    request = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=content.text(prompt))], max_tokens=100
        )
    )
    result = await ctx.session.send_request(request, types.CreateMessageResult)
    return said(f"LLM response: {result.content}")


def _eliciting(**properties: dict[str, Any]) -> Handler:
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        message = (params.arguments or {}).get("message", "Please fill in the form")
        schema = {"type": "object", "properties": properties, "required": sorted(properties)}
        request = types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))
        result = await ctx.session.send_request(request, types.ElicitResult)
        return said(f"Elicitation completed: action={result.action}, content={result.content}")

    return handler


async def _need_sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(needed):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=needed)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs the client capability sampling",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return said("The client can sample.")


def _publishing(event: ToolsListChanged | PromptsListChanged) -> Handler:
    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        await BUS.publish(event)
        return said("The list has changed.")

    return handler


def arguments(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with these properties."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_TEXT: Final = {"type": "string"}
_TITLED: Final = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
_OPTIONS: Final = ["option1", "option2", "option3"]
_DEFAULTS: Final[dict[str, dict[str, Any]]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_ENUMS: Final[dict[str, dict[str, Any]]] = {
    "untitledSingle": {"type": "string", "enum": _OPTIONS},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {"type": "string", "enum": _OPTIONS, "enumNames": ["One", "Two", "Three"]},
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}
_DRAFT_2020_12: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": _TEXT, "city": _TEXT}},
    },
    "properties": {
        "name": _TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": _TEXT,
        "email": _TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

NONE: Final = arguments()
TOOLS: Final[dict[str, Tool]] = {
    "test_simple_text": Tool(_saying("This is a simple text response for testing."), "Returns text", NONE),
    "test_image_content": Tool(_saying(content.IMAGE), "Returns a picture", NONE),
    "test_audio_content": Tool(_saying(content.AUDIO), "Returns a sound", NONE),
    "test_embedded_resource": Tool(
        _saying(content.embedded("test://embedded-resource", "This is an embedded resource content.")),
        "Returns a resource",
        NONE,
    ),
    "test_multiple_content_types": Tool(
        _saying(
            "Multiple content types test:",
            content.IMAGE,
            content.embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
        ),
        "Returns text, a picture and a resource",
        NONE,
    ),
    "test_error_handling": Tool(_fail, "Always fails", NONE),
    "test_tool_with_logging": Tool(_log, "Logs three times", NONE),
    "test_logging_tool": Tool(_log_once, "Logs where the client asked for it", NONE),
    "test_tool_with_progress": Tool(_progress, "Reports progress three times", NONE),
    "test_sampling": Tool(_sample, "Asks the client's model", arguments("prompt", prompt=_TEXT)),
    "test_elicitation": Tool(
        _eliciting(username=_TEXT, email=_TEXT), "Asks the person", arguments("message", message=_TEXT)
    ),
    "test_elicitation_sep1034_defaults": Tool(_eliciting(**_DEFAULTS), "Asks the person, with defaults", NONE),
    "test_elicitation_sep1330_enums": Tool(_eliciting(**_ENUMS), "Asks the person to choose", NONE),
    "json_schema_2020_12_tool": Tool(_saying("Valid."), "Tool with JSON Schema 2020-12 features", _DRAFT_2020_12),
    "test_missing_capability": Tool(_need_sampling, "Needs a client that can sample", NONE),
    "test_trigger_tool_change": Tool(_publishing(ToolsListChanged()), "Says that the tools changed", NONE),
    "test_trigger_prompt_change": Tool(_publishing(PromptsListChanged()), "Says that the prompts changed", NONE),
    "test_custom_headers": Tool(
        _saying("The headers agree."),
        "Takes an argument that a header repeats",
        arguments(region={"type": "string", "x-mcp-header": "Region"}),
    ),
}
