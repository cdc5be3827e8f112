"""Tools and a prompt that first ask for input and answer when the client calls again with it (2026-07-28)."""

from __future__ import annotations

from typing import Any, Final

from mcp import types
from mcp.shared.exceptions import MCPError

from tests.conformance import content
from tests.conformance.tools import NONE, Answer, Context, Handler, Tool, said

_Asked = types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest


def _form(message: str, **properties: str) -> types.ElicitRequest:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(question: str, most: int) -> types.CreateMessageRequest:
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=content.text(question))], max_tokens=most
        )
    )


_NAME: Final = _form("What is your name?", name="string")
_ROOTS: Final = types.ListRootsRequest()


def _answered(params: types.InputResponseRequestParams, asked: dict[str, _Asked]) -> bool:
    return asked.keys() <= (params.input_responses or {}).keys()


def _asking(asked: dict[str, _Asked], done: str, state: str | None = None) -> Handler:
    """Ask once; ``state``, if given, must come back as it was."""

    async def handler(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        if not _answered(params, asked):
            return types.InputRequiredResult(input_requests=asked, request_state=state)
        if params.request_state != state:
            raise MCPError(types.INVALID_PARAMS, "The requestState is not the one that was given")
        # In the order asked for: the client may answer in another.
        given = ", ".join(str(_value((params.input_responses or {})[key])) for key in asked)
        return said(f"{done} {given}")

    return handler


def _value(response: Any) -> Any:
    return response.model_dump(by_alias=True, mode="json", exclude_none=True)


async def _two_rounds(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    steps = {
        "step1": _form("Step 1: What is your name?", name="string"),
        "step2": _form("Step 2: What is your favorite color?", color="string"),
    }
    given = params.input_responses or {}
    if params.request_state == "second" and "step2" in given:
        return said("Both steps are done.")
    step, state = ("step2", "second") if params.request_state == "first" and "step1" in given else ("step1", "first")
    return types.InputRequiredResult(input_requests={step: steps[step]}, request_state=state)


async def _what_the_client_can(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    asked: dict[str, _Asked] = {}
    if ctx.session.check_client_capability(types.ClientCapabilities(elicitation=types.ElicitationCapability())):
        asked["name"] = _NAME
    if ctx.session.check_client_capability(types.ClientCapabilities(sampling=types.SamplingCapability())):
        asked["greeting"] = _sample("Generate a greeting", 50)
    return types.InputRequiredResult(input_requests=asked, request_state="asked")


_PREFIX: Final = "test_input_required_result_"
ROUND_TOOLS: Final[dict[str, Tool]] = {
    f"{_PREFIX}elicitation": Tool(_asking({"user_name": _NAME}, "Hello,"), "Asks for a name", NONE),
    f"{_PREFIX}sampling": Tool(
        _asking({"capital_question": _sample("What is the capital of France?", 100)}, "The model says"),
        "Asks the client's model",
        NONE,
    ),
    f"{_PREFIX}list_roots": Tool(_asking({"client_roots": _ROOTS}, "The roots are"), "Asks for the roots", NONE),
    f"{_PREFIX}request_state": Tool(
        _asking({"confirm": _form("Please confirm", ok="boolean")}, "state-ok", "kept"), "Keeps a state", NONE
    ),
    f"{_PREFIX}tampered_state": Tool(
        _asking({"confirm": _form("Please confirm", ok="boolean")}, "state-ok", "sealed"), "Seals a state", NONE
    ),
    f"{_PREFIX}multiple_inputs": Tool(
        _asking(
            {"user_name": _NAME, "greeting": _sample("Generate a greeting", 50), "client_roots": _ROOTS},
            "All three came:",
            "three",
        ),
        "Asks for three things",
        NONE,
    ),
    f"{_PREFIX}multi_round": Tool(_two_rounds, "Asks twice", NONE),
    f"{_PREFIX}capabilities": Tool(_what_the_client_can, "Asks for what the client can answer", NONE),
    "test_streaming_elicitation": Tool(_asking({"user_name": _NAME}, "Hello,"), "Asks on a stream", NONE),
}

_CONTEXT: Final[dict[str, _Asked]] = {"user_context": _form("What context should the prompt use?", context="string")}


def prompt_with_input(params: types.GetPromptRequestParams) -> types.GetPromptResult | types.InputRequiredResult:
    """The prompt that asks for its context first."""
    if not _answered(params, _CONTEXT):
        return types.InputRequiredResult(input_requests=_CONTEXT)
    given = _value((params.input_responses or {})["user_context"])
    message = types.PromptMessage(role="user", content=content.text(f"The context is {given}"))
    return types.GetPromptResult(messages=[message])
