"""`gpuledger sources`: what can be read, and what one page of each would give now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from gpuledger.flows.commands._options import data_dir_option, data_of, format_option
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.setup.sentences import N_

if TYPE_CHECKING:
    from gpuledger.extract.items import Item
    from gpuledger.extract.source import Source
    from gpuledger.flows.checks.sources import Checked
    from gpuledger.flows.night.left_out import LeftOut
    from gpuledger.flows.setup.settings import Settings
    from gpuledger.flows.setup.terms import Says, Terms
    from gpuledger.transform.answers.sources import Record


@click.group(invoke_without_command=True)
@data_dir_option
@format_option
@click.pass_context
def command(ctx: click.Context, data_dir: str | None, form: str) -> None:
    """The sources: what each gives, how its last night went, how often it failed in its last 30, what its robots.txt and its
    terms allow, and whether there is an official interface.
    """
    if ctx.invoked_subcommand:
        return
    from gpuledger.extract.source import discover
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.night import left_out
    from gpuledger.flows.setup import settings as settings_module
    from gpuledger.flows.setup import terms
    from gpuledger.flows.telling import health

    said = gettext if form == "table" else str
    columns = [
        "source", "title", "kinds", "status", "failed of 30", "robots", "terms", "interface", "sample", "live addresses",
        "freshness_hours", "homepage", "key",
    ]  # fmt: skip
    settings = settings_module.load({})
    data = data_of(data_dir)
    records = health.records(data)
    read = terms.of(data)
    out = {one.source: one for one in left_out.by_default(records, discover(), health.clock(data), read)}
    rows = []
    for s in discover():
        record = records.get(s.name)
        interface = said("is one") if s.interface == s.name else s.interface and said(s.interface)
        rows.append((
            s.name, said(s.title), ", ".join(s.kinds), record and record.status,
            record and f"{record.failed}/{record.nights}", _robots(s, record, out.get(s.name), said),
            _terms(s, read.get(s.name), said), interface, bool(s.sample), len(s.start), s.freshness_hours, s.homepage,
            _key(s, settings, said),
        ))  # fmt: skip
    show(columns, rows, form)


#: Puts a text into the language of whoever asks; programs get it as it is.
Said = Callable[[str], str]


def _robots(source: Source, record: Record | None, out: LeftOut | None, said: Said) -> str | None:
    """What the site's robots.txt was last found to say; None for what is no site."""
    if source.access is not None:
        return said(N_("asked with a key"))
    if not source.start:
        return None
    if out is not None and out.again is not None:
        return said(N_("forbidden, left out until {day}")).format(day=f"{out.again:%Y-%m-%d}")
    return said((record and record.robots) or "not asked yet")


def _terms(source: Source, read: Terms | None, said: Said) -> str | None:
    """What a person read in the terms, and when; None for what is no site."""
    if read is not None:
        return f"{said(read.says)}, {read.read}, {read.page}"
    return said("unknown") if source.start else None


@command.command("terms")
@click.argument("name")
@click.argument("says", type=click.Choice(["allowed", "forbidden", "unknown"]))
@click.option("--page", metavar="URL", help="Where they stand.")
@click.option(
    "--read", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="When you read them (default: today, UTC)."
)
@data_dir_option
def terms_(name: str, says: str, page: str | None, read: datetime | None, data_dir: str | None) -> None:
    """Record what you read in the terms of source NAME: whether they allow it to be read by a program.

    Nights leave out what terms forbid; who names it (`--only`, the setting sources) has it read all the same. With
    `unknown` the record is taken out. Records are kept in decisions/terms.toml.
    """
    from gpuledger.extract import source as sources
    from gpuledger.flows.setup import naming, terms

    if name not in sources.names():
        raise click.UsageError(naming.no_source([name], sources.names()))
    data = data_of(data_dir)
    if says == "unknown":
        terms.remove(data, name)
        click.echo(gettext("{name}: what its terms say is not known").format(name=name))
        return
    if not page or not page.startswith(("https://", "http://")):
        raise click.UsageError(gettext("say with --page where they stand: an address that begins with https://"))
    day = (read or datetime.now(UTC)).date()
    if day > datetime.now(UTC).date():
        raise click.UsageError(gettext("{day} is still to come: give the day on which you read them").format(day=day))
    terms.put(data, terms.Terms(name, cast("Says", says), page, day))
    sentence = {
        "allowed": gettext("{name}: its terms allow it, as read on {day}"),
        "forbidden": gettext("{name}: its terms forbid it, as read on {day}; nights leave it out"),
    }[says]
    click.echo(sentence.format(name=name, day=day))


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Every source, also those that the setting sources leaves out.")
@click.option(
    "--report", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write to FILE (JSON) what was read, fields, times, and a sample of each page without anybody's words.",
)  # fmt: skip
@click.option("--sample", is_flag=True, help="Ask the bundled sample site instead of the live sources.")
@click.option("--night", type=int, default=1, show_default=True, metavar="N", help="Night of the sample site.")
@data_dir_option
@format_option
def check(
    names: tuple[str, ...], every: bool, report: Path | None, sample: bool, night: int, data_dir: str | None, form: str
) -> int:
    """Fetch one page of each source, or of those that are named, and say what would be read.

    Nothing is archived or loaded. Exit status 1 where a source fails, with its reason. `sources check --all --report FILE`
    is worth running once by whoever has a network: the file is what a fixture is written from.
    """
    from gpuledger.extract import source as sources
    from gpuledger.flows.checks import sources as check_sources
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.night.start import Request, context_for
    from gpuledger.flows.setup import settings as settings_module
    from gpuledger.flows.telling import progress

    if every and names:
        raise click.UsageError(gettext("--all are all sources: name none, or leave it out"))
    settings = settings_module.load({"data_dir": data_dir})
    names = tuple(sources.names()) if every else names
    try:
        request = Request(sample=sample, night=night if sample else None, only=names)
        context = context_for(settings, data_of(data_dir), "plain", request)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    with progress.shown(quiet=form != "table") as lines:
        checked = check_sources.check(replace(context, progress=lines))
    columns = ["source", "status", "url", "items", "issues", "first", "reason"]
    show(columns, [_json_row(one) if form == "json" else _row(one) for one in checked], form)
    failed = [one.source for one in checked if one.status == "failed"]
    if form == "table":
        for one in checked:
            for issue in one.issues:
                click.echo(f"{one.source}: {issue.severity} {issue.code}: {issue.message}")
        counts = gettext("{checked} checked, {failed} failed").format(checked=len(checked), failed=len(failed))
        click.echo(f"{counts}{': ' if failed else ''}{', '.join(failed)}")
    if report is not None:
        from gpuledger.flows.checks import page_report

        page_report.write(report, checked, context.started_at)
        click.echo(gettext("{file}: look through it before you send it").format(file=report), err=True)
    return 1 if failed else 0


@command.command()
@click.argument("name")
@click.option("--page", metavar="HASH", help="The newer page (default: that of the drift that was found last).")
@click.option("--against", metavar="HASH", help="The earlier page (default: the nearest that read well).")
@data_dir_option
@format_option
def diff(name: str, page: str | None, against: str | None, data_dir: str | None, form: str) -> int:
    """Two pages of a source side by side: what is read of each, field by field, and the markup around what is missing.

    Exit status 3 where the newer one gives less.
    """
    from gpuledger.extract import side_by_side
    from gpuledger.extract import source as sources
    from gpuledger.flows.checks import pages
    from gpuledger.flows.commands import _side_by_side
    from gpuledger.flows.setup import naming

    if name not in sources.names():
        raise click.UsageError(naming.no_source([name], sources.names()))
    data = data_of(data_dir)
    then, now = pages.pair(data, name, page, against)
    compared = side_by_side.compare(sources.get(name), then, now)
    told = [one.message for one in pages.drifts(data, name) if one.sha256 == now.sha256]
    _side_by_side.show_pages(compared, then, now, told, form)
    return 3 if compared.lost else 0


@command.command()
@click.argument("name")
@click.argument("page", metavar="PAGE")
@click.option("--price", required=True, help="A price that you see on it, as printed: 1,299.00.")
@data_dir_option
@format_option
def learn(name: str, page: str, price: str, data_dir: str | None, form: str) -> None:
    """Propose selectors for a page of source NAME, from one price on it: a starting point for a person.

    PAGE is a saved page (.gz too), or the hash of an archived one. Each selector says of how many cards of the page it
    gives something; nothing is stored.
    """
    from gpuledger.extract import learning
    from gpuledger.extract import source as sources
    from gpuledger.flows.checks import pages
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.setup import naming

    if name not in sources.names():
        raise click.UsageError(naming.no_source([name], sources.names()))
    proposals = learning.learn(sources.get(name), pages.one(data_of(data_dir), name, page), price)
    columns = ["what", "selector", "attribute", "found", "of", "example"]
    rows = [(one.what, one.selector, one.attribute, one.match_count, one.card_count, one.example) for one in proposals]
    show(columns, rows, form, title=gettext("Selectors to begin with"))


@command.command()
@click.argument("name")
@click.argument("key")
@click.argument("field")
@click.option("--new", "new", metavar="VALUE", help="What is right; left out, the field is emptied.")
@click.option(
    "--old", "old", metavar="VALUE", help="What the source says (default: what its newest archived page says)."
)
@click.option("--reason", default="", help="How you know; kept with the correction.")
@click.option("--remove", is_flag=True, help="Take the correction out.")
@data_dir_option
def correct(
    name: str, key: str, field: str, new: str | None, old: str | None, reason: str, remove: bool, data_dir: str | None
) -> None:
    """Correct FIELD of the row KEY of source NAME, where the source says it wrongly: from the next refresh on.

    KEY is the listing_key in core.listing, FIELD a field as `gpuledger parse` prints it. It holds for as long as the source
    says the same; where the source changes its mind, its word counts and an issue says so. Corrections are kept in
    decisions/corrections.toml.
    """
    from gpuledger.extract import source as sources
    from gpuledger.flows.checks import correcting
    from gpuledger.flows.setup import corrections, naming

    if name not in sources.names():
        raise click.UsageError(naming.no_source([name], sources.names()))
    data = data_of(data_dir)
    if remove:
        removed = corrections.remove(data, name, key, field)
        if removed is None:
            message = gettext("there is no correction of {name}; `gpuledger sources corrections` lists them")
            raise click.UsageError(message.format(name=f"{name} {key} {field}"))
        click.echo(gettext("{name} is as the source says it from the next refresh on").format(name=removed.name))
        return
    try:
        one = correcting.correction(data, (name, key, field), old, new, reason)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    before = corrections.add(data, one)
    if before is not None:
        click.echo(
            gettext("replaced the correction of {day} ({reason})").format(day=before.decided, reason=before.reason)
        )
    sentence = gettext("{name}: {new} counts for {old} from the next refresh on")
    click.echo(sentence.format(name=one.name, new=_quoted(one.new), old=_quoted(one.old)))


def _quoted(value: str | None) -> str:
    return gettext("nothing") if value is None else repr(value)


@command.command("corrections")
@data_dir_option
@format_option
def corrections_(data_dir: str | None, form: str) -> None:
    """The corrections of this data directory, and what became of each on the newest night of its source."""
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.setup import corrections
    from gpuledger.transform.answers import corrected

    data = data_of(data_dir)
    states = corrected.states(data)
    rows = []
    for one in corrections.of(data):
        status, value, seen_at = states.get((one.source, one.key, one.field), ("not_read", None, None))
        rows.append((one.source, one.key, one.field, one.old, one.new, status, value, seen_at, one.reason, one.decided))
    columns = ["source", "key", "field", "old", "new", "status", "says now", "last confirmed", "reason", "decided"]
    show(columns, rows, form, none=gettext("no correction yet: `gpuledger sources correct` makes one"))


def _key(source: Source, settings: Settings, said: Said) -> str | None:
    """Whether an official interface can be asked; None for pages that anybody may read."""
    from gpuledger.flows.night.gather import keys_missing

    if source.access is None:
        return None
    missing = keys_missing(source, settings)
    return said(N_("set {names}: it is left out")).format(names=", ".join(missing)) if missing else said(N_("is set"))


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
