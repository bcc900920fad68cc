"""Take in measurements: figures of one's own and files that benchmark programs write, checked against all that is known.

A figure decides purchases, so it goes in only with one card, a count and a workload; what a file leaves open is asked for.
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
from gpuledger.flows.setup import identities
from gpuledger.transform import workloads
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.workloads import BadWorkload, Workload
from gpuledger.warehouse.paths import DataDir

#: The source whose conventions names are read by.
SOURCE = "measurements"


class NotTaken(Exception):
    """Nothing was stored; every problem says the place and the way out."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the person says of a file beyond what stands in it.

    `gpus` gives the card of a name as printed, and under the empty name the card of all figures. `workload` is that of all
    figures, for a file that holds one kind. Without a `claim` they are what files of the format hold.
    """

    claim: str | None = None
    gpus: Mapping[str, str]
    gpu_count: int | None = None
    workload: str | None = None
    measured_by: str | None = None
    measured_on: date | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: the figures, the workloads that are new with them, and what of the file is no figure and why."""

    path: Path
    format: str
    kept: tuple[StoredFigure, ...]
    new_workloads: tuple[Workload, ...]
    left_out: tuple[str, ...]
    is_new: bool


def take_file(file: Path, data: DataDir, said: Said, today: date) -> Stored:
    """Take in a file of any known format. Raises NotTaken."""
    content = local_files.read_bytes(file, follow=True)
    try:
        taken = read_figures(content)
    except NotReadable as error:
        raise NotTaken([f"{file}: {error}"]) from None
    if not taken.figures:
        raise NotTaken([f"{file}: no figure in it", *taken.left_out])
    return take(taken, data, said, today, origin=(file.name, content))


def take(taken: MeasurementFile, data: DataDir, said: Said, today: date, *, origin: tuple[str, bytes]) -> Stored:
    """Keep figures with the file that they were read from, `origin` being its name and its bytes. Raises NotTaken."""
    name, content = origin
    sha256 = hashlib.sha256(content).hexdigest()
    known = workloads.known(data.workloads)
    resolver = identities.of(data).resolver()
    problems: list[str] = []
    left_out = list(taken.left_out)
    kept: dict[tuple[str, str, str], StoredFigure] = {}
    new: dict[str, Workload] = {}
    for figure in taken.figures:
        try:
            figure = _on_processor_too(figure)
            card, count = _card(figure, said, resolver)
            workload = _workload(figure, said, count, {**known, **new})
        except _NoCard as error:
            left_out.append(f"{figure.where}: {error}")
            continue
        except (NotTaken, BadWorkload) as error:
            problems.append(f"{name}{f', {figure.where}' if figure.where else ''}: {error}")
            continue
        if workload.workload_id not in known:
            new[workload.workload_id] = workload
        one = _kept(figure, said, (card, count), workload, today)
        one = replace(one, claim=said.claim or figure.claim or taken.claim, origin=name, origin_sha256=sha256)
        place = (one.workload_id, one.gpu_name, one.place)
        kept[place] = one
    if problems:
        raise NotTaken(list(dict.fromkeys(problems)))
    if not kept:
        raise NotTaken([f"{name}: no figure of a card that is known; `gpuledger gpu add` adds one", *left_out])
    found = Stored(
        Path(f"{sha256[:16]}.csv"), taken.format, tuple(kept.values()), tuple(new.values()), tuple(left_out), True
    )
    return _store(data, found, (name, sha256, content))


def _store(data: DataDir, taken: Stored, origin: tuple[str, str, bytes]) -> Stored:
    """Write the figures, their workloads and the file that they came from: its name, its hash and its bytes."""
    name, sha256, content = origin
    written = plain.write(taken.kept)
    path = data.measurements / taken.path
    is_new = not path.exists() or path.read_bytes() != written
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        for workload in taken.new_workloads:
            workloads.save(data.workloads, workload)
        archive_files.write(path.parent / "files" / f"{sha256[:16]}-{_file_name(name)}", content)
        archive_files.write(path, written)
    return replace(taken, path=path, is_new=is_new)


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[-80:]


class _NoCard(Exception):
    """The figure is of something that is no GPU of the catalogue; the others of the file go in."""


def _card(figure: Figure, said: Said, resolver: Resolver) -> tuple[str, int]:
    """The one card that a figure is of, by a name that means it, and how many. Raises NotTaken and _NoCard."""
    printed = figure.gpu_name or ""
    name = said.gpus.get(printed) or said.gpus.get("") or printed
    if not name:
        raise NotTaken(["the file does not say which GPU it was: give it with --gpu 'NAME'"])
    found = resolver.resolve(name, source=SOURCE)
    if found.status == "ambiguous":
        which = ", ".join(found.candidates)
        raise NotTaken([f"{name!r} may be {which}: say which with --gpu '{printed}=NAME'"])
    if found.gpu_id is None:
        if printed and name == printed:
            raise _NoCard(f"{name!r} is no GPU of the catalogue")
        raise NotTaken([f"{name!r} is no GPU of the catalogue; `gpuledger resolve '{name}'` says why"])
    count = said.gpu_count or figure.gpu_count
    if count is None:
        raise NotTaken(["the file does not say how many GPUs ran: give it with --gpu-count"])
    return name, count


def _on_processor_too(figure: Figure) -> Figure:
    """A figure of which a part of the layers ran on the processor, or may have, as a workload of its own."""
    if figure.layers_on_card is None:
        return figure
    model_id = model_of(figure.model or "")
    # What is behind the last layer counts as one more.
    if model_id is not None and figure.layers_on_card > catalogue.architecture(model_id).layers:
        return figure
    return replace(
        figure,
        workload_id=f"{figure.workload_id}-ngl{figure.layers_on_card}",
        workload=f"{figure.workload}, {figure.layers_on_card} layers on the card",
        is_single_stream=False,
    )


def _workload(figure: Figure, said: Said, count: int, known: Mapping[str, Workload]) -> Workload:
    """The workload of a figure: the one that was said, one of that name, or a new one. Raises NotTaken and BadWorkload."""
    wanted = said.workload or figure.workload_id
    if (workload_id := workloads.id_named(wanted, known)) is not None:
        workload = known[workload_id]
        if workload.unit != figure.unit:
            raise NotTaken([f"{workload_id} is measured in {workload.unit}, not in {figure.unit}"])
        if workload.gpu_count != count:
            raise NotTaken(
                [f"{workload_id} is measured with {workload.gpu_count} cards, not with {count}: it is another workload"]
            )
        return workload
    if said.workload or not figure.workload:
        close = workloads.nearest(wanted, known)
        did_you_mean = f"did you mean {' or '.join(close)}? " if close else ""
        or_say = "" if said.workload else ", --workload names one for all figures of a file"
        raise NotTaken([f"no workload is called {wanted!r}; {did_you_mean}`gpuledger workload add` adds one{or_say}"])
    suffix = f"-{count}x" if count > 1 and not figure.workload_id.endswith(f"-{count}x") else ""
    model = model_of(figure.model) if figure.model else None
    return _known_or(
        known,
        Workload(
            workload_id=figure.workload_id + suffix,
            workload=figure.workload + (f", {count} cards" if suffix else ""),
            unit=figure.unit,
            description=f"{figure.workload}{f' ({figure.precision})' if figure.precision else ''}",
            direction=figure.direction,
            gpu_count=count,
            # What the decision takes for a card's own speed: one card, one answer at a time.
            output="token" if figure.is_single_stream and count == 1 and model and figure.precision else None,
            iterations=1 if figure.is_single_stream and count == 1 and model and figure.precision else None,
            model=model,
            precision=figure.precision,
            software=figure.software,
        ),
    )


def _known_or(known: Mapping[str, Workload], workload: Workload) -> Workload:
    return known.get(workload.workload_id, workload)


def model_of(name: str) -> str | None:
    """The model of the catalogue whose id stands in a file's name for a model, word by word; the longest one."""
    words = _words(name)
    found = [
        model_id
        for model_id in catalogue.models()
        if any(words[at : at + len(_words(model_id))] == _words(model_id) for at in range(len(words)))
    ]
    return max(found, key=lambda one: (len(_words(one)), one), default=None)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9.]+|\.(?=[a-z])", name.lower()) if word]


def _kept(figure: Figure, said: Said, cards: tuple[str, int], workload: Workload, today: date) -> StoredFigure:
    card, count = cards
    return StoredFigure(
        workload_id=workload.workload_id, gpu_name=card, score=figure.score, unit=figure.unit, gpu_count=count,
        claim="", model=figure.model, precision=figure.precision, software=figure.software,
        batch_size=figure.batch_size, context_tokens=figure.context_tokens, concurrent_users=figure.concurrent_users,
        measured_on=said.measured_on or figure.measured_on or today, measured_by=said.measured_by or figure.measured_by,
        place=figure.where, origin="", origin_sha256="",
    )  # fmt: skip
