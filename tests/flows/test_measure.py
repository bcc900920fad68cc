"""Measurements by the command line: taken in, ranked, valued, and traced to the file that they came from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import gpuledger, succeeds
from tests.flows.inprocess import refresh
from tests.nights import Night
from tests.support.measurement_files import INFERENCEX, LLAMA_BENCH, MLPERF

WRITING = "llama-bench-meta-llama-3-8b-instruct-q4-k-m-tg128"


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> Path:
    """A data directory after the sample's first night."""
    return Path(shutil.copytree(nights[1].data, tmp_path / "data", symlinks=True))


def _file(folder: Path, name: str, rows: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.mark.slow
def test_files_of_three_programs_come_out_in_rank_and_value_with_their_provenance(data: Path, tmp_path: Path) -> None:
    for path, more in (
        (_file(tmp_path, "bench.json", LLAMA_BENCH), []),
        (_file(tmp_path, "summary.json", MLPERF), ["--claim", "vendor"]),
        (_file(tmp_path, "agg_bmk.json", INFERENCEX), ["--claim", "published"]),
    ):
        succeeds("measure", "import", path, *more, data=data)
    assert gpuledger("measure", "import", tmp_path / "bench.json", data=data).status == 0, "again is no other import"
    assert (
        gpuledger("measure", "add", WRITING.upper(), "99.5", "--gpu", "RTX 3090", "--by", "Kettle", data=data).status
        == 0
    )
    assert refresh(data, 1, only=["measurements"]).exit_status == 0
    ranked = json.loads(gpuledger("rank", WRITING, "--format", "json", data=data).out)
    assert [(row["rank"], row["gpu_id"], float(row["score"]), row["claim"]) for row in ranked] == [
        (1, "nvidia-geforce-rtx-4090", 150.213, "own"),
        (2, "nvidia-geforce-rtx-3090", 99.5, "own"),
    ]
    # The calibration of that night rests on them, for other models too.
    fitted = (
        "SELECT name FROM core.calibration WHERE engine = 'llama.cpp' AND NOT for_several AND level = 'card' ORDER BY 1"
    )
    cards = json.loads(gpuledger("sql", fitted, "--format", "json", data=data).out)
    assert [row["name"] for row in cards] == ["nvidia-geforce-rtx-3090", "nvidia-geforce-rtx-4090"]
    asked = ["--gpu", "RTX 4090", "--model", "mistral-7b", "--precision", "Q4_K_M", "--format", "json"]
    notes = json.loads(gpuledger("predict", *asked, data=data).out)["assumptions"]
    assert any("measurements of llama.cpp in this warehouse (this card)" in note for note in notes)
    # The archived bytes are the rows that were kept, which name the file and its hash.
    sha256 = ranked[0]["snapshot_sha256"]
    assert sha256 in gpuledger("sql", "SELECT DISTINCT snapshot_sha256 FROM core.benchmark_score", data=data).out
    valued = json.loads(gpuledger("value", WRITING, "--format", "json", data=data).out)
    assert {row["gpu_id"] for row in valued} == {"nvidia-geforce-rtx-4090", "nvidia-geforce-rtx-3090"}
    listed = json.loads(gpuledger("workloads", "--format", "json", data=data).out)
    cards = {row["workload_id"]: (row["cards"], row["gpu_count"]) for row in listed}
    assert cards[WRITING] == (2, 1)
    assert cards["mlperf-v6.1-llama2-70b-99.9-offline-8x"] == (1, 8)
    assert cards["inferencex-dsr1-fp8-1024-1024-c64-8x"] == (1, 8)
    # A figure of eight cards is never valued at the price of one.
    rows = query(
        DataDir(data),
        """SELECT v.price_usd = g.msrp_usd * 8 FROM mart.value v JOIN core.gpu g USING (gpu_id)
           WHERE v.workload_id LIKE '%-8x' AND v.price_basis = 'msrp'""",
    )[1]
    assert all(is_of_eight for (is_of_eight,) in rows)
    # One's own speed stands where the bound stood.
    words = ["--model", "llama-3-8b", "--precision", "Q4_K_M", "--limit", "500", "--format", "json"]
    bought = succeeds("buy", *words, data=data)
    speeds = {
        (row["gpu_id"], row["gpu_count"]): (row["tokens_per_s"], row["speed_is"])
        for row in json.loads(bought.out)["options"]
    }
    assert speeds["nvidia-geforce-rtx-4090", 1] == (pytest.approx(150.2, abs=0.05), "measured")


def test_what_a_file_leaves_open_is_asked_for(tmp_path: Path) -> None:
    row = {**LLAMA_BENCH[1], "gpu_info": "NVIDIA GeForce RTX 3060, NVIDIA GeForce RTX 3060"}
    path = _file(tmp_path, "two.json", [row])
    asked = gpuledger("measure", "import", path, data=tmp_path / "data")
    assert (asked.status, asked.out) == (1, "")
    assert "rtx-3060-12gb" in asked.err
    assert "nothing was stored" in asked.err
    named = ["--gpu", "NVIDIA GeForce RTX 3060=RTX 3060 12GB"]
    counted = gpuledger("measure", "import", path, *named, data=tmp_path / "data")
    assert "--gpu-count" in counted.err
    assert not (tmp_path / "data" / "measurements").exists()
    said = succeeds("measure", "import", path, *named, "--gpu-count", "2", data=tmp_path / "data")
    assert "2 × RTX 3060 12GB: 150.213 tokens/s (own)" in said.out


def test_all_that_a_file_leaves_open_is_asked_for_at_once(tmp_path: Path) -> None:
    row = {key: value for key, value in INFERENCEX[0].items() if key not in ("isl", "osl")}
    asked = gpuledger("measure", "import", _file(tmp_path, "old.json", [row]), data=tmp_path / "data")
    assert (asked.status, [option in asked.err for option in ("--input", "--output")]) == (1, [True, True])
    words = ["--input", "1024", "--output", "1024"]
    said = gpuledger("measure", "import", tmp_path / "old.json", *words, data=tmp_path / "data")
    assert "inferencex-dsr1-fp8-1024-1024-c64-8x: 8 × B200: 16000 tokens/s" in said.out
    run = {"requests_per_second": 2.5, "tokens_per_second": 700, "elapsed_time": 40.0}
    offline = gpuledger("measure", "import", _file(tmp_path, "throughput.json", run), data=tmp_path / "data")
    options = ("--gpu", "--gpu-count", "--model", "--input", "--output")
    assert [option in offline.err for option in options] == [True] * len(options)
    text = tmp_path / "ollama.txt"
    text.write_text(
        "$ ollama run llama3.1:8b-instruct-q4_K_M --verbose\nprompt eval count:    18 token(s)\n"
        "prompt eval rate:     294.38 tokens/s\neval count:           1003 token(s)\n"
        "eval duration:        9.6s\neval rate:            104.06 tokens/s\n"
    )
    words = ["--gpu", "RTX 4090", "--gpu-count", "1"]
    written = gpuledger("measure", "import", text, *words, data=tmp_path / "data")
    assert "tg1003-d18: RTX 4090: 104.06 tokens/s" in written.out
    assert "too short" in written.err


@pytest.mark.slow
def test_an_import_is_listed_removed_and_taken_back(data: Path, tmp_path: Path) -> None:
    path = _file(tmp_path, "bench.json", LLAMA_BENCH)
    assert gpuledger("measure", "import", path, data=data).status == 0
    # The same rows in another file are the same figures.
    again = gpuledger("measure", "import", _file(tmp_path, "copy.json", [*LLAMA_BENCH, LLAMA_BENCH[0]]), data=data)
    assert (again.status, "kept already" in again.err) == (1, True)
    [listed] = json.loads(gpuledger("measure", "list", "--format", "json", data=data).out)
    assert (listed["file"], listed["figures"]) == ("bench.json", 2)

    def ranked() -> int:
        assert refresh(data, 1, only=["measurements"]).exit_status == 0
        return len(json.loads(gpuledger("rank", WRITING, "--format", "json", data=data).out))

    assert ranked() == 1
    csv = gpuledger("rank", WRITING, "--format", "csv", data=data).out
    (tmp_path / "ours.csv").write_text(csv)
    assert "this program wrote" in gpuledger("measure", "import", tmp_path / "ours.csv", data=data).err
    assert gpuledger("measure", "remove", listed["id"], data=data).status == 0
    assert json.loads(gpuledger("measure", "list", "--format", "json", data=data).out) == []
    assert refresh(data, 1, only=["measurements"]).exit_status == 0
    left = "SELECT count(*) AS n FROM core.benchmark_score WHERE source = 'measurements' AND valid_to IS NULL"
    assert json.loads(gpuledger("sql", left, "--format", "json", data=data).out) == [{"n": 0}]
    assert gpuledger("measure", "remove", listed["id"], data=data).status == 2
    (removed,) = (data / "measurements" / "removed").iterdir()
    removed.rename(data / "measurements" / removed.name)
    assert ranked() == 1


def test_a_run_with_some_layers_on_the_processor_is_a_workload_of_its_own(tmp_path: Path) -> None:
    # The model has 32 layers, and what is behind them counts as one more.
    rows = [{**LLAMA_BENCH[1], "n_gpu_layers": layers} for layers in (20, 33)]
    said = succeeds("measure", "import", _file(tmp_path, "part.json", rows), data=tmp_path / "data")
    assert [line.partition(":")[0] for line in said.out.splitlines()[2:4]] == [f"{WRITING}-ngl20", WRITING]
    unknown = _file(tmp_path, "other.json", [{**LLAMA_BENCH[1], "gpu_info": "Kettle 1"}])
    assert "`gpuledger gpu add`" in gpuledger("measure", "import", unknown, data=tmp_path / "data").err


def test_a_workload_of_ones_own_and_the_nearest_name(tmp_path: Path) -> None:
    words = ["--name", "My test", "--unit", "it/s", "--description", "what I ran"]
    assert gpuledger("workload", "add", "my-test", *words, data=tmp_path).status == 0
    assert gpuledger("workload", "add", "my-test", *words, data=tmp_path).status == 0, "the same once more"
    other = gpuledger("workload", "add", "my-test", *words[:-1], "something else", data=tmp_path)
    assert other.status == 2
    assert "workloads.toml has another workload of that name" in other.err
    typed = gpuledger("measure", "add", "my-tst", "3", "--gpu", "RTX 4090", data=tmp_path)
    assert typed.status == 2
    assert "my-test" in typed.err
    assert gpuledger("workload", "add", "My Test", *words, data=tmp_path).status == 2
    bad = gpuledger("measure", "add", "MY TEST", "-3", "--gpu", "RTX 4090", data=tmp_path)
    assert bad.status == 2
