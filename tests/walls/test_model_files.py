"""Hostile files of models, made by the hundred: each is sized or refused in a sentence, none hangs, none stops a listing."""

from __future__ import annotations

import copy
import json
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gpuledger import local_files
from gpuledger.extract.readers.measured.plain import COLUMNS
from gpuledger.records import BadRecord
from gpuledger.transform.answers.sizes import quantities
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.seeds.load import OfUser
from gpuledger.transform.sizing.added_models import MODELS, OwnModel, check, save
from gpuledger.transform.sizing.diffusion import shape_in
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.source import described
from gpuledger.transform.sizing.named import parameters_of, usual_precision
from gpuledger.transform.sizing.tensors import Architecture, Tensor
from gpuledger.transform.workloads import WORKLOADS
from tests.command import gpuledger, rows
from tests.nights import Night
from tests.support.empty import empty_warehouse
from tests.transform.test_gguf_file import head, tensor

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 100, "max_position_embeddings": 512,
}  # fmt: skip
MIXTURE = LLAMA | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2}
STRANGER = LLAMA | {"model_type": "nobody_knows", "sliding_window": 64, "layer_types": ["full_attention"] * 2}
QUANTISED = LLAMA | {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}}
#: What stands where a number, a text, a list or a part belongs.
ODD: tuple[Any, ...] = (
    -1, 0, "4096", 1.5, 1e300, float("nan"), True, [], [[[]]], {}, {"a": {}}, None, 10**30, 2**63, [10**12] * 3, ["x"] * 3,
)  # fmt: skip


def _configs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each key of each config with each odd value, and each key left out."""
    for config in (LLAMA, MIXTURE, STRANGER, QUANTISED):
        for key in config:
            yield (
                f"{config['model_type']} without {key}",
                {name: value for name, value in config.items() if name != key},
            )
            for odd in ODD:
                yield f"{config['model_type']} {key}={str(odd)[:20]}", config | {key: odd}
    for key in QUANTISED["quantization_config"]:
        for odd in ODD:
            changed = copy.deepcopy(QUANTISED)
            changed["quantization_config"][key] = odd
            yield f"quantised {key}={str(odd)[:20]}", changed
    for odd in ODD:
        yield f"total_bytes={str(odd)[:20]}", LLAMA | {"total_bytes": odd}
        yield f"tensors={str(odd)[:20]}", LLAMA | {"tensors": [odd]}
        yield f"text_config={str(odd)[:20]}", {"model_type": "gemma3", "text_config": odd}
        yield f"parts={str(odd)[:20]}", {"model_type": "diffusers", "parts": [["denoiser", "a", odd, ""]]}
        yield f"row={str(odd)[:20]}", LLAMA | {"tensors": [["output", odd, 8, 8, 1, "matrix", 16]]}
        yield f"experts={str(odd)[:20]}", LLAMA | {"tensors": [["output", 0, 8, odd, 1, "matrix", odd]]}
    yield "layers that come to 8e18", LLAMA | dict.fromkeys(("hidden_size", "intermediate_size"), 10**7) | {
        "num_hidden_layers": 2000, "num_attention_heads": 1, "num_key_value_heads": 1,
    }  # fmt: skip


def _safetensors(content: bytes) -> bytes:
    return struct.pack("<Q", len(content)) + content


def _heads() -> Iterator[tuple[str, bytes]]:
    good = {"dtype": "BF16", "shape": [8, 8], "data_offsets": [0, 128]}
    for key in good:
        for odd in ODD:
            yield (
                f"{key}={str(odd)[:20]}.safetensors",
                _safetensors(json.dumps({"a.weight": good | {key: odd}}).encode()),
            )
    for name, text in {
        "empty": b"", "list": b"[]", "nothing": b"{}", "deep": b'{"a":' * 50_000, "text": b'{"a": "b"}',
        "number": b'{"a": 1}',
        "bytes": b"\xff" * 99, "metadata": b'{"__metadata__": 5}', "digits": b'{"a":' + b"9" * 5000 + b"}",
    }.items():  # fmt: skip
        yield f"{name}.safetensors", _safetensors(text)
    yield "short.safetensors", b"\0\0"
    yield "long.safetensors", struct.pack("<Q", 2**63) + b"{}"


def _gguf(**more: Any) -> bytes:
    stated: dict[str, Any] = {
        "general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 64, "llama.context_length": 512,
        "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2,
    }  # fmt: skip
    return head(stated | more, [tensor(one) for one in read_config(LLAMA).tensors])


def _ggufs() -> Iterator[tuple[str, bytes]]:
    good = _gguf()
    for length in range(0, len(good), max(1, len(good) // 60)):
        yield f"cut at {length}.gguf", good[:length]
    for place in range(4, min(len(good), 600), 7):
        yield f"byte {place}.gguf", good[:place] + b"\xff" + good[place + 1 :]
    nested = struct.pack("<IQ", 9, 1) * 5000
    huge = tensor(Tensor("token_embd", None, 2**62, 2**62, "embedding"))
    yield "dimensions.gguf", head({"general.architecture": "llama", "llama.block_count": 2}, [huge])
    for key in (
        "llama.block_count",
        "llama.attention.head_count",
        "llama.attention.head_count_kv",
        "llama.context_length",
    ):
        for odd in (0, 2**32 - 1, "4096", True, [1, 2, 3], ["a"], [True]):
            yield f"{key}={str(odd)[:12]}.gguf", _gguf(**{key: odd})
    array = struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9)
    start = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + array
    yield "nested arrays.gguf", start + nested
    yield "endless array.gguf", start + struct.pack("<IQ", 8, 2**60)
    yield "endless numbers.gguf", start + struct.pack("<IQ", 4, 2**62)


def _asked(config: dict[str, Any], folder: Path, model_id: str) -> OwnModel:
    """What the program does with a model before a night: size it, keep it, read it again. Raises SizingError."""
    shape = shape_in(config)
    for context in (None, 1) if isinstance(shape, Architecture) else (None,):
        quantities(shape, usual_precision(shape, "a"), context, 1, Assumptions())
    assert 0 < parameters_of(shape) < 2**60
    save(folder, OwnModel(model_id, date(2026, 11, 27), config))
    ((kept,), wrong) = MODELS.usable(folder, check)
    assert wrong == []
    return kept


def _outcomes(tries: Sequence[tuple[str, Callable[[], dict[str, Any]]]], folder: Path) -> tuple[int, dict[str, str]]:
    """How many were refused in a sentence, and what ended otherwise; all others are in the tables after a night."""
    refused, odd, kept = 0, {}, []
    for number, (name, config) in enumerate(tries):
        try:
            kept.append(_asked(config(), folder / str(number), f"m{number}"))
        except SizingError as error:
            refused += 1
            if len(str(error)) < 20:
                odd[name] = f"no sentence: {error}"
        except Exception as error:  # noqa: BLE001  each kind of failure is reported with its file
            odd[name] = repr(error)[:200]
    with empty_warehouse() as con:
        seeds.load(con, Resolver.load, "v", OfUser({}, Assumptions(), models=kept), date(2026, 11, 27))
        in_tables = con.execute("SELECT count(*) FROM core.model WHERE family = 'own'").fetchone()
    assert in_tables == (len(tries) - refused - len(odd),)
    return refused, odd


def test_no_config_ends_in_anything_but_an_answer_or_a_sentence(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    tries = [(name, lambda config=config: dict(config)) for name, config in _configs()]
    refused, odd = _outcomes(tries, tmp_path)
    record_property("tried", len(tries))
    assert odd == {}
    assert len(tries) > 500
    assert len(tries) / 3 < refused < len(tries)


def test_no_head_of_a_file_does_either(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    tries = []
    for name, content in (*_heads(), *_ggufs()):
        folder = tmp_path / "files" / name
        folder.mkdir(parents=True)
        (folder / name).write_bytes(content)
        if name.endswith("safetensors"):
            (folder / "config.json").write_text(json.dumps(LLAMA))
        tries.append((name, lambda folder=folder, name=name: described(folder / name)))
    refused, odd = _outcomes(tries, tmp_path / "kept")
    record_property("tried", len(tries))
    assert odd == {}
    assert len(tries) > 150
    assert refused > len(tries) / 2


@pytest.mark.parametrize("name", ["model.gguf", "model.safetensors", "config.json"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    """Each hung: a pipe is read for ever."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(SizingError, match="a pipe"):
        described(tmp_path / name)


@pytest.mark.parametrize("heads", [-1, 0, "4096"])
def test_key_value_heads_that_are_no_number_are_not_all_heads(heads: object) -> None:
    with pytest.raises(SizingError, match="num_key_value_heads"):
        shape_in(LLAMA | {"num_key_value_heads": heads})


def test_half_an_emoji_in_a_config_is_no_text_that_is_kept(tmp_path: Path) -> None:
    """It was a traceback of `model add`."""
    with pytest.raises(BadRecord, match="no UTF-8"):
        save(tmp_path, OwnModel("m", date(2026, 11, 27), LLAMA | {"_name_or_path": "\ud83d"}))
    assert not [*tmp_path.rglob("*.*")]


def test_a_model_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a-00001-of-03000.gguf").write_bytes(_gguf())
    with pytest.raises(SizingError, match="3,000 parts"):
        described(tmp_path / "a-00001-of-03000.gguf")


def test_models_that_were_kept_earlier_are_left_out_by_line(tmp_path: Path) -> None:
    """Three kinds were taken in by an earlier program; then every night and `model list` ended in a traceback."""
    for number, config in enumerate((
        LLAMA | dict.fromkeys(("hidden_size", "intermediate_size"), 10**9), LLAMA | {"total_bytes": 10**29},
        LLAMA | {"tensors": [["token_embd", None, 2**64, 2**64, 1, "embedding", 16]]},
    )):  # fmt: skip
        MODELS.put(tmp_path, OwnModel(f"m{number}", date(2026, 11, 27), config))
    listed = gpuledger("model", "list", "--format", "json", data=tmp_path)
    assert (listed.status, listed.err) == (0, "")
    problems = [row["problem"] for row in json.loads(listed.out) if row["problem"]]
    lines = [text.partition("models.toml, line ")[2].partition(":")[0] for text in problems]
    assert [MODELS.file(tmp_path).read_text().splitlines()[int(line) - 1] for line in lines] == ["[[model]]"] * 3


@pytest.mark.parametrize("line", ["iterations = 0", "iterations = 'x'", "gpu_count = 10000000000", "model = 5"])
def test_a_workload_that_no_table_can_hold_is_left_out(tmp_path: Path, line: str) -> None:
    text = f'[[workload]]\nworkload_id = "a"\nworkload = "a"\nunit = "s"\ndescription = "a"\n{line}\n'
    local_files.write_text(WORKLOADS.file(tmp_path), text)
    found, (wrong,) = WORKLOADS.usable(tmp_path)
    assert found == []
    assert "workloads.toml, line 1: " in str(wrong)


@pytest.mark.parametrize(("option", "value"), [("", "1e300"), ("", "1e-9"), ("--users", "999999999999")])
def test_a_measurement_that_no_card_does_is_not_taken_in(tmp_path: Path, option: str, value: str) -> None:
    """The figure was kept, and every night refused the source with all others of it."""
    words = [value] if not option else ["50", option, value]
    outcome = gpuledger("measure", "add", "llama-13b-int4-text-generation", *words, "--gpu", "RTX 4090", data=tmp_path)
    assert outcome.status == 1
    assert "is believed: correct it" in " ".join(outcome.err.split())
    assert not (tmp_path / "measurements").exists()


def test_a_pipe_among_the_measurements_hangs_no_listing(tmp_path: Path) -> None:
    (tmp_path / "measurements").mkdir()
    os.mkfifo(tmp_path / "measurements/pipe.csv")
    assert gpuledger("measure", "list", data=tmp_path).status == 0


def test_a_night_with_whatever_a_person_kept_is_as_the_night_before(nights: dict[int, Night], tmp_path: Path) -> None:
    """A model of a few weights, a card without a maker's name and a workload with `iterations = true` each ended every
    later night; a cell of a megabyte among the measurements ended `measure list`.
    """
    tiny = dict.fromkeys(("hidden_size", "intermediate_size", "vocab_size"), 64) | {"num_hidden_layers": 2}
    card = {"vendor": "NVIDIA", "name": "X", "memory_gb": "24", "memory_bandwidth_gb_s": "1000"}
    stored = {"added_on": "2026-11-27", "source": "x"}
    figure = (
        f"{','.join(COLUMNS)}\nllama-13b-int4-text-generation,RTX 4090,{{}},tokens/s,1,own{',' * (len(COLUMNS) - 6)}\n"
    )
    kept = {
        **{f"models/{name}.json": json.dumps({"model_id": name, "added_on": "2026-11-27", "config": LLAMA | config})
           for name, config in {
            "tiny": tiny, "huge": {"hidden_size": 10**6, "intermediate_size": 10**7}, "state": {"head_dim": 10**9},
        }.items()},
        **{f"gpus/{gpu_id}.json": json.dumps(stored | {"gpu": card | {"gpu_id": gpu_id} | figures}) for gpu_id, figures in {
            "no-maker": {"vendor": ""}, "no-name": {"name": "-"}, "nan": {"memory_gb": "nan"}, "wide": {"tdp_w": "1e300"},
            "tera": {"fp32_tflops": "1e-320", "architecture": "Nonsense"},
        }.items()},
        **{f"workloads/w{number}.toml": f'workload = "a"\nunit = "s"\ndescription = "a"\n{line}\n' for number, line
           in enumerate(("iterations = true", "gpu_count = true", f'software = "{"x" * 10**6}"'))},
        **{f"measurements/{number}.csv": figure.format(score)
           for number, score in enumerate(("1e300", "nan", "5" * 200_000))},
    }  # fmt: skip
    data = nights[1].copy(tmp_path / "data")
    for name, content in kept.items():
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(content)
    night = gpuledger("refresh", "--sample", "--night", "2", "--engine", "plain", data=data)
    assert night.status == 3, night.err
    prices = "SELECT * FROM mart.gpu_price ORDER BY ALL"
    assert rows(data, prices) == rows(nights[2].data, prices)
    left_out = rows(data, "SELECT source, count(*) FROM ops.issue WHERE code LIKE 'bad_%' GROUP BY ALL ORDER BY ALL")
    assert left_out == [("gpus", 4), ("models", 1), ("workloads", 2)]
    for words in (("measure", "list"), ("model", "list"), ("gpu", "list"), ("status",), ("buy", "--model", "tiny")):
        assert gpuledger(*words, data=data).status in (0, 3), words
