"""Tables of results that somebody keeps in a repository: an address and a workload, and no code."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from pathlib import Path

from gpuledger.extract import source
from gpuledger.extract.items import Score
from gpuledger.extract.markup import markdown
from gpuledger.flows.night import gather
from tests.extract.pages import page
from tests.flows import inprocess

ADDRESS = "https://raw.example.org/r/README.md#workload=deepseek-r1-14b&table=DeepSeek+R1+14b&score=Eval+Rate&rows=CPU/GPU:GPU"


def test_a_table_that_somebody_keeps_of_ollama(shared_data: Path) -> None:
    kept = page((shared_data / "benchmarks" / "ollama-benchmark_README.md").read_bytes(), ADDRESS, "text/plain")
    found = [one for one in source.get("result_tables").parse(kept) if isinstance(one, Score)]
    figures = {one.gpu_name: (one.score, one.unit, one.workload_id) for one in found}
    assert figures["Radxa Orion O6 - 16GB (Nvidia RTX 3080 Ti)"] == (Decimal("64.58"), "tokens/s", "deepseek-r1-14b")
    assert figures["Pi 5 - 16GB (AMD Pro W7700)"][0] == Decimal("19.90")
    assert not any("GMKtek" in name for name in figures), "that ran on the processor"


def test_the_addresses_are_those_of_the_settings(tmp_path: Path) -> None:
    context = dataclasses.replace(inprocess.context(tmp_path, 1, only=["result_tables"]), sample_night=None)
    assert gather.readings(context) == []
    context = dataclasses.replace(context, settings=dataclasses.replace(context.settings, result_tables=(ADDRESS,)))
    (reading,) = gather.readings(context)
    assert list(reading.starts) == [ADDRESS]


def test_pipes_marks_and_short_rows() -> None:
    text = "## A *short* one\n\nname | `t/s`\n--- | ---\n**a \\| b** | 1\nonly\n\n| x |\n|---|\n| y |\n"
    first, second = markdown.read_tables(text)
    assert (first.title, first.header, first.rows) == ("A short one", ("name", "t/s"), (("a | b", "1"),))
    assert (second.header, second.rows) == (("x",), (("y",),))
