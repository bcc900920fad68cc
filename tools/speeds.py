"""Published measurements of speed, from which `tools/calibrate.py` fits: who measured what, on which cards, how fast."""

from __future__ import annotations

import csv
import functools
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gpuledger.extract.readers.measured import inferencex
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.weights import UnknownPrecision, weights
from gpuledger.transform.speed.cards import CardTraits, traits
from gpuledger.transform.speed.engines import engine_of, loaded_as
from gpuledger.transform.speed.links import link_between, slot_of
from gpuledger.transform.speed.work import PIECE_TOKENS, Batch, ServedWork, Work, served_work, work
from tools.measured import measure
from tools.measured_table import MODELS, TOKENS, read_table

#: Published measurements that were read in their repositories, each with its address.
COLLECTED = Path(__file__).with_name("measurements.csv")
#: Hosts whose slot, processor or driver is what limits: a card there says nothing of the card in a computer.
_SMALL_HOSTS = ("Pi ", "Radxa", "HiFive", "Minisforum", "System76 Thelio Astra")
#: The cards of InferenceX, by its names.
_HARDWARE = {
    "b200": "nvidia-b200", "h200": "nvidia-h200-sxm", "h100": "nvidia-h100-sxm5", "mi300x": "amd-radeon-instinct-mi300x",
    "mi325x": "amd-radeon-instinct-mi325x", "mi355x": "amd-radeon-instinct-mi355x",
}  # fmt: skip
_FRAMEWORKS = {"trt": "tensorrt-llm"}
#: In pieces of how many tokens a prompt was read, where a table does not state it. Source: the command in that file.
_PIECES = {"llama.cpp benches/dgx-spark.md": 2048}
#: Measured while users waited, since not all of them fit at once (vllm_fit_2025.csv): vLLM kept the whole cache of layers
#: with a window.
_QUEUED = [("hholtmann (vLLM, aiperf)", "gemma-3-12b"), ("hholtmann (vLLM, aiperf)", "gemma-3-27b")]
#: Programs that serve users, and what their measurements count.
_SERVERS = ("vllm", "sglang", "tensorrt-llm")
_PHASES = {"serve": "both", "users": "writing", "decode": "writing", "prefill": "reading"}
#: What files of measurements call a precision.
_PRECISIONS = {"int4": "awq-int4-g128", "w4a16": "gptq-int4-g128", "fp4": "mxfp4"}


@functools.cache
def work_of(model_id: str, precision: str, written_at: int, prompt_tokens: int, piece: int = PIECE_TOKENS) -> Work:
    """The work of a model of the catalogue (see `work`), read in pieces of `piece` tokens."""
    shape, piece = catalogue.architecture(model_id), min(piece, prompt_tokens)
    usual = work(shape, precision, written_at, prompt_tokens)
    return replace(usual, piece_bytes=weights(shape, precision).read_bytes(piece) / piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measurement in tokens a second: `decode` and `prefill` of one user, `serve` what all users get together.

    `held` is the number of tokens that are held on average while it writes, or that are read. Served points have the
    number of users and the length of an answer, and `phase` says whether they count `both` reading and writing, or one.
    `is_old` is true of llama.cpp before it computed attention in one kernel (flash attention, on by default since 2025).
    """

    what: str
    engine: str
    gpu: Gpu
    card: CardTraits
    count: int
    work: Work | ServedWork
    rate: float
    held: int
    label: str
    publisher: str
    users: int = 1
    output: int = 0
    phase: str = "both"
    is_old: bool = False


def points(folder: Path, resolver: Resolver) -> Iterator[Point]:
    """Every measurement that can be used, of one kind of card in an ordinary computer."""
    for path in sorted(folder.glob("llama3_llama_cpp_*.csv")):
        for row in read_table(path, resolver):
            card = traits(row.gpu)
            if card is not None and row.tokens_per_s is not None:
                work = work_of(row.model_id, row.precision, TOKENS // 2, TOKENS)
                label = f"{row.count} × {row.printed}, {row.model_id} {row.precision}"
                held = TOKENS // 2 if row.measure == "decode" else TOKENS
                yield Point(what=row.measure, engine="llama.cpp", gpu=row.gpu, card=card, count=row.count, work=work,
                            rate=row.tokens_per_s, held=held, label=label, publisher="XiongjieDai", is_old=True)  # fmt: skip
    for path in sorted(folder.glob("llama3_by_context_*.csv")):
        yield from _by_context(path, resolver)
    for path in (*sorted(folder.glob("measured_*.csv")), COLLECTED):
        yield from _measured(path, resolver)
    for path in sorted(folder.glob("inferencemax_*.json")):
        yield from _inferencex(path)
    yield from _ollama(folder, resolver)


def _by_context(path: Path, resolver: Resolver) -> Iterator[Point]:
    """A published table by length: what is written begins with nothing held, so half of its length is held on average."""
    for row in _rows(path):
        gpu = _gpu(row["gpu"], resolver)
        card = traits(gpu) if gpu else None
        if gpu is None or card is None:
            continue
        tokens, (name, precision) = int(row["tokens"]), row["model_and_precision"].split()
        held = tokens // 2 if row["measure"] == "decode" else tokens
        label = f"{row['gpu_count']} × {row['gpu']}, {name} {precision}, {held} tokens"
        yield Point(what=row["measure"], engine="llama.cpp", gpu=gpu, card=card, count=int(row["gpu_count"]),
                    work=work_of(MODELS[name], precision, tokens // 2, tokens), rate=float(row["tokens_per_s"]), held=held,
                    label=label, publisher="XiongjieDai", is_old=True)  # fmt: skip


def _measured(path: Path, resolver: Resolver) -> Iterator[Point]:
    for row in _rows(path):
        model_id, gpu = catalogue.canonical(row["model"]), _gpu(row["card"], resolver)
        card = traits(gpu) if gpu else None
        is_served = row["engine"] in _SERVERS
        if model_id is None or gpu is None or card is None or (row["split"] and not is_served):
            continue
        # Of a prompt that is read, a table may say only how long it is.
        engine, users, held = row["engine"], int(row["users"]), max(1, round(float(row["tokens_held"] or row["input"])))
        precision, count = _PRECISIONS.get(row["precision"], row["precision"]), int(row["count"])
        label = f"{count} × {row['card']}, {model_id} {precision}, {users} at once, {held} tokens"
        stated = re.search(r"ubatch (\d+)", row["note"])
        piece = int(stated[1]) if stated else _PIECES.get(row["source"], PIECE_TOKENS)
        work = work_of(model_id, loaded_as(engine_of(engine), precision), held, held, piece)
        point = Point(what=row["kind"], engine=engine, gpu=gpu, card=card, count=count, rate=float(row["measured"]),
                      held=held, work=work, label=label, publisher=row["source"], users=users,
                      output=int(row["output"] or 0))  # fmt: skip
        if is_served and (row["source"], model_id) not in _QUEUED:
            kv_bits = 8 if "kv fp8" in row["note"] else 16
            served = replace(point, what="serve", phase=_PHASES[row["kind"]])
            yield from _served(served, model_id, precision, int(row["input"] or held), kv_bits)
        elif not is_served and users == 1:
            yield point


def _inferencex(path: Path) -> Iterator[Point]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        gpu = by_id()[_HARDWARE[row["hw"].split("-")[0]]]
        card = traits(gpu)
        assert card is not None
        engine, count = _FRAMEWORKS.get(row["framework"], row["framework"]), inferencex.cards_of(row)
        model_id = catalogue.canonical(row["model"])
        if model_id is None or count is None:
            continue
        read, written = row["isl"], row["osl"]
        held = read + written // 2
        label = f"{count} × {gpu.display_name}, {model_id}, {row['conc']} at once, {held} tokens"
        point = Point(what="serve", engine=engine, gpu=gpu, card=card, count=count, held=held, label=label,
                      rate=row["output_tput_per_gpu"] * count, work=work_of(model_id, "mxfp4", held, read),
                      publisher="InferenceMAX 2025-11", users=row["conc"], output=written)  # fmt: skip
        yield from _served(point, model_id, "mxfp4", read)


def _served(point: Point, model_id: str, precision: str, read: int, kv_bits: float = 16) -> Iterator[Point]:
    """A served point with the work of one of its cards. Left out if its precision is not one that is known here."""
    shape = catalogue.architecture(model_id)
    with suppress(UnknownPrecision):
        batch = Batch(users=point.users, held=point.held, prompt=read, count=point.count, kv_bits=kv_bits)
        # Servers are measured in machines that give every card all lanes that it takes.
        link = link_between(point.gpu, Assumptions(), slot_of(point.gpu))
        yield replace(point, work=served_work(shape, weights(shape, precision), batch, point.gpu, link))


def _ollama(folder: Path, resolver: Resolver) -> Iterator[Point]:
    measured = measure(folder, resolver, Assumptions())[0]
    ordinary = {item.gpu.vendor for item in measured if not item.row.system.startswith(_SMALL_HOSTS)}
    for item in measured:
        card = traits(item.gpu)
        # A vendor that was measured on small hosts alone: they are all that is known of it.
        if card is not None and (card.vendor not in ordinary or not item.row.system.startswith(_SMALL_HOSTS)):
            label = f"{item.row.system}, {item.model_id} {item.precision}"
            yield Point(what="decode", engine="ollama", gpu=item.gpu, card=card, count=1, rate=item.row.tokens_per_s,
                        held=256,                        work=work_of(item.model_id, item.precision, 256, 256), label=label,
                        publisher="geerlingguy")  # fmt: skip


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def _gpu(printed: str, resolver: Resolver) -> Gpu | None:
    """The card that a table names. Apple's chips stand there without their maker and with their number of cores."""
    words = [word for word in printed.replace("\u2011", "-").split() if not word.endswith("-Core") and word != "GPU"]
    name = " ".join(words)
    gpu_id = resolver.resolve(f"Apple {name}" if name[:1] == "M" and name[1:2].isdigit() else name).gpu_id
    return by_id()[gpu_id] if gpu_id else None
