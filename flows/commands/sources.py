"""`gpuledger sources`: what can be read, and what one page of each would give now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.commands._options import data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.items import Item
    from gpuledger.extract.source import Source
    from gpuledger.flows.checks.sources import Checked
    from gpuledger.flows.setup.settings import Settings


@click.group(invoke_without_command=True)
@format_option
@click.pass_context
def command(ctx: click.Context, form: str) -> None:
    """The sources: what each gives, where it starts, how old its data may be."""
    if ctx.invoked_subcommand:
        return
    from gpuledger.extract.source import discover
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.setup import settings as settings_module

    columns = ["source", "title", "kinds", "sample", "live addresses", "freshness_hours", "homepage", "key"]
    settings = settings_module.load({})
    rows = [
        (
            s.name, s.title, ", ".join(s.kinds), bool(s.sample), len(s.start), s.freshness_hours, s.homepage,
            _key(s, settings),
        )
        for s in discover()
    ]  # fmt: skip
    show(columns, rows, form)


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--sample", is_flag=True, help="Ask the bundled sample site instead of the live sources.")
@click.option("--night", type=int, default=1, show_default=True, metavar="N", help="Night of the sample site.")
@data_dir_option
@format_option
def check(names: tuple[str, ...], sample: bool, night: int, data_dir: str | None, form: str) -> int:
    """Fetch one page of each source, or of those that are named, and say what would be read.

    Nothing is archived or loaded. Exit status 1 where a source fails, with its reason.
    """
    from gpuledger.flows.checks import sources as check_sources
    from gpuledger.flows.commands import _progress
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.night.start import Request, context_for
    from gpuledger.flows.setup import settings as settings_module

    settings = settings_module.load({"data_dir": data_dir})
    try:
        request = Request(sample=sample, night=night if sample else None, only=names)
        context = context_for(settings, data_of(data_dir), "plain", request)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with _progress.shown(quiet=form != "table") as progress:
        checked = check_sources.check(context, progress)
    columns = ["source", "status", "url", "items", "issues", "first", "reason"]
    show(columns, [_json_row(one) if form == "json" else _row(one) for one in checked], form)
    failed = [one.source for one in checked if one.status == "failed"]
    if form == "table":
        for one in checked:
            for issue in one.issues:
                click.echo(f"{one.source}: {issue.severity} {issue.code}: {issue.message}")
        counts = gettext("{checked} checked, {failed} failed").format(checked=len(checked), failed=len(failed))
        click.echo(f"{counts}{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


def _key(source: Source, settings: Settings) -> str | None:
    """Whether an official interface can be asked; None for pages that anybody may read."""
    from gpuledger.flows.night.gather import keys_missing

    if source.access is None:
        return None
    missing = keys_missing(source, settings)
    return gettext("set {names}: it is left out").format(names=", ".join(missing)) if missing else gettext("is set")


def _row(one: Checked) -> tuple[Any, ...]:
    counts = ", ".join(f"{kind} {count}" for kind, count in (one.counts or {}).items())
    first = _summary(one.first) if one.first else None
    return one.source, one.status, one.url, counts, len(one.issues) or None, first, one.reason


def _json_row(one: Checked) -> tuple[Any, ...]:
    from gpuledger.extract.items import to_json

    issues = [to_json(issue) for issue in one.issues]
    first = to_json(one.first) if one.first else None
    return one.source, one.status, one.url, dict(one.counts or {}), issues, first, one.reason


def _summary(item: Item) -> str:
    """The item in short: what it is, and its figure."""
    from gpuledger.extract.items import to_json

    row = to_json(item)
    named = next((row[field] for field in ("title", "gpu_name", "image_url", "currency") if row.get(field)), "")
    figure = next((f"{row[field]} {row.get('unit') or row.get('currency') or ''}".strip()
                   for field in ("price", "score", "relative_percent", "rate") if row.get(field)), "")  # fmt: skip
    return f"{str(named)[:70]} · {figure}" if figure else str(named)[:70]
