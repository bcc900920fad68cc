"""`gpuledger status`: how fresh each source is and how the last runs went, for people and for monitoring."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.doors.asking.options import data_dir_option, form_option, read_from
from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.message import Message

if TYPE_CHECKING:
    from gpuledger.transform.answers.trust.sources import SourceHealth

#: The most letters of a reason on the screen. --format json has all of it.
_SHORT = 90


@click.command()
@data_dir_option
@form_option
@click.option("--json", "everything", is_flag=True, help="Sources and runs as one JSON object, for monitoring.")
@click.option(
    "--prometheus", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write the figures to FILE in Prometheus text format, for a node exporter's textfile collector.",
)  # fmt: skip
def command(data_dir: str | None, form: str, everything: bool, prometheus: Path | None) -> int:
    """For each source its last success, age against its limit, rows against normal, open issues and gaps; and the last runs.

    Exit status, for monitoring: 0 all well; 1 the newest run published nothing, or nothing was ever published; 3 a source
    fails, shows far fewer rows than usual (degraded) or is older than its limit.
    """
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.telling import health
    from gpuledger.transform.answers.trust.sources import presumed
    from gpuledger.transform.buying.headline import PRESUMED
    from gpuledger.warehouse.errors import NoWarehouse

    data = read_from(data_dir)
    sources = health.sources(data, health.clock(data))
    runs = health.runs(data)
    if not data.published.exists():
        error = NoWarehouse(data.root)
        # Monitoring needs figures during the first night too, so with any of these there is no error.
        if not (runs or everything or prometheus):
            raise error
        terminal.aside(f"gpuledger: {say(error)}")
    ended = next((run for run in runs if run.status != "running"), None)
    status = health.exit_status(sources, ended)
    if prometheus is not None:
        from gpuledger.flows.night.context import utc_now
        from gpuledger.flows.telling.prometheus import write

        write(prometheus, sources, runs, utc_now())
    shops = presumed(data) if data.published.exists() else []
    objects = [_whole(source) for source in sources]
    if everything:
        terminal.give({
            "exit_status": status, "sources": objects, "presumed_shops": shops, "runs": [asdict(run) for run in runs],
        })  # fmt: skip
    elif form != "table":
        show_rows(list(objects[0]) if objects else [], [list(row.values()) for row in objects], form)
    else:
        show_rows(*_source_rows(sources), form, title=gettext("Sources"))
        run_rows = [[*(getattr(run, name) for name in _OF_RUN.values()), _short(run.reason)] for run in runs]
        show_rows([*_OF_RUN, "reason"], run_rows, form, title=gettext("Last runs"))
        if shops:
            terminal.say(say(Message(PRESUMED, shop=tuple(shops))))
    return status


def _whole(source: SourceHealth) -> dict[str, Any]:
    return asdict(source) | {
        "is_overdue": source.is_overdue,
        "is_failing": source.is_failing,
        "is_degraded": source.is_degraded,
    }


def _source_rows(sources: list[SourceHealth]) -> tuple[list[str], list[tuple[object, ...]]]:
    columns = [
        "source",
        "status",
        "last success",
        "age h",
        "limit h",
        "rows",
        "normal",
        "open issues",
        "gaps",
        "reason",
    ]
    return columns, [
        (
            s.source, ", ".join([s.status, *["column empty"] * bool(s.emptied), *["too old"] * s.is_overdue]),
            s.last_success_at, None if s.age_hours is None else round(s.age_hours, 1), s.limit_hours, s.rows,
            None if s.normal_rows is None else round(s.normal_rows), s.open_issues, len(s.gaps), _short(s.reason),
        )
        for s in sources
    ]  # fmt: skip


#: The columns of runs, each with its field.
_OF_RUN = {
    "run": "run_id", "as of": "as_of", "engine": "engine", "status": "status", "sources failed": "sources_failed",
    "rows changed": "changed", "models rebuilt": "models_rebuilt", "s": "seconds",
}  # fmt: skip


def _short(reason: str | None) -> str | None:
    if reason is None:
        return None
    return reason if len(reason) <= _SHORT else reason[: _SHORT - 1] + "…"
