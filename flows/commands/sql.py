"""`gpuledger sql`: run one reading statement on the published file."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option, read_from


class _Sql(click.Command):
    """A query may begin with a comment, and `-- Which cards …` is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        queries = [text for text in args if text.startswith("--") and any(map(str.isspace, text.partition("=")[0]))]
        for query in queries[:1]:
            args = [*(text for text in args if text is not query), "--", query]
        return super().parse_args(ctx, args)


@click.command(cls=_Sql)
@click.argument("query")
@data_dir_option
@format_option
def command(query: str, data_dir: str | None, form: str) -> None:
    """Answer one read-only SQL query.

    `gpuledger describe` lists tables and columns.
    """
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.settings import settings as settings_module
    from gpuledger.warehouse.bounded_query import QueryLimits, ask

    settings = settings_module.load({"data_dir": data_dir})
    limits = QueryLimits(settings.sql_timeout_s, settings.sql_memory_limit, settings.sql_max_rows)
    columns, rows = ask(read_from(data_dir), query, limits)
    show_rows(columns, rows, form)
