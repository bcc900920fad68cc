"""Take in measurements: a user's own figures and files of benchmark programs, checked against the catalogue and workloads.

Purchases depend on these figures, so a figure goes in only with one card, a count and a workload. If the file does not state
one of these, the user must.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.readers.measured import plain
from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, NotReadable
from gpuledger.extract.readers.measured.plain import StoredFigure
from gpuledger.extract.readers.measured.read import read_figures
from gpuledger.flows.decisions import identities
from gpuledger.transform import workloads
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.workloads import BadWorkload, Workload
from gpuledger.warehouse.paths import DataDir

#: The source by whose conventions names of cards are read.
SOURCE = "measurements"


class NotTaken(Exception):
    """Nothing was stored. Every problem states its place and the way out."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDetails:
    """What the user states about a file in addition to its content.

    `gpus` maps a printed name to its card, and the empty name to the card of all figures. `workload` is that of all figures,
    for a file with one kind of figure. Without a `claim`, the claim is that of the figure or of the file's format.
    """

    claim: str | None = None
    gpus: Mapping[str, str]
    gpu_count: int | None = None
    workload: str | None = None
    measured_by: str | None = None
    measured_on: date | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: the figures, the workloads that are new with them, and what was left out, with reasons."""

    path: Path
    format: str
    kept: tuple[StoredFigure, ...]
    new_workloads: tuple[Workload, ...]
    left_out: tuple[str, ...]
    is_new: bool


def take_file(file: Path, data: DataDir, details: UserDetails, today: date) -> Stored:
    """Take in a file of any known format. Raises NotTaken."""
    content = local_files.read_bytes(file, follow=True)
    try:
        figures_read = read_figures(content)
    except NotReadable as error:
        raise NotTaken([f"{file}: {error}"]) from None
    if not figures_read.figures:
        raise NotTaken([f"{file}: no figure in it", *figures_read.left_out])
    return take(figures_read, data, details, today, origin=(file.name, content))


def take(
    figures_read: MeasurementFile, data: DataDir, details: UserDetails, today: date, *, origin: tuple[str, bytes]
) -> Stored:
    """Store figures with the file that they come from; `origin` is its name and its bytes. Raises NotTaken."""
    name, content = origin
    sha256 = hashlib.sha256(content).hexdigest()
    known = workloads.known(data.workloads)
    resolver = identities.of(data).resolver()
    problems: list[str] = []
    left_out = list(figures_read.left_out)
    rows: dict[tuple[str, str, str], StoredFigure] = {}
    new: dict[str, Workload] = {}
    for figure in figures_read.figures:
        try:
            figure = _on_processor_too(figure)
            card, count = _card(figure, details, resolver)
            workload = _workload(figure, details, count, {**known, **new})
        except _NoCard as error:
            left_out.append(f"{figure.where}: {error}")
            continue
        except (NotTaken, BadWorkload) as error:
            problems.append(f"{name}{f', {figure.where}' if figure.where else ''}: {error}")
            continue
        if workload.workload_id not in known:
            new[workload.workload_id] = workload
        row = _kept(figure, details, (card, count), workload, today)
        row = replace(row, claim=details.claim or figure.claim or figures_read.claim, origin=name, origin_sha256=sha256)
        place = (row.workload_id, row.gpu_name, row.place)
        rows[place] = row
    if problems:
        raise NotTaken(list(dict.fromkeys(problems)))
    if not rows:
        raise NotTaken([f"{name}: no figure of a card that is known; `gpuledger gpu add` adds one", *left_out])
    to_store = Stored(
        Path(f"{sha256[:16]}.csv"),
        figures_read.format,
        tuple(rows.values()),
        tuple(new.values()),
        tuple(left_out),
        True,
    )
    return _store(data, to_store, (name, sha256, content))


def _store(data: DataDir, figures: Stored, origin: tuple[str, str, bytes]) -> Stored:
    """Write the figures, their new workloads and the file that they come from; `origin` is its name, hash and bytes."""
    name, sha256, content = origin
    written = plain.write(figures.kept)
    path = data.measurements / figures.path
    is_new = not path.exists() or path.read_bytes() != written
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        for workload in figures.new_workloads:
            workloads.save(data.workloads, workload)
        archive_files.write(path.parent / "files" / f"{sha256[:16]}-{_file_name(name)}", content)
        archive_files.write(path, written)
    return replace(figures, path=path, is_new=is_new)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[-80:]


class _NoCard(Exception):
    """The figure belongs to no GPU of the catalogue. The other figures of the file are taken in."""


def _card(figure: Figure, details: UserDetails, resolver: Resolver) -> tuple[str, int]:
    """The card of a figure, as a name that means only it, and the number of cards. Raises NotTaken and _NoCard."""
    printed = figure.gpu_name or ""
    name = details.gpus.get(printed) or details.gpus.get("") or printed
    if not name:
        raise NotTaken(["the file does not say which GPU it was: give it with --gpu 'NAME'"])
    resolved = resolver.resolve(name, source=SOURCE)
    if resolved.status == "ambiguous":
        which = ", ".join(resolved.candidates)
        raise NotTaken([f"{name!r} may be {which}: say which with --gpu '{printed}=NAME'"])
    if resolved.gpu_id is None:
        if printed and name == printed:
            raise _NoCard(f"{name!r} is no GPU of the catalogue")
        raise NotTaken([f"{name!r} is no GPU of the catalogue; `gpuledger resolve '{name}'` says why"])
    count = details.gpu_count or figure.gpu_count
    if count is None:
        raise NotTaken(["the file does not say how many GPUs ran: give it with --gpu-count"])
    return name, count


def _on_processor_too(figure: Figure) -> Figure:
    """The figure. If some layers ran on the processor, or may have, it gets a workload of its own."""
    if figure.layers_on_card is None:
        return figure
    model_id = model_of(figure.model or "")
    # The output after the last layer counts as one more layer.
    if model_id is not None and figure.layers_on_card > catalogue.architecture(model_id).layers:
        return figure
    return replace(
        figure,
        workload_id=f"{figure.workload_id}-ngl{figure.layers_on_card}",
        workload=f"{figure.workload}, {figure.layers_on_card} layers on the card",
        is_single_stream=False,
    )


def _workload(figure: Figure, details: UserDetails, count: int, known: Mapping[str, Workload]) -> Workload:
    """The workload of a figure: the one that the user states, the known one of the figure's name, or a new one.

    Raises NotTaken and BadWorkload.
    """
    workload_name = details.workload or figure.workload_id
    if (workload_id := workloads.id_named(workload_name, known)) is not None:
        workload = known[workload_id]
        if workload.unit != figure.unit:
            raise NotTaken([f"{workload_id} is measured in {workload.unit}, not in {figure.unit}"])
        if workload.gpu_count != count:
            raise NotTaken(
                [f"{workload_id} is measured with {workload.gpu_count} cards, not with {count}: it is another workload"]
            )
        return workload
    if details.workload or not figure.workload:
        close = workloads.nearest(workload_name, known)
        did_you_mean = f"did you mean {' or '.join(close)}? " if close else ""
        or_say = "" if details.workload else ", --workload names one for all figures of a file"
        raise NotTaken(
            [f"no workload is called {workload_name!r}; {did_you_mean}`gpuledger workload add` adds one{or_say}"]
        )
    suffix = f"-{count}x" if count > 1 and not figure.workload_id.endswith(f"-{count}x") else ""
    model = model_of(figure.model) if figure.model else None
    is_one = figure.is_single_stream and count == 1
    return _known_or(
        known,
        Workload(
            workload_id=figure.workload_id + suffix,
            workload=figure.workload + (f", {count} cards" if suffix else ""),
            unit=figure.unit,
            description=f"{figure.workload}{f' ({figure.precision})' if figure.precision else ''}",
            direction=figure.direction,
            gpu_count=count,
            # `buy` uses these as a card's own speed: one card, one answer at a time. What a server writes for all its users
            # is compared with what is expected of it.
            output=None
            if not (model and figure.precision)
            else "token"
            if is_one
            else "served_token"
            if figure.is_written
            else None,
            iterations=1 if is_one and model and figure.precision else None,
            model=model,
            precision=figure.precision,
            software=figure.software,
        ),
    )


def _known_or(known: Mapping[str, Workload], workload: Workload) -> Workload:
    return known.get(workload.workload_id, workload)


def model_of(name: str) -> str | None:
    """The model of the catalogue whose id is part of `name`, word by word. If several are, the longest id."""
    words = _words(name)
    model_ids = [
        model_id
        for model_id in catalogue.models()
        if any(words[at : at + len(_words(model_id))] == _words(model_id) for at in range(len(words)))
    ]
    return max(model_ids, key=lambda model_id: (len(_words(model_id)), model_id), default=None)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9.]+|\.(?=[a-z])", name.lower()) if word]


def _kept(
    figure: Figure, details: UserDetails, cards: tuple[str, int], workload: Workload, today: date
) -> StoredFigure:
    card, count = cards
    return StoredFigure(
        workload_id=workload.workload_id, gpu_name=card, score=figure.score, unit=figure.unit, gpu_count=count,
        claim="", model=figure.model, precision=figure.precision, software=figure.software,
        batch_size=figure.batch_size, context_tokens=figure.context_tokens, prompt_tokens=figure.prompt_tokens,
        concurrent_users=figure.concurrent_users,
        measured_on=details.measured_on or figure.measured_on or today,
        measured_by=details.measured_by or figure.measured_by, place=figure.where, origin="", origin_sha256="",
    )  # fmt: skip
