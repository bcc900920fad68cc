"""Print the summary of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

import click

from gpuledger.flows.doors.showing.show import show_rows
from gpuledger.flows.doors.showing.terminal import clean
from gpuledger.flows.night.left_out import LeftOut
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.answers.trust.held import HeldPrice, RefusedRow, held, refused
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import together


def show_summary(summary: Summary, data: DataDir) -> None:
    """Print a table of the sources, what changed, what was rebuilt, and where the files are."""
    show_rows(*_sources(summary), "table", worth=_WORTH)
    for outcome in summary.failed_sources:
        stands = f"; {gettext('its last good data stand, marked stale')}" if summary.published else ""
        _say(f"{outcome.source} {gettext(outcome.status)}: ", f"{outcome.reason or ''}{stands}", "red")
    for outcome in summary.degraded_sources:
        _say(f"{outcome.source} {gettext('degraded')}: ", outcome.reason or "", "yellow")
    for outcome in summary.sources:
        if empty := outcome.emptied:
            more = gettext(" and {count} more").format(count=len(empty) - 3) if len(empty) > 3 else ""
            _say(f"{outcome.source} {gettext('column empty')}: ", f"{'; '.join(empty[:3])}{more}", "yellow")
    for out in summary.left_out:
        _say(f"{out.source} {gettext('left out')}: ", left_out_words(out), "yellow")
    if summary.changes:
        _show_changes(summary)
    if summary.published is None:
        message = gettext("nothing was published: {reason}; the last good warehouse, if there is one, stays")
        _say(message.format(reason=summary.reason or ""), "", "red")
        return
    if summary.reason:
        _say("", summary.reason, "yellow")
    with together(data):
        lines = [*_held(held(data)), *_refused(refused(data, summary.run_id))]
    for line in lines:
        _say("", line, "yellow")
    rebuilt = [build for build in summary.builds if build.action == "rebuilt"]
    counts = gettext("{rebuilt} tables rebuilt, {kept} kept as they were")
    click.echo(counts.format(rebuilt=len(rebuilt), kept=len(summary.builds) - len(rebuilt)))
    # "first build" is the reason for every model of a first night. Only reasons for building one again are worth reading.
    for build in (build for build in rebuilt if build.reason != "first build"):
        click.secho(f"  {build.model}: {build.reason}", dim=True)
    click.echo(f"{gettext('warehouse')}  {data.published} -> {summary.version}")
    click.echo(f"{gettext('CSV files')}  {data.exports}")


def left_out_words(out: LeftOut) -> str:
    """Why a source is left out, until when, and how to read it all the same."""
    if out.again is None:
        sentence = gettext(
            "its terms forbid it, as a person read on {since}; `gpuledger refresh --only {source}` asks all the same"
        )
        return sentence.format(since=f"{out.since:%Y-%m-%d}", source=out.source)
    return gettext(
        "its robots.txt forbade it on {since}, and is asked again from {again}; `gpuledger refresh --only {source}` asks now"
    ).format(since=f"{out.since:%Y-%m-%d}", again=f"{out.again:%Y-%m-%d}", source=out.source)


def _say(what: str, text: str, colour: str) -> None:
    """Print a line in which `what` is coloured, or the whole line if `what` is empty."""
    what, text = clean(what), clean(text)
    click.echo(click.style(what, fg=colour, bold=True) + text if what else click.style(text, fg=colour))


#: The columns of the sources, the most important first.
_WORTH = ("source", "status", "pages", "loaded", "changed", "quarantined", "issues", "parsed", "duplicate")


def _sources(summary: Summary) -> tuple[list[str], list[tuple[object, ...]]]:
    """One row for each source. A count of zero stays empty, so that the other counts stand out."""
    columns = ["source", "status", "pages", "parsed", "loaded", "quarantined", "duplicate", "changed", "issues"]
    counts = columns[2:]
    return columns, [(s.source, s.status, *(getattr(s, name) or None for name in counts)) for s in summary.sources]


def _held(prices: Sequence[HeldPrice]) -> Iterator[str]:
    """One line for each rule that holds prices, with the setting to change if the rule is too strict."""
    for (hold, bound), count in sorted(Counter((price.hold, price.bound or "") for price in prices).items()):
        rule = gettext("by {bound} ({hold})").format(bound=bound, hold=hold) if bound else f"({hold})"
        message = (
            gettext("{count} prices are held {rule} until seen again: `gpuledger release` lists them")
            if count > 1
            else gettext("1 price is held {rule} until seen again: `gpuledger release` lists them")
        )
        yield message.format(count=count, rule=rule)


def _refused(rows: Sequence[RefusedRow], most: int = 5) -> Iterator[str]:
    """One line for each of the first `most` rows that the audit took out of a table, and one that counts the others."""
    for row in rows[:most]:
        message = gettext("{model} is published without the row {row}: {reason}")
        yield message.format(model=row.model, row=row.row_key, reason=row.reason)
    if len(rows) > most:
        yield gettext("{count} more rows are left out; ops.refused_row has them all").format(count=len(rows) - most)


def _show_changes(summary: Summary, most: int = 12) -> None:
    """Print the prices that changed, but only the number of those that appeared: on a first night all prices appear."""
    changed = [change for change in summary.changes if change.change != "appeared"]
    if changed:
        rows = [
            (c.source, c.title, c.change, _short(c.old_price), _short(c.new_price), c.currency) for c in changed[:most]
        ]
        columns = ["source", "title", "change", "old price", "new price", "currency"]
        worth = ("title", "new price", "old price", "currency", "change", "source")
        show_rows(columns, rows, "table", title=gettext("Prices that changed"), worth=worth)
    more, appeared = len(changed) - most, len(summary.changes) - len(changed)
    if more > 0:
        click.echo(gettext("{count} more; `gpuledger changes` lists them").format(count=more))
    if appeared:
        click.echo(gettext("prices that appeared: {count}; `gpuledger changes` lists them").format(count=appeared))


def _short(price: str | None) -> str | None:
    """`1299.00` for `1299.0000`."""
    return price and f"{Decimal(price):.2f}"
