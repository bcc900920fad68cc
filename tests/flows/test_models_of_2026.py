"""Models of the second half of 2026 by the names that people use: the right size at every door, without a network."""

from __future__ import annotations

import pytest

from gpuledger.flows import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.transform.report import running
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, succeeds
from tests.nights import Night

#: The name, the precision that is meant where none is asked for, and the GB of the weights at it. Counts are published ones
#: (makers' cards, or files on a hub), times the bits of the precision.
NAMES = [
    ("Qwen3.5-35B-A3B", "int4", 35.1 / 2),
    ("Qwen/Qwen3.6-27B-FP8", "fp8", 27.4 + 2 * 248_320 * 5_120 / 1e9 + 0.46),  # words and its tower stay at 16 bits
    ("unsloth/Qwen3.5-9B-GGUF:Q8_0", "Q8_0", 8.95 * 8.5 / 8 + 0.46 * 2),  # its tower is another file
    ("qwen3-coder-next", "int4", 79.7 / 2),
    ("Gemma 4 31B", "int4", 30.7 / 2),
    ("gemma4:e4b", "int4", 7.5 / 2),
    ("GLM-5", "int4", 744 / 2),
    ("glm-4.7-flash", "int4", 29.9 / 2),
    ("gpt-oss-20b", "mxfp4", 13.76),
    ("openai/gpt-oss-120b", "mxfp4", 65.25),
    ("mistralai/Ministral-3-14B-Instruct-2512", "int4", 13.5 / 2),
    ("Mistral-Small-3.2-24B", "int4", 24.0 / 2),
    ("MiniMax-M2.5", "int4", 228.7 / 2),
    ("Kimi K2.5", "gptq-int4-g128", 595),
    ("DeepSeek-V4-Flash", "int4", 284 / 2),
    ("Flux.2", "fp16", 2 * (32.2 + 24.0)),
    ("flux.2-klein-9b", "fp16", 2 * (9.1 + 8.2)),
    ("Qwen/Qwen-Image-2512", "fp16", 2 * (20.4 + 8.3)),
    ("LTX-2", "fp16", 2 * (18.9 + 12.2 + 1.4 + 1.3)),
    ("Z-Image", "fp16", 2 * (6.15 + 4.0)),
]


@pytest.fixture(scope="module")
def tools(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(DataDir(nights[1].copy(tmp_path_factory.mktemp("names") / "data")), cli.cli)


@pytest.mark.parametrize(("name", "precision", "gigabytes"), NAMES, ids=[name for name, *_ in NAMES])
def test_a_name_is_a_size(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, name: str, precision: str, gigabytes: float
) -> None:
    monkeypatch.setenv("GPULEDGER_OFFLINE", "true")
    rows = {row["quantity"]: row["value"] for row in tools.all()["size"](model=name, precision=precision)["rows"]}
    assert rows["weights"] / 1e9 == pytest.approx(gigabytes, rel=0.02)


#: A name for each precision that is meant, and one of each maker's way to write it; the others are more of these.
FEW = {"Qwen3.5-35B-A3B", "Qwen/Qwen3.6-27B-FP8", "unsloth/Qwen3.5-9B-GGUF:Q8_0", "gemma4:e4b", "gpt-oss-20b", "Kimi K2.5",
       "Flux.2", "LTX-2"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "precision", "gigabytes"),
    [pytest.param(*one, marks=[pytest.mark.slow_combination] * (one[0] not in FEW), id=one[0]) for one in NAMES],
)
def test_what_to_buy_for_a_name_is_asked_at_that_precision(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, name: str, precision: str, gigabytes: float
) -> None:
    monkeypatch.setenv("GPULEDGER_OFFLINE", "true")
    answer = tools.all()["buy"](model=name, limit=1)
    for row in answer["options"]:
        if row["instead"]:
            continue  # nothing of the sample holds it so, and the answer is about fewer bits
        # Less where an embedding table or text encoders stay with the processor, more for cache and program.
        least = 0.4 if precision == "fp16" else 0.6
        assert gigabytes * least < float(row["needed_gb"]) < gigabytes * 1.2 + 6


def test_korean_and_report_know_them_too(nights: dict[int, Night]) -> None:
    asked = succeeds("buy", "--model", "Qwen3.5-35B-A3B", "--lang", "ko", data=nights[1].data)
    assert "사십시오" in asked.out
    assert "qwen3.5-35b-a3b, Q4_K_M" in asked.out
    unknown = gpuledger("buy", "--model", "no-such-model-9", "--lang", "ko", data=nights[1].data)
    assert "OWNER/NAME" in unknown.err
    assert "config.json을 받아 둔 폴더" in " ".join(unknown.err.split())
    assert {"qwen3.5-35b-a3b", "gemma-4-31b", "gpt-oss-20b"} <= {*running.axes()["models"]}
