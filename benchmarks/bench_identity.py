"""GPU identity measured: share and precision on shop titles, speed and memory, and rapidfuzz beside it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Resolver
from tests.support.labelled_titles import (
    DATA,
    Labelled,
    Measure,
    all_fields,
    danawa,
    measure,
    memory_field,
    newegg,
    part_catalogue,
)


def run() -> list[tuple[str, str, str]]:
    """Rows of (what, measured, bound asked)."""
    if not DATA.is_dir():
        return [("GPU identity", "the real titles (../shared/data) are not on this machine", "")]
    resolver = Resolver.load()
    known = frozenset(catalogue.by_id())
    parts = part_catalogue(known)
    named = [one for one in parts if one.names_chip]
    return [
        *_shares(resolver, parts, named, newegg(known)),
        *_korean(resolver),
        *_speed(resolver, [*danawa(), *(one.title for one in newegg(known)), *(one.title for one in parts)]),
        *_footprint(),
        *_rapidfuzz(named, resolver),
    ]


def _shares(
    resolver: Resolver, parts: list[Labelled], named: list[Labelled], shop: list[Labelled]
) -> Iterator[tuple[str, str, str]]:
    alone, with_memory = measure(resolver, named), measure(resolver, named, memory_field)
    everything, newest = measure(resolver, parts, all_fields), measure(resolver, shop)
    yield "part catalogue, titles that name their chip, with the memory field: matched", _of(with_memory), ">= 99.5%"
    yield "  precision of these", f"{with_memory.precision:.2%} ({len(with_memory.wrong)} wrong)", ">= 99.9%"
    yield (
        "part catalogue, titles that name their chip, title alone: matched",
        _of(alone),
        "the rest ambiguous in memory",
    )
    yield "  precision of these", f"{alone.precision:.2%} ({len(alone.wrong)} wrong)", ">= 99.9%"
    yield "part catalogue, all titles, with chip and memory field: matched", _of(everything), ""
    yield "  precision of these", f"{everything.precision:.2%} ({len(everything.wrong)} wrong)", ">= 99.9%"
    yield "shop of 2024, title alone: matched", _of(newest), ">= 99.5%"
    yield "  precision of these", f"{newest.precision:.2%} ({len(newest.wrong)} wrong)", ">= 99.9%"


def _of(found: Measure) -> str:
    return f"{found.share:.2%} ({found.matched} of {found.titles})"


def _korean(resolver: Resolver) -> Iterator[tuple[str, str, str]]:
    answers = Counter(resolver.resolve(name, source="danawa_daily").status for name in danawa())
    cards = answers["matched"] + answers["ambiguous"] + answers["unmatched"]
    share = (answers["matched"] + answers["ambiguous"]) / cards
    yield "Korean product names: matched or ambiguous, of cards", f"{share:.2%} of {cards} ({dict(answers)})", ">= 98%"


def _speed(resolver: Resolver, titles: list[str]) -> Iterator[tuple[str, str, str]]:
    began = time.process_time()
    for title in titles:
        resolver.resolve(title)
    yield "titles a second on one core", f"{len(titles) / (time.process_time() - began):,.0f}", ">= 20,000"


_CHILD = """
import psutil, sys, time
before = psutil.Process().memory_info().rss
began = time.perf_counter()
from gpuledger.transform.identity import catalogue
catalogue.gpus()
catalogue_s = time.perf_counter() - began
from gpuledger.transform.identity.resolver import Resolver
resolver = Resolver.load()
resolver_s = time.perf_counter() - began
for title in sys.stdin:
    resolver.resolve(title)
print(catalogue_s, resolver_s, (psutil.Process().memory_info().rss - before) / 2**20)
"""


def _footprint() -> Iterator[tuple[str, str, str]]:
    """Load time and memory, in a process of its own: this one has loaded long ago."""
    titles = "\n".join(danawa())
    child = subprocess.run([sys.executable, "-c", _CHILD], input=titles, capture_output=True, text=True, check=True)
    catalogue_s, resolver_s, megabytes = (float(number) for number in child.stdout.split())
    yield "catalogue loaded, imports included", f"{catalogue_s:.2f} s", "< 0.3 s"
    yield "resolver loaded, imports included", f"{resolver_s:.2f} s", ""
    yield "memory of the resolver after 3,300 titles", f"{megabytes:.0f} MB", "< 100 MB"


def _rapidfuzz(named: list[Labelled], resolver: Resolver, sample: int = 200) -> Iterator[tuple[str, str, str]]:
    """The same titles by fuzzy matching over the same names: the best name counts, as a user of it would take it."""
    rapidfuzz = importlib.import_module("rapidfuzz")
    names = {gpu.gpu_id: gpu.display_name for gpu in catalogue.gpus()}
    chosen = [one for one in named if one.truth][:: max(1, len(named) // sample)]
    for scorer in ("token_set_ratio", "WRatio"):
        began = time.process_time()
        right = 0
        for one in chosen:
            best = rapidfuzz.process.extractOne(
                one.title, names, scorer=getattr(rapidfuzz.fuzz, scorer), processor=rapidfuzz.utils.default_process
            )
            right += best[2] == one.truth
        rate = len(chosen) / (time.process_time() - began)
        yield (
            f"rapidfuzz {scorer}, same catalogue: precision",
            f"{right / len(chosen):.1%}, {rate:,.0f} titles/s",
            "beaten",
        )
    ours = measure(resolver, chosen, memory_field)
    yield "  this resolver on that sample", f"{ours.precision:.1%} of {ours.share:.1%} matched", ""


if __name__ == "__main__":
    for what, measured, bound in run():
        print(f"{what}: {measured}" + (f" (asked: {bound})" if bound else ""))
