"""What is judged from outside: two applications in one process, told apart by how the path begins.

Below FIXTURE is a server with the tools that the conformance suite expects, behind the same door as the wiki's own: the
wrappers of the ASGI application, the gate, the worker threads, the stateless transport. All else is the real
application. The suite can't send a token, so below WITH_TOKEN each request gets one on its way in.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "synapse.settings")

import synapse.asgi  # noqa: I001  (Django must be set up before the rest is imported)

from mcp import types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from mcpapi.callers import Caller
from mcpapi.gate import Receive, Scope, Send
from mcpapi.http import McpApp
from mcpapi.revisions import name_all_revisions
from synapse.body_limit import with_bodies_read_out, with_timely_bodies
from synapse.strangers import with_few_strangers
from tests.conformance import content, rounds
from tests.conformance.judging import FIXTURE, WITH_TOKEN
from tests.conformance.tools import BUS, TOOLS, Answer, Context

_TOOLS: Final = {**TOOLS, **rounds.ROUND_TOOLS}
_PAGE: Final = types.PaginatedRequestParams
_RESOURCES: Final[dict[str, tuple[str, str, str]]] = {
    "test://static-text": ("text/plain", "text", "This is the content of the static text resource."),
    "test://static-binary": ("image/png", "blob", content.PNG),
    "test://watched-resource": ("text/plain", "text", "This one is watched."),
}
_TEMPLATE: Final = ("test://template/", "/data")
_PROMPTS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "test_simple_prompt": ("Says one thing", ()),
    "test_prompt_with_arguments": ("Says what it is given", ("arg1", "arg2")),
    "test_prompt_with_embedded_resource": ("Holds a resource", ("resourceUri",)),
    "test_prompt_with_image": ("Holds a picture", ()),
    "test_input_required_result_prompt": ("Asks for its context first", ()),
}


async def _list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name=name, description=tool.description, input_schema=tool.schema)
            for name, tool in _TOOLS.items()
        ]
    )


async def _call_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    tool = _TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, "Unknown tool")
    return await tool.handler(ctx, params)


async def _list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=uri.rpartition("/")[2], description="For the suite", mime_type=mime_type)
            for uri, (mime_type, _, _) in _RESOURCES.items()
        ]
    )


async def _list_templates(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template="{id}".join(_TEMPLATE), name="template", description="For the suite", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def _read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = params.uri
    if uri in _RESOURCES:
        mime_type, kind, data = _RESOURCES[uri]
    elif uri.startswith(_TEMPLATE[0]) and uri.endswith(_TEMPLATE[1]):
        number = uri[len(_TEMPLATE[0]) : -len(_TEMPLATE[1])]
        mime_type, kind = "application/json", "text"
        data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    made = types.TextResourceContents if kind == "text" else types.BlobResourceContents
    return types.ReadResourceResult(contents=[made(uri=uri, mime_type=mime_type, **{kind: data})])


async def _list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=description,
                arguments=[
                    types.PromptArgument(name=each, description="For the suite", required=True) for each in wanted
                ],
            )
            for name, (description, wanted) in _PROMPTS.items()
        ]
    )


async def _get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    given = params.arguments or {}
    if params.name == "test_input_required_result_prompt":
        return rounds.prompt_with_input(params)
    said: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [content.text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            content.text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")
        ],
        "test_prompt_with_embedded_resource": [
            content.embedded(given.get("resourceUri", ""), "Embedded resource content for testing."),
            content.text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [content.IMAGE, content.text("Please analyze the image above.")],
    }
    if params.name not in said:
        raise MCPError(types.INVALID_PARAMS, "Unknown prompt")
    messages = [types.PromptMessage(role="user", content=block) for block in said[params.name]]
    return types.GetPromptResult(messages=messages)


async def _complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))


async def _nothing(ctx: Context, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


async def fixture_server() -> Server[Any]:
    """A server with everything that the suite asks for."""
    hint = CacheHint(ttl_ms=0, scope="private")
    server: Server[Any] = Server(
        "synapse-conformance-fixture",
        version="1",
        cache_hints={
            "tools/list": hint,
            "prompts/list": hint,
            "resources/list": hint,
            "resources/templates/list": hint,
            "resources/read": hint,
        },
        get_tool_input_schema=lambda name: _TOOLS[name].schema if name in _TOOLS else None,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_subscribe_resource=_nothing,
        on_unsubscribe_resource=_nothing,
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
        on_completion=_complete,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _nothing)
    name_all_revisions(server)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
    return server


def _anybody(raw: str | None, own: str | None) -> Caller:
    return Caller(name="conformance", scope="write", door="mcp-http")


_app: Final = McpApp(server=fixture_server, let_in=_anybody)
_door: Final = with_bodies_read_out(with_few_strangers(with_timely_bodies(_app)))


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Both applications, as one."""
    if scope["type"] == "lifespan":
        async with _app.lifespan():
            await synapse.asgi.application(scope, receive, send)
    elif scope["path"].startswith(FIXTURE):
        await _door(_below(FIXTURE, scope), receive, send)
    elif scope["path"].startswith(WITH_TOKEN):
        token = f"Bearer {os.environ['MCP_AUTH_TOKEN']}".encode()
        scope = {**_below(WITH_TOKEN, scope), "headers": [*scope["headers"], (b"authorization", token)]}
        await synapse.asgi.application(scope, receive, send)
    else:
        await synapse.asgi.application(scope, receive, send)


def _below(prefix: str, scope: Scope) -> dict[str, Any]:
    path = scope["path"].removeprefix(prefix)
    return {**scope, "path": path, "raw_path": path.encode()}
