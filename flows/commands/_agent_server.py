"""The library's server of agents with what it leaves out: an answer to every message, and its own name alone."""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_Received = SessionMessage | Exception


class Server(MCPServer[Any]):
    """A server that answers a line that it cannot read too."""

    async def run_stdio_async(self) -> None:
        """Answer over standard input and output until the input ends.

        The library hands on a line that it cannot read (half an emoji, JSON nested beyond its parser's depth) as an
        exception, logs it and says nothing to the client.
        """
        async with stdio_server() as (lines, answers):
            put, readable = anyio.create_memory_object_stream[_Received]()

            async def sort() -> None:
                async with put:
                    async for message in lines:
                        if isinstance(message, Exception):
                            await answers.send(SessionMessage(_refusal(message)))
                        else:
                            await put.send(message)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sort)
                await self._lowlevel_server.run(
                    readable, answers, self._lowlevel_server.create_initialization_options()
                )


def _refusal(error: Exception) -> JSONRPCError:
    """The answer to a line that is no message."""
    (problem, *_) = error.errors() if isinstance(error, ValidationError) else [{"type": "json_invalid"}]
    is_json = problem["type"] != "json_invalid"
    code, message = (INVALID_REQUEST, "Invalid Request") if is_json else (PARSE_ERROR, "Parse error")
    return JSONRPCError(jsonrpc="2.0", id=_id(problem.get("input")), error=ErrorData(code=code, message=message))


def _id(line: object) -> int | str | None:
    """Which question a line was, where Python's parser can tell: it takes half an emoji. Else null, as JSON-RPC has it."""
    try:
        said = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        return None
    found = said.get("id") if isinstance(said, dict) else None
    # A name of half an emoji could not be written into the answer.
    is_one = type(found) is int or (isinstance(found, str) and found.isascii())
    return found if is_one else None


def on_this_machine(port: int) -> TransportSecuritySettings:
    """Who may be meant by a request: the library's own rule takes whatever stands behind `127.0.0.1:` for a port."""
    names = [f"{name}:{port}" for name in ("127.0.0.1", "localhost")]
    return TransportSecuritySettings(allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names])
