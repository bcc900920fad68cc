"""The library's server for agents, over standard input and output, which answers every message."""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (  # fmt: skip
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolResult,
    ErrorData,
    InputRequiredResult,
    JSONRPCError,
    TextContent,
)
from pydantic import ValidationError

from gpuledger.flows.doors.showing.terminal import json_text
from gpuledger.message import Message

_Received = SessionMessage | Exception


class Server(MCPServer[Any]):
    """A server that also answers lines that it cannot parse."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Refuse arguments that it does not have: the library drops them and answers another question.

        The text of an answer is what an agent reads to people; the options of `buy` are in its structured content alone.
        """
        tool = self._tool_manager.get_tool(name)
        known = tool.parameters.get("properties", {}) if tool else arguments
        unknown = [argument for argument in arguments if argument not in known]
        if unknown:
            raise ToolError(str(Message(
                "{tool} has no argument {unknown}; it has {known}", tool=name, unknown=tuple(unknown),
                known=tuple(known),
            )))  # fmt: skip
        try:
            result = await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            wrong = error.__cause__.errors()[0]
            raise ToolError(f"{name}: {wrong['loc'][0]}: {wrong['msg']}") from None
        if isinstance(result, CallToolResult) and isinstance(whole := result.structured_content, dict):
            read = {part: value for part, value in whole.items() if part != "options"}
            result.content = [TextContent(type="text", text=json_text(read))]
        return result

    def say_what_answers_have(self, tool: str, schema: dict[str, Any]) -> None:
        """Publish the JSON Schema of a tool's answers."""
        known = self._tool_manager.get_tool(tool)
        assert known is not None, tool
        known.fn_metadata.output_schema = schema

    async def run_stdio_async(self) -> None:
        """Answer over standard input and output until the input ends.

        For a line that cannot be parsed (half an emoji, or JSON nested deeper than the parser allows) the library passes on
        an exception, logs it and sends the client no answer. Here such a line gets an error as its answer.
        """
        async with stdio_server() as (lines, answers):
            parsed, readable = anyio.create_memory_object_stream[_Received]()

            async def sort() -> None:
                async with parsed:
                    async for message in lines:
                        if isinstance(message, Exception):
                            await answers.send(SessionMessage(_refusal(message)))
                        else:
                            await parsed.send(message)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sort)
                await self._lowlevel_server.run(
                    readable, answers, self._lowlevel_server.create_initialization_options()
                )


def _refusal(error: Exception) -> JSONRPCError:
    """The answer to a line that is not a message."""
    (problem, *_) = error.errors() if isinstance(error, ValidationError) else [{"type": "json_invalid"}]
    is_json = problem["type"] != "json_invalid"
    code, message = (INVALID_REQUEST, "Invalid Request") if is_json else (PARSE_ERROR, "Parse error")
    return JSONRPCError(jsonrpc="2.0", id=_id(problem.get("input")), error=ErrorData(code=code, message=message))


def _id(line: object) -> int | str | None:
    """The id of the question in a line, None if it has none or cannot be read: JSON-RPC then wants null.

    Python's parser reads lines that the library refuses, such as those with half an emoji.
    """
    try:
        message = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    message_id = message.get("id") if isinstance(message, dict) else None
    # An id with half an emoji in it could not be written into the answer.
    is_usable = type(message_id) is int or (isinstance(message_id, str) and message_id.isascii())
    return message_id if is_usable else None
