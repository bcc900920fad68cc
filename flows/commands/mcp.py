"""`gpuledger mcp`: the answers of the commands for agents, over the Model Context Protocol."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, read_from


@click.command()
@data_dir_option
def command(data_dir: str | None) -> None:
    """Answer an agent: rank, value, price, buy, predict, size, show, status, compare, sql and more.

    All of them only read. An agent starts it and asks over standard input and output: `gpuledger mcp --data-dir
    /srv/gpuledger`, or from another machine `ssh HOST gpuledger mcp`.
    """
    from gpuledger.flows.doors.agent import tools

    data = read_from(data_dir)
    commands = click.get_current_context().find_root().command
    assert isinstance(commands, click.Group)
    tools.server(data, commands).run("stdio")
