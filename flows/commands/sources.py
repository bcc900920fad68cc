"""`gpuledger sources`: list the sources, check one page of each, and record terms and corrections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import click

from gpuledger.flows.doors.asking.options import Whole, data_dir_option, data_of, format_option
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import as_wrong_use

if TYPE_CHECKING:
    from gpuledger.extract.source import Source
    from gpuledger.flows.checks.sources import Checked
    from gpuledger.flows.decisions.terms import Says, Terms
    from gpuledger.flows.night.left_out import LeftOut
    from gpuledger.flows.settings.settings import Settings
    from gpuledger.items import Item
    from gpuledger.transform.answers.trust.sources import Record


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
    from gpuledger.flows.decisions.terms import TERMS
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.night import left_out
    from gpuledger.flows.settings import settings as settings_module
    from gpuledger.flows.telling import health

    translate = gettext if form == "table" else str
    columns = [
        "source", "title", "kinds", "status", "failed of 30", "robots", "terms", "interface", "sample", "live addresses",
        "freshness_hours", "homepage", "key",
    ]  # fmt: skip
    settings = settings_module.load({})
    data = data_of(data_dir)
    records = health.records(data)
    read_terms = TERMS.by_key(data.root)
    left_out_now = {
        source.source: source for source in left_out.by_default(records, discover(), health.clock(data), read_terms)
    }
    rows = []
    for s in discover():
        record = records.get(s.name)
        interface = translate("is one") if s.interface == s.name else s.interface and translate(s.interface)
        rows.append((
            s.name, translate(s.title), ", ".join(s.kinds), record and record.status,
            record and f"{record.failed}/{record.nights}", _robots(s, record, left_out_now.get(s.name), translate),
            _terms(s, read_terms.get(s.name), translate), interface, bool(s.sample), len(s.start), s.freshness_hours,
            s.homepage, _key(s, settings, translate),
        ))  # fmt: skip
    show_rows(columns, rows, form)


#: Translates a text for people. For programs it returns the text as it is.
Translate = Callable[[str], str]


def _robots(source: Source, record: Record | None, forbidden: LeftOut | None, translate: Translate) -> str | None:
    """What the site's robots.txt last said. None for a source that is not a site."""
    if source.access is not None:
        return translate(N_("asked with a key"))
    if not source.start:
        return None
    if forbidden is not None and forbidden.again is not None:
        return translate(N_("forbidden, left out until {day}")).format(day=f"{forbidden.again:%Y-%m-%d}")
    return translate((record and record.robots) or "not asked yet")


def _terms(source: Source, read: Terms | None, translate: Translate) -> str | None:
    """What a person read in the terms of the site, and when. None for a source that is not a site."""
    if read is not None:
        return f"{translate(read.says)}, {read.read}, {read.page}"
    return translate("unknown") if source.start else None


def _refuse_unknown(name: str) -> None:
    """A usage error for a name that is no source's, which names the sources that are spelt alike."""
    from gpuledger.extract import source as sources

    if name not in sources.names():
        raise click.UsageError(wrong_use.no_source([name], sources.names()))


@command.command("terms")
@click.argument("name")
@click.argument("says", type=click.Choice(["allowed", "forbidden", "unknown"]))
@click.option("--page", metavar="URL", help="Where they stand.")
@click.option(
    "--read", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="When you read them (default: today, UTC)."
)
@click.option("--publish", "sentence", default="", metavar="TEXT",
              help="The sentence in them that allows what was read to be published.")  # fmt: skip
@click.option("--licence", default="", metavar="NAME", help="The licence under which it may be.")
@data_dir_option
def terms_(
    name: str, says: str, page: str | None, read: datetime | None, sentence: str, licence: str, data_dir: str | None
) -> None:
    """Record what you read in the terms of source NAME: whether they allow it to be read by a program, and published.

    Nights leave out what terms forbid; who names it (`--only`, the setting sources) has it read all the same. With
    `unknown` the record is taken out. Records are kept in decisions/terms.toml.
    """
    from gpuledger.extract import source as sources
    from gpuledger.flows.decisions.terms import TERMS, Terms

    _refuse_unknown(name)
    data = data_of(data_dir)
    if says == "unknown":
        TERMS.remove(data.root, name)
        click.echo(gettext("{name}: what its terms say is not known").format(name=name))
        return
    if not page or not page.startswith(("https://", "http://")):
        raise click.UsageError(gettext("give the address of the terms with --page; it begins with https://"))
    day = (read or datetime.now(UTC)).date()
    if day > datetime.now(UTC).date():
        raise click.UsageError(gettext("{day} is still to come: give the day on which you read them").format(day=day))
    declared = sources.get(name).publishing
    if sentence and declared is not None and not declared.allowed:
        raise click.UsageError(
            gettext("{name} may not be published: {sentence} ({page})").format(
                name=name, sentence=declared.sentence, page=declared.page
            )
        )
    TERMS.put(data.root, Terms(name, cast("Says", says), page, day, sentence, licence))
    recorded = {
        "allowed": gettext("{name}: its terms allow it, as read on {day}"),
        "forbidden": gettext("{name}: its terms forbid it, as read on {day}; nights leave it out"),
    }[says]
    click.echo(recorded.format(name=name, day=day))


@command.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--sample", is_flag=True, help="Ask the bundled sample site instead of the live sources.")
@click.option("--night", type=Whole(1), default=1, show_default=True, metavar="N", help="Night of the sample site.")
@data_dir_option
@format_option
def check(names: tuple[str, ...], sample: bool, night: int, data_dir: str | None, form: str) -> int:
    """Fetch one page of each source, or of those that are named, and say what would be read.

    Nothing is archived or loaded. Exit status 1 where a source fails, with its reason.
    """
    from gpuledger.flows.checks import sources as check_sources
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.night.start import Request, context_for
    from gpuledger.flows.settings import settings as settings_module
    from gpuledger.flows.telling import progress

    settings = settings_module.load({"data_dir": data_dir})
    with as_wrong_use(ValueError):
        request = Request(sample=sample, night=night if sample else None, only=names)
        context = context_for(settings, data_of(data_dir), "plain", request)
    with progress.live_lines(quiet=form != "table") as lines:
        checked = check_sources.check(replace(context, progress=lines))
    columns = ["source", "status", "url", "items", "issues", "first", "reason"]
    show_rows(columns, [_row(result, to_programs=form == "json") for result in checked], form)
    failed = [result.source for result in checked if result.status == "failed"]
    if form == "table":
        for result in checked:
            for issue in result.issues:
                click.echo(f"{result.source}: {issue.severity} {issue.code}: {issue.message}")
        counts = gettext("{checked} checked, {failed} failed").format(checked=len(checked), failed=len(failed))
        click.echo(f"{counts}{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed else 0


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
    from gpuledger.flows.checks import pages
    from gpuledger.flows.decisions.corrections import CORRECTIONS

    _refuse_unknown(name)
    data = data_of(data_dir)
    if remove:
        removed = CORRECTIONS.remove(data.root, (name, key, field))
        if removed is None:
            message = gettext("there is no correction of {name}; `gpuledger sources corrections` lists them")
            raise click.UsageError(message.format(name=f"{name} {key} {field}"))
        click.echo(gettext("{name} is as the source says it from the next refresh on").format(name=removed.name))
        return
    with as_wrong_use(ValueError):
        correction = pages.correction(data, (name, key, field), old, new, reason)
    before = CORRECTIONS.put(data.root, correction)
    if before is not None:
        click.echo(
            gettext("replaced the correction of {day} ({reason})").format(day=before.decided, reason=before.reason)
        )
    sentence = gettext("{name}: {new} counts instead of {old} from the next refresh on")
    click.echo(sentence.format(name=correction.name, new=_quoted(correction.new), old=_quoted(correction.old)))


def _quoted(value: str | None) -> str:
    return gettext("nothing") if value is None else repr(value)


@command.command("corrections")
@data_dir_option
@format_option
def corrections_(data_dir: str | None, form: str) -> None:
    """The corrections of this data directory, and what became of each on the newest night of its source."""
    from gpuledger.flows.decisions.corrections import CORRECTIONS
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.answers.trust import corrected

    data = data_of(data_dir)
    states, unread = corrected.states(data), ("not_read", None, None)
    rows = [
        (*one.place, one.old, one.new, *states.get(one.place, unread), one.reason, one.decided)
        for one in CORRECTIONS.all(data.root)
    ]
    columns = ["source", "key", "field", "old", "new", "status", "says now", "last confirmed", "reason", "decided"]
    show_rows(columns, rows, form, if_empty=gettext("no correction yet: `gpuledger sources correct` makes one"))


def _key(source: Source, settings: Settings, translate: Translate) -> str | None:
    """Whether the key of an official interface is set. None for a source that needs no key."""
    from gpuledger.flows.night.gather import keys_missing

    if source.access is None:
        return None
    missing = keys_missing(source, settings)
    return (
        translate(N_("set {names}: it is left out")).format(names=", ".join(missing))
        if missing
        else translate(N_("is set"))
    )


def _row(result: Checked, *, to_programs: bool) -> tuple[Any, ...]:
    from gpuledger.items import to_json

    counts, issues, first = dict(result.counts or {}), [*map(to_json, result.issues)], result.first
    shown: tuple[Any, ...] = (counts, issues, first and to_json(first))
    if not to_programs:
        listed = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        shown = (listed, len(issues) or None, first and _summary(first))
    return result.source, result.status, result.url, *shown, result.reason


def _summary(item: Item) -> str:
    """A short text for an item: its name and its figure."""
    from gpuledger.items import to_json

    row = to_json(item)
    name = next((row[field] for field in ("title", "gpu_name", "image_url", "currency") if row.get(field)), "")
    figure = next((f"{row[field]} {row.get('unit') or row.get('currency') or ''}".strip()
                   for field in ("price", "score", "relative_percent", "rate") if row.get(field)), "")  # fmt: skip
    return f"{str(name)[:70]} · {figure}" if figure else str(name)[:70]
