"""Take in measurements: a user's own figures and files of benchmark programs, checked against the catalogue and workloads.

Purchases depend on these figures, so a figure goes in only with one card, a count and a workload. If the file does not state
one of these, the user must.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from gpuledger import local_files
from gpuledger.extract.archive import files as archive_files
from gpuledger.extract.readers.measured import plain
from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, NotReadable, Said, StoredFigure
from gpuledger.extract.readers.measured.read import read_figures
from gpuledger.flows.decisions import identities
from gpuledger.message import Message
from gpuledger.records import LONGEST_NAME
from gpuledger.transform import workloads
from gpuledger.transform.identity import catalogue as cards
from gpuledger.transform.identity.index import MACHINE
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.workloads import BadWorkload, Workload
from gpuledger.warehouse.paths import DataDir

#: The source by whose conventions names of cards are read.
SOURCE = "measurements"
#: The largest count of requests or tokens: tables keep 32 bits.
_MOST = 2**31 - 1
#: Letters of a file's hash by which an import is named.
ID_LENGTH = 8


class NotTaken(Exception):
    """Nothing was stored. Every problem states its place and the way out."""

    def __init__(self, problems: Sequence[str | Message]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDetails:
    """What the user states about a file in addition to its content.

    `gpus` maps a printed name to its card, and the empty name to the card of all figures. `workload` is that of all figures,
    for a file with one kind of figure. Without a `claim`, the claim is that of the figure or of the file's format. `said` is
    what was run.
    """

    claim: str | None = None
    gpus: Mapping[str, str]
    gpu_count: int | None = None
    workload: str | None = None
    measured_by: str | None = None
    measured_on: date | None = None
    said: Said = field(default_factory=Said)


@dataclass(frozen=True, slots=True)
class Stored:
    """What was stored: the figures, the workloads that are new with them, and what was left out, with reasons."""

    path: Path
    format: str
    kept: tuple[StoredFigure, ...]
    new_workloads: tuple[Workload, ...]
    left_out: tuple[str | Message, ...]
    is_new: bool


def take_file(file: Path, data: DataDir, details: UserDetails, today: date) -> Stored:
    """Take in a file of any known format. Raises NotTaken."""
    content = local_files.read_bytes(file, follow=True)
    try:
        figures_read = read_figures(content, details.said)
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
    known = workloads.known(data.root)
    resolver = identities.identities_of(data).resolver()
    problems: list[str | Message] = []
    left_out: list[str | Message] = list(figures_read.left_out)
    rows: dict[tuple[str, str, str], StoredFigure] = {}
    new: dict[str, Workload] = {}
    path = data.measurements / f"{sha256[:16]}.csv"
    before = dict(_stored_files(data))
    elsewhere = {_content(row): at for at, kept in before.items() if at != path for row in kept}
    # A day that nobody said is the day on which the file was first taken in.
    today = min((row.measured_on for row in before.get(path, ())), default=today)
    for figure in figures_read.figures:
        figure = _on_processor_too(figure)
        where = f"{name}{f', {figure.where}' if figure.where else ''}"
        try:
            card, count = _card(figure, details, resolver)
            workload = _workload(figure, details, count, {**known, **new}, sha256)
        except _NoCard as error:
            left_out.append(f"{figure.where}: {error}")
            continue
        except NotTaken as error:
            problems += [Message("{where}: {problem}", where=where, problem=problem) for problem in error.problems]
            continue
        except BadWorkload as error:
            problems.append(Message("{where}: {problem}", where=where, problem=str(error)))
            continue
        row = _kept(figure, details, (card, count), workload, today)
        problems += _impossible(row, name)
        row = replace(row, claim=details.claim or figure.claim or figures_read.claim, origin=name, origin_sha256=sha256)
        if (twin := elsewhere.get(_content(row))) is not None:
            left_out.append(Message(
                "{where}: the same figure is kept already (import {id})", where=figure.where, id=twin.stem[:ID_LENGTH],
            ))  # fmt: skip
            continue
        if workload.workload_id not in known:
            new[workload.workload_id] = workload
        place = (row.workload_id, row.gpu_name, row.where)
        rows[place] = row
    if problems:
        raise NotTaken(list(dict.fromkeys(problems)))
    if not rows:
        is_kept = any(isinstance(line, Message) for line in left_out)
        nothing = Message(
            "{file}: no figure in it that is new" if is_kept
            else "{file}: no figure of a card that is known; `gpuledger gpu add` adds one",
            file=name,
        )  # fmt: skip
        raise NotTaken([nothing, *left_out])
    to_store = Stored(path, figures_read.format, tuple(rows.values()), tuple(new.values()), tuple(left_out), True)
    return _store(data, to_store, (name, sha256, content))


def _impossible(figure: StoredFigure, name: str) -> Iterator[Message]:
    """What of a figure no card and no hall of racks does: the contract of measurements would leave it out every night. And
    each text that is longer than a name may be.
    """
    where = f"{name}{f', {figure.where}' if figure.where else ''}"
    for column in ("workload_id", "unit", "gpu_name", "model", "precision", "software", "measured_by"):
        if len(getattr(figure, column) or "") > LONGEST_NAME:
            problem = Message("{column} has at most {most} letters", column=column, most=LONGEST_NAME)
            yield Message("{where}: {problem}", where=where, problem=problem)
    for column, low, most in (
        ("score", Decimal("1e-6"), 10**9), ("gpu_count", 1, 100_000), ("batch_size", 1, _MOST), ("context_tokens", 1, _MOST),
        ("prompt_tokens", 1, _MOST), ("concurrent_users", 1, _MOST),
    ):  # fmt: skip
        value = getattr(figure, column)
        if value is not None and not low <= value <= most:
            problem = Message(
                "{column} is {value}, and a figure from {low} to {most:,} is believed: correct it", column=column,
                low=low, most=most, value=f"{value:.4g}",
            )  # fmt: skip
            yield Message("{where}: {problem}", where=where, problem=problem)


def _content(row: StoredFigure) -> tuple[object, ...]:
    """What makes two figures the same one, whichever file they stand in."""
    return row.workload_id, row.gpu_name, row.gpu_count, row.score, row.unit, row.software, row.concurrent_users


def _stored_files(data: DataDir) -> Iterator[tuple[Path, Sequence[StoredFigure]]]:
    """The files of figures that count, each with its figures. A file that somebody edited badly has none here."""
    for path in sorted(data.measurements.glob("*.csv")):
        try:
            yield path, plain.read_stored(local_files.read_bytes(path))
        except (NotReadable, UnicodeDecodeError, OSError):
            yield path, ()


def imports(data: DataDir) -> list[tuple[str, Sequence[StoredFigure]]]:
    """The imports that count, each by its id."""
    return [(path.stem[:ID_LENGTH], figures) for path, figures in _stored_files(data)]


def remove(data: DataDir, import_id: str) -> int:
    """Let the figures of an import no longer count; returns how many. Raises NotTaken.

    The file moves to a folder beside the others, so nothing is lost.
    """
    matching = [path for path in data.measurements.glob("*.csv") if import_id and path.stem.startswith(import_id)]
    if len(matching) != 1:
        known = [path.stem[:ID_LENGTH] for path in sorted(data.measurements.glob("*.csv"))]
        raise NotTaken(
            [Message("no import begins with {id}; there are: {known:, }", id=import_id, known=tuple(known) or ("–",))]
        )
    count = len(plain.read_stored(matching[0].read_bytes()))
    aside = data.measurements / "removed"
    aside.mkdir(exist_ok=True)
    matching[0].replace(aside / matching[0].name)
    return count


def _store(data: DataDir, figures: Stored, origin: tuple[str, str, bytes]) -> Stored:
    """Write the figures, their new workloads and the file that they come from; `origin` is its name, hash and bytes."""
    name, sha256, content = origin
    written = plain.write(figures.kept)
    path = figures.path
    is_new = not path.exists() or path.read_bytes() != written
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
        for workload in figures.new_workloads:
            workloads.save(data.root, workload)
        safe_name = re.sub(r"[^\w.-]+", "_", name)[-80:]
        archive_files.write(path.parent / "files" / f"{sha256[:16]}-{safe_name}", content)
        archive_files.write(path, written)
    return replace(figures, is_new=is_new)


class _NoCard(Exception):
    """The figure belongs to no GPU of the catalogue. The other figures of the file are taken in."""


def _card(figure: Figure, details: UserDetails, resolver: Resolver) -> tuple[str, int]:
    """The card of a figure, as a name that means only it, and the number of cards. Raises NotTaken and _NoCard.

    All that is missing is asked for at once. What the file says of its cards counts before what the person says of all.
    """
    printed = figure.gpu_name or ""
    name = details.gpus.get(printed) or details.gpus.get("") or printed
    count = figure.gpu_count or details.gpu_count or (None if figure.workload else 1)
    missing: list[str | Message] = []
    if name:
        resolved = resolver.resolve(name, source=SOURCE)
        candidates: Sequence[str] = resolved.candidates if resolved.status == "ambiguous" else ()
        if resolved.gpu_id is None and not candidates:
            if printed and name == printed:
                raise _NoCard(f"{name!r} is no GPU of the catalogue")
            raise NotTaken([f"{name!r} is no GPU of the catalogue; `gpuledger resolve '{name}'` says why"])
        if machines := _machines_of(resolved.gpu_id, figure.device_gb):
            name, candidates = machines[0], machines[1:] and machines
        if candidates:
            which = ", ".join(candidates)
            missing.append(f"{name!r} may be {which}: say which with --gpu '{printed}=NAME'")
    else:
        missing.append("the file does not say which GPU it was: give it with --gpu 'NAME'")
    if count is None:
        missing.append("the file does not say how many GPUs ran: give it with --gpu-count")
    if missing and figure.workload and not figure.model and not details.workload:
        missing.append(
            Message("nor the model: give it with --model (and --precision), else these figures teach no speeds")
        )
    missing += [Message("the file does not say it: give {option}", option=option) for option in figure.missing]
    if missing:
        raise NotTaken(missing)
    assert count is not None, "a missing count was asked for"
    return name, count


def _machines_of(gpu_id: str | None, device_gb: float | None) -> list[str]:
    """The machines that a graphics part without memory of its own is sold in, by name; none for any other card.

    A driver prints the part alone (`Radeon 8060S Graphics`), and the memory that it may use of the machine's.
    """
    gpu = cards.by_id().get(gpu_id or "")
    if gpu is None or gpu.memory_gb is not None:
        return []
    machines = [
        one for one in cards.by_id().values()
        if one.form_factor == MACHINE and (one.chip, one.shading_units) == (gpu.chip, gpu.shading_units)
    ]  # fmt: skip
    if device_gb is not None:
        with_room = (one for one in machines if (one.memory_gb or 0) >= device_gb)
        machines = [min(with_room, key=lambda one: one.memory_gb or 0.0, default=gpu)]
    return sorted(one.display_name for one in machines if one.memory_gb is not None)


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


def _workload(figure: Figure, details: UserDetails, count: int, known: Mapping[str, Workload], sha256: str) -> Workload:
    """The workload of a figure: the one that the user states, the known one of the figure's name, or a new one.

    Without a model, a figure can be compared with those of its file only. Raises NotTaken and BadWorkload.
    """
    if figure.workload and not figure.model:
        figure = replace(figure, workload_id=f"{figure.workload_id}-{sha256[:ID_LENGTH]}")
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
    precision = figure.precision or (catalogue.precision_in(figure.model) if figure.model else None)
    is_one = figure.is_single_stream and count == 1
    new = Workload(
        workload_id=figure.workload_id + suffix,
        workload=figure.workload + (f", {count} cards" if suffix else ""),
        unit=figure.unit,
        description=f"{figure.workload}{f' ({figure.precision})' if figure.precision else ''}",
        direction=figure.direction,
        gpu_count=count,
        # `buy` uses these as a card's own speed: one card, one answer at a time. What a server writes for all its users
        # is compared with what is expected of it.
        output=None
        if not (model and precision)
        else "token"
        if is_one
        else "served_token"
        if figure.is_written
        else None,
        iterations=1 if is_one and model and precision else None,
        model=model,
        precision=precision,
        software=figure.software,
    )
    return known.get(new.workload_id, new)


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
    complete = {
        "workload_id": workload.workload_id, "gpu_name": card, "gpu_count": count, "claim": "",
        "measured_on": details.measured_on or figure.measured_on or today,
        "measured_by": details.measured_by or figure.measured_by,
    }  # fmt: skip
    return StoredFigure(**asdict(figure) | complete)
