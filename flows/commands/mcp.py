"""`gpuledger mcp`: the answers of the commands for agents, over the Model Context Protocol."""

from __future__ import annotations

import secrets

import click

from gpuledger.extract import local_files
from gpuledger.flows.asking.options import data_dir_option, read_from
from gpuledger.warehouse import private
from gpuledger.warehouse.paths import DataDir

#: Lengths of a token in letters.
_SHORTEST_TOKEN, _LONGEST_TOKEN = 32, 1000


@click.command()
@click.option("--http", "port", type=click.IntRange(1, 65535), metavar="PORT",
              help="Answer on this port of 127.0.0.1 (streamable HTTP, /mcp) instead of on standard input.")  # fmt: skip
@data_dir_option
def command(port: int | None, data_dir: str | None) -> None:
    """Answer an agent: rank, value, price, buy, predict, size, show, status, compare, sql and more.

    All of them only read.

    Over standard input and output by default, as an agent starts it: `gpuledger mcp --data-dir /srv/gpuledger`. With --http
    it answers whoever shows the token that the first line says; a file that only its owner may read keeps it.
    """
    from gpuledger.flows.agent import tools

    data = read_from(data_dir)
    commands = click.get_current_context().find_root().command
    assert isinstance(commands, click.Group)
    server = tools.server(data, commands)
    if port is None:
        server.run("stdio")
        return
    import uvicorn

    from gpuledger.flows.agent.server import require_token, this_machine_only

    token = _token(data)
    click.echo(f"http://127.0.0.1:{port}/mcp with the header Authorization: Bearer {token}", err=True)
    app_without_token = server.streamable_http_app(
        stateless_http=True, json_response=True, transport_security=this_machine_only(port)
    )
    app = require_token(token, app_without_token)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


def _token(data: DataDir) -> str:
    """The token of this data directory. It is created at the first call and then kept."""
    path = data.state / "mcp-token"
    try:
        token = local_files.read_bytes(path, _LONGEST_TOKEN).decode("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        token = ""
    if len(token) < _SHORTEST_TOKEN:  # there is none yet, or half of one: an empty token would let everybody in
        token = secrets.token_urlsafe(32)
        private.make_folder(data.state)
        private.write(path, token.encode())
    return token
