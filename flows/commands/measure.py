"""`gpuledger measure`: add a person's own figures, typed or from files that benchmark programs write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.doors.asking.options import (
    Whole,
    data_dir_option,
    data_of,
    day,
    format_option,
)
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say

if TYPE_CHECKING:
    from gpuledger.flows.decisions.measure import Stored

_CLAIMS = ("own", "published", "vendor")


@click.group()
def command() -> None:
    """Take in measurements; the next refresh or rebuild ranks and prices them with all others."""


def _about(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that describe any figure: number of cards, who measured it, when, and whose claim it is."""
    for option in (
        click.option("--gpu-count", type=Whole(1), help="Cards that gave the figure together."),
        click.option("--by", "measured_by", metavar="WHO", help="Who measured it."),
        click.option(
            "--on",
            "measured_on",
            type=day,
            metavar="DAY",
            help="When (default: the file's, or today).",
        ),
        click.option(
            "--claim",
            type=click.Choice(_CLAIMS),
            help="Whose figure it is (default: own; of a file with a round of results: published).",
        ),
    ):
        function = option(function)
    return function


@command.command()
@click.argument("workload")
@click.argument("score")
@click.option(
    "--gpu",
    required=True,
    metavar="NAME",
    help="The card, with its memory where the name is sold with several.",
)
@click.option("--software", metavar="NAME", help="What ran it, with its version.")
@click.option("--precision", metavar="P", help="Number format of the weights.")
@click.option("--context", type=Whole(1), help="Tokens of prompt and answer together.")
@click.option("--users", type=Whole(1), help="Requests that were answered at once.")
@_about
@data_dir_option
def add(workload: str, score: str, gpu: str, data_dir: str | None, **about: Any) -> int:
    """Keep one figure: SCORE in the unit of WORKLOAD."""
    from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile
    from gpuledger.flows.decisions import measure
    from gpuledger.transform import workloads

    data = data_of(data_dir)
    known = workloads.known(data.root)
    workload_id = workloads.id_named(workload, known)
    if workload_id is None:
        close = workloads.nearest(workload, known)
        message = gettext("no workload is called {workload!r}; known are:")
        if close:
            message = gettext("no workload is called {workload!r}; the nearest are:")
        raise click.UsageError("\n  ".join([message.format(workload=workload), *(close or known)]))
    try:
        amount = Decimal(score)
    except InvalidOperation:
        raise click.UsageError(f"{score!r} is no number such as 28.923") from None
    if not amount.is_finite() or amount <= 0:
        raise click.UsageError(f"a score must be above zero, not {score}")
    day = about["measured_on"] or datetime.now()  # noqa: DTZ005 - the day on which the person says it
    figure = Figure(
        workload_id=workload_id, workload="", unit=known[workload_id].unit, score=amount,
        gpu_count=about["gpu_count"] or known[workload_id].gpu_count, precision=about["precision"],
        software=about["software"], context_tokens=about["context"],
        concurrent_users=about["users"], measured_on=day.date(),
    )  # fmt: skip
    details = _details(about, (gpu,), None)
    # The command as it was typed is archived, as the evidence for the figure.
    typed = f"measure add {workload_id} {score} --gpu {gpu!r} {sorted((k, str(v)) for k, v in about.items() if v)}\n"
    return _store_and_report(
        lambda: measure.take(
            MeasurementFile("one figure", [figure]), data, details, day.date(), origin=("measure add", typed.encode())
        )
    )


@command.command(name="import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--gpu",
    "gpus",
    multiple=True,
    metavar="[PRINTED=]NAME",
    help="The card of all figures, or of those that the file calls PRINTED. May be repeated.",
)
@click.option(
    "--workload",
    metavar="W",
    help="The workload of all figures (default: one is made of what the file says).",
)
@click.option("--model", metavar="M", help="The model that ran, if the file does not name it.")
@click.option("--precision", metavar="P", help="Number format of the weights, if the file does not name it.")
@click.option("--software", metavar="NAME", help="The program that answered, if the file does not name it.")
@click.option("--users", type=Whole(1), metavar="N", help="Requests at once, if the file does not say it.")
@click.option("--input", type=Whole(1), metavar="N", help="Tokens read for each request, likewise.")
@click.option("--output", type=Whole(1), metavar="N", help="Tokens written for each request, likewise.")
@_about
@data_dir_option
def import_(file: Path, gpus: Sequence[str], workload: str | None, data_dir: str | None, **about: Any) -> int:
    """Keep the figures of FILE: llama-bench (JSON, CSV or Markdown), vLLM bench serve, throughput and latency, SGLang
    bench_serving, aiperf, `ollama run --verbose`, llmfit, MLPerf Inference summaries, InferenceX, or a CSV with
    workload_id, gpu_name, score and unit.

    What a file leaves open (which card, how many) is asked for and never guessed. Exit status 1, and nothing stored, until
    all is said. """  # fmt: skip
    from gpuledger.flows.decisions import measure

    today = datetime.now().date()  # noqa: DTZ005 - the day on which the person says it
    details = _details(about, gpus, workload)
    return _store_and_report(lambda: measure.take_file(file, data_of(data_dir), details, today))


def _details(about: dict[str, Any], gpus: Sequence[str], workload: str | None) -> Any:
    from gpuledger.extract.readers.measured.figure import Said
    from gpuledger.flows.decisions.measure import UserDetails

    cards_by_printed: dict[str, str] = {}
    for text in gpus:
        printed, _, name = text.rpartition("=")
        cards_by_printed[printed] = name
    return UserDetails(
        claim=about["claim"], gpus=cards_by_printed, gpu_count=about["gpu_count"], workload=workload,
        measured_by=about["measured_by"], measured_on=about["measured_on"].date() if about["measured_on"] else None,
        said=Said(**{name: about.get(name) for name in ("model", "precision", "software", "input", "output", "users")}),
    )  # fmt: skip


@command.command("list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """The imports that count, each with its id, the file that it came from, and how many figures it has."""
    from gpuledger.flows.decisions import measure
    from gpuledger.flows.doors.showing.show import show_rows

    rows = [
        (
            import_id,
            next((figure.origin for figure in figures), None),
            len(figures),
            ", ".join(sorted({figure.gpu_name for figure in figures})),
            ", ".join(sorted({figure.claim for figure in figures})),
            max((figure.measured_on for figure in figures), default=None),
        )
        for import_id, figures in measure.imports(data_of(data_dir))
    ]
    show_rows(
        ["id", "file", "figures", "gpus", "claim", "measured_on"], rows, form,
        if_empty=gettext("no measurement is taken in yet: `gpuledger measure import FILE` takes some in"),
    )  # fmt: skip


@command.command()
@click.argument("id_", metavar="ID")
@data_dir_option
def remove(id_: str, data_dir: str | None) -> int:
    """Let the figures of the import ID (see `measure list`) no longer count.

    Their file is kept aside, in measurements/removed/: moved back, it counts again.
    """
    from gpuledger.flows.decisions import measure
    from gpuledger.message import Message

    try:
        count = measure.remove(data_of(data_dir), id_)
    except measure.NotTaken as error:
        raise click.UsageError(say(error.problems[0])) from None
    click.echo(say(Message(
        "figures of import {id} that no longer count from the next `gpuledger refresh` on: {count}",
        count=count, id=id_,
    )))  # fmt: skip
    return 0


def _store_and_report(store: Callable[[], Stored]) -> int:
    from gpuledger.flows.decisions.measure import NotTaken
    from gpuledger.message import Message

    try:
        stored = store()
    except NotTaken as error:
        for problem in error.problems:
            click.echo(say(problem), err=True)
        click.echo(gettext("{count} to settle; nothing was stored").format(count=len(error.problems)), err=True)
        return 1
    for line in stored.left_out:
        click.echo(gettext("left out: {line}").format(line=say(line)), err=True)
    for new in stored.new_workloads:
        click.echo(gettext("new workload {workload}: {words}").format(workload=new.workload_id, words=new.workload))
    for figure in stored.kept:
        cards = f"{figure.gpu_count} × " if figure.gpu_count > 1 else ""
        click.echo(
            f"{figure.workload_id}: {cards}{figure.gpu_name}: {figure.score.normalize():f} {figure.unit} ({figure.claim})"
        )
    unnamed = (f for f in stored.kept if not f.model) if stored.new_workloads else ()
    if any(unnamed) or any(new.unit == "tokens/s" and not new.precision for new in stored.new_workloads):
        click.echo(say(Message(
            "model or number format are not named, so these figures teach no speeds: the same import with --model "
            "and --precision takes their place",
        )))  # fmt: skip
    message = gettext(
        "figures kept in {path}: {count}; the next `gpuledger refresh` takes them in (with `--only measurements` it reads "
        "nothing else)"
    )
    if not stored.is_new:
        message = gettext("figures that were kept in {path} before: {count}")
    click.echo(message.format(count=len(stored.kept), path=stored.path))
    return 0
