"""GPUs that a user added. Each has a file, which also states the day on which it was added and the source of its figures."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.extract.message import Mistake
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.catalogue import parse, slug
from gpuledger.transform.identity.gpu import SEGMENTS, Gpu

#: Columns of `Gpu` that a user may state. The id follows from the name, and the user states the source separately.
STATED = tuple(
    field.name
    for field in dataclasses.fields(Gpu)
    if field.name not in ("gpu_id", "vendor", "name", "catalogue_key", "tensor_source", "msrp_source")
)
#: Upper limits: memory in GiB, bandwidth in GB/s, power in watts and so on. They stop typing errors from becoming answers.
_MOST = {
    "memory_gb": 2048, "memory_bandwidth_gb_s": 100_000, "tdp_w": 10_000, "gpus_on_board": 8, "boost_clock_mhz": 10_000,
    "shading_units": 1_000_000, "tensor_cores": 100_000, "memory_bus_bits": 65_536, "msrp_usd": 1_000_000,
}  # fmt: skip
#: Upper limit of all other figures, in TFLOPS or TOPS.
_MOST_TERA = 1_000_000
#: Words of a name that shops leave out.
_LEFT_OUT = frozenset(("geforce", "radeon", "instinct", "tesla", "quadro", "graphics"))
#: Words behind a name that make it another card.
_OTHER_CARD = r"(?![\s-]*(?:ti|super|xtx?|gre|pro|max|ultra|laptop|mobile|max-?q)\b)"
_MEMORY = re.compile(r"\s+(\d+)\s?GB$", re.IGNORECASE)


class BadGpu(Mistake):
    """A GPU cannot be added, or its file cannot be used; the message names the GPU or file, and how to correct it."""


@dataclass(frozen=True, slots=True)
class OwnGpu:
    """One added GPU. `source` is where its figures are from."""

    gpu: Gpu
    added_on: date
    source: str


def new_gpu(vendor: str, name: str, like: Gpu | None, stated: Mapping[str, str]) -> Gpu:
    """A GPU called `name`. `stated` gives its figures as texts, by columns of `Gpu`; all others are those of `like`.

    Raises BadGpu for an unknown column, for an impossible figure, and if memory or bandwidth is missing.
    """
    if not re.search(r"[a-z0-9]", name.lower()):
        raise BadGpu("{name!r} is no name of a card", name=name)
    if unknown := sorted(set(stated) - set(STATED)):
        raise BadGpu("a card has no {unknown}; it has {stated}", unknown=tuple(unknown), stated=tuple(STATED))
    values = {} if like is None else {field.name: getattr(like, field.name) for field in dataclasses.fields(Gpu)}
    if like is not None:  # prices and data sheets of that card do not apply to the new one
        values |= {"catalogue_key": None, "msrp_usd": None, "msrp_source": None, "released_on": None}
    values |= {column: _figure(column, text) for column, text in stated.items()}
    values |= {"vendor": vendor, "name": name, "gpu_id": slug(f"{vendor} {name}")}
    gpu = Gpu(**values)
    for column, figure in (("memory_gb", "memory"), ("memory_bandwidth_gb_s", "bandwidth")):
        if not getattr(gpu, column):
            raise BadGpu(
                "{display_name} needs its {figure}: state {column}=…, or a card that it is --like",
                display_name=gpu.display_name, figure=figure, column=column,
            )  # fmt: skip
    return gpu


def _figure(column: str, text: str) -> object:
    try:
        value = parse(column, text)
    except (ValueError, ArithmeticError):
        raise BadGpu("{column} cannot be {text!r}", column=column, text=text) from None
    if column == "segment" and value not in SEGMENTS:
        raise BadGpu("segment must be one of {segments}, not {text!r}", segments=tuple(SEGMENTS), text=text)
    if isinstance(value, str) or value is None or isinstance(value, date):
        return value
    most = _MOST.get(column, _MOST_TERA)
    if not 0 < value <= most:
        raise BadGpu("{column} must be above 0 and at most {most:,}, not {text}", column=column, most=most, text=text)
    return value


def save(folder: Path, own: OwnGpu) -> Path:
    """Write a GPU to its file and return the path. A GPU that was added before under the same id is replaced.

    Raises BadGpu if the catalogue has the id, or if no source is stated.
    """
    _check(own)
    path = folder / f"{own.gpu.gpu_id}.json"
    fields = {f.name: getattr(own.gpu, f.name) for f in dataclasses.fields(Gpu)}
    stored = {
        "added_on": own.added_on.isoformat(),
        "source": own.source,
        "gpu": {name: str(value) for name, value in fields.items() if value is not None},
    }
    local_files.write_text(path, json.dumps(stored, ensure_ascii=False, indent=1))
    return path


def load(folder: Path, check: Callable[[OwnGpu], None] | None = None) -> tuple[list[OwnGpu], list[BadGpu]]:
    """The added GPUs, and an error for each file that cannot be used, or for which `check` raises anything. One bad file
    does not stop the others.
    """
    added: list[OwnGpu] = []
    errors: list[BadGpu] = []
    for path in sorted(folder.glob("*.json")):
        try:
            added.append(_read(path, check))
        except BadGpu as error:
            errors.append(error)
    return added, errors


def gpus(folder: Path) -> tuple[Gpu, ...]:
    """The added GPUs alone. Files that cannot be used are left out; the next night reports them."""
    return tuple(own.gpu for own in load(folder)[0])


def _read(path: Path, check: Callable[[OwnGpu], None] | None) -> OwnGpu:
    try:
        stored = local_files.loads(local_files.read_bytes(path, follow=False))
        texts = dict(stored["gpu"])
        values = {column: parse(column, str(text)) for column, text in texts.items()}
        own = OwnGpu(Gpu(**values), date.fromisoformat(stored["added_on"]), str(stored["source"]))
        if own.gpu.gpu_id != path.stem:
            raise BadGpu("the gpu_id must be {stem!r}, as the file is called", stem=path.stem)
        for column, text in texts.items():
            if column in STATED:
                _figure(column, str(text))
        _check(own)
        if check is not None:
            check(own)
    except Exception as error:  # noqa: BLE001  no error in one file may stop the others
        raise BadGpu(
            "{path}: {error}; remove the file and add the card with `gpuledger gpu add`", path=path, error=error
        ) from None
    return own


def _check(own: OwnGpu) -> None:
    if own.gpu.gpu_id in catalogue.by_id():
        raise BadGpu(
            "the catalogue already has {gpu_id!r}: give yours another name, with its memory for example",
            gpu_id=own.gpu.gpu_id,
        )
    for name in (own.gpu.vendor, own.gpu.name):
        if not re.search(r"[a-z0-9]", (name or "").lower()):
            raise BadGpu("{name!r} is no name of a card", name=name)
    if not own.source.strip():
        raise BadGpu("say where the figures of {display_name} are from", display_name=own.gpu.display_name)


#: A memory size in a title.
_GIGABYTES = re.compile(r"(?<![\d.])(\d{1,4})\s?gb?(?![a-z])")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of GPUs, each with the pattern and the memory size by which titles are matched.

    A title names a GPU if it has the words of its name in their order. If the name has a memory size, the title must also
    state that size, anywhere, and no other size.
    """

    gpus: Sequence[tuple[Gpu, re.Pattern[str], str | None]]

    @classmethod
    def of(cls, gpus: Iterable[Gpu]) -> Names:
        """The names of `gpus`."""
        return cls([(gpu, *_name_pattern(gpu)) for gpu in gpus])

    def find(self, title: str) -> Gpu | None:
        """The GPU that a title names; None if it names no GPU or several."""
        matches = self.all_named(title)
        return matches[0] if len(matches) == 1 else None

    def near(self, title: str) -> list[Gpu]:
        """The GPUs whose words a title has, whatever memory it states."""
        return [gpu for gpu, pattern, _ in self.gpus if pattern.search(title.lower())]

    def all_named(self, title: str) -> list[Gpu]:
        """All GPUs that a title names."""
        text = title.lower()
        sizes = set(_GIGABYTES.findall(text)) if self.gpus else set()
        return [gpu for gpu, pattern, size in self.gpus if pattern.search(text) and (size is None or sizes == {size})]


def _name_pattern(gpu: Gpu) -> tuple[re.Pattern[str], str | None]:
    """The pattern of the words that name a GPU, and the memory size that belongs to its name, if any."""
    sized = _MEMORY.search(gpu.name)
    bare = gpu.name[: sized.start()] if sized else gpu.name
    all_words = re.findall(r"[a-z]+|\d+", bare.lower())
    name_words = [word for word in all_words if word not in _LEFT_OUT and word != gpu.vendor.lower()] or all_words
    if sized and re.fullmatch(r"\d{3,}", name_words[-1]):
        name_words = name_words[-1:]  # `4090 48GB`: with the memory size, the number alone is enough
    between = r"[^a-z0-9]*"
    return re.compile(rf"(?<![a-z0-9]){between.join(name_words)}(?![a-z0-9]){_OTHER_CARD}"), sized[1] if sized else None
