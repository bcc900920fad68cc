"""GPUs that a user added, in decisions/gpus.toml, each with its figures, their source and the day on which it was added."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpuledger import records
from gpuledger.message import Mistake
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
    """A GPU cannot be added; the message names it, and how to correct it."""


@dataclass(frozen=True, slots=True)
class OwnGpu:
    """One added GPU. `source` is where its figures are from. Raises BadGpu without one, and for a card of the catalogue."""

    gpu: Gpu
    added_on: date
    source: str

    def __post_init__(self) -> None:
        if self.gpu.gpu_id in catalogue.by_id():
            raise BadGpu(
                "the catalogue already has {gpu_id!r}: give yours another name, with its memory for example",
                gpu_id=self.gpu.gpu_id,
            )
        if not self.source.strip():
            raise BadGpu("say where the figures of {display_name} are from", display_name=self.gpu.display_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """What stands in an entry beside the figures that a user may state."""

    vendor: str
    name: str
    added_on: date
    source: str
    tensor_source: str | None = None


def new_gpu(vendor: str, name: str, like: Gpu | None, stated: Mapping[str, str]) -> Gpu:
    """A GPU called `name`. `stated` gives its figures as texts, by columns of `Gpu`; all others are those of `like`.

    Raises BadGpu for an unknown column, for an impossible figure, and if memory or bandwidth is missing.
    """
    for word in (vendor, name):
        if not re.search(r"[a-z0-9]", word.lower()):
            raise BadGpu("{name!r} is no name of a card", name=word)
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


def _read(entry: Mapping[str, Any]) -> OwnGpu:
    kept = records.typed(_Entry)({name: entry[name] for name in entry if name not in STATED})
    gpu = new_gpu(kept.vendor, kept.name, None, {name: str(entry[name]) for name in STATED if name in entry})
    return OwnGpu(dataclasses.replace(gpu, tensor_source=kept.tensor_source), kept.added_on, kept.source)


def _write(own: OwnGpu) -> Mapping[str, object]:
    columns = dataclasses.asdict(own.gpu)
    return {"added_on": own.added_on, "source": own.source} | {
        name: columns[name] for name in ("vendor", "name", "tensor_source", *STATED)
    }


GPUS = records.Kind("gpu", "gpus.toml", key=lambda own: own.gpu.gpu_id, read=_read, write=_write)


def gpus(root: Path) -> tuple[Gpu, ...]:
    """The GPUs that were added in the data directory `root`. What cannot be used is left out; the next night reports it."""
    return tuple(own.gpu for own in GPUS.usable(root)[0])


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
        # All GPUs that a title names.
        text = title.lower()
        sizes = set(_GIGABYTES.findall(text)) if self.gpus else set()
        matches = [
            gpu for gpu, pattern, size in self.gpus if pattern.search(text) and (size is None or sizes == {size})
        ]
        return matches[0] if len(matches) == 1 else None

    def near(self, title: str) -> list[Gpu]:
        """The GPUs whose words a title has, whatever memory it states."""
        return [gpu for gpu, pattern, _ in self.gpus if pattern.search(title.lower())]


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
