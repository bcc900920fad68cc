"""Folders of models as they are downloaded: safetensors with their heads, an index, and the parts of a model of pictures."""

from __future__ import annotations

import itertools
import json
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import diffusion
from gpuledger.transform.sizing.diffusion import DiffusionModel, shape_in
from gpuledger.transform.sizing.errors import BadModelFile, SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.safetensors import BadSafetensors, head_of
from gpuledger.transform.sizing.files.source import described
from gpuledger.transform.sizing.tensors import count_parameters
from gpuledger.transform.sizing.weights import weights
from tests.command import gpuledger

Tensors = dict[str, tuple[str, list[int]]]
BITS = {"BF16": 16, "F32": 32, "F16": 16, "U8": 8, "I32": 32, "F8_E4M3": 8}


def file_of(tensors: Tensors, **other: Any) -> bytes:
    """The head of a file as the safetensors library writes it: every tensor has its place."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, (kind, shape) in tensors.items():
        size = BITS[kind] // 8
        for length in shape:
            size *= length
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [place, place + size]}
        place += size
    stated = json.dumps(entries | other).encode()
    return struct.pack("<Q", len(stated)) + stated


def llama(layers: int, kind: str = "BF16") -> Tensors:
    """The tensors of a Llama of width 64 with two key-value heads of 16, as transformers names them."""
    tensors: Tensors = {"model.embed_tokens.weight": (kind, [1000, 64]), "lm_head.weight": (kind, [1000, 64])}
    for layer in range(layers):
        of = f"model.layers.{layer}"
        for name, rows in (("self_attn.q_proj", 64), ("self_attn.k_proj", 32), ("self_attn.v_proj", 32),
                           ("self_attn.o_proj", 64), ("mlp.gate_proj", 128), ("mlp.up_proj", 128)):  # fmt: skip
            tensors[f"{of}.{name}.weight"] = (kind, [rows, 64])
        tensors[f"{of}.mlp.down_proj.weight"] = (kind, [64, 128])
        tensors[f"{of}.input_layernorm.weight"] = tensors[f"{of}.post_attention_layernorm.weight"] = (kind, [64])
    return tensors | {"model.norm.weight": (kind, [64])}


CONFIG = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 512, "tie_word_embeddings": False,
}  # fmt: skip


def folder_of(path: Path, config: dict[str, Any], **files: bytes) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    for name, content in files.items():
        (path / name.replace("__", "-").replace("_safetensors", ".safetensors")).write_bytes(content)
    return path


@pytest.mark.parametrize(("kind", "bits"), [("BF16", 16), ("F32", 32), ("F8_E4M3", 8)])
def test_the_heads_say_the_size_whatever_the_family(tmp_path: Path, kind: str, bits: int) -> None:
    by_config = read_config(CONFIG)
    folder = folder_of(
        tmp_path / "m", {**CONFIG, "model_type": "of_tomorrow"}, model_safetensors=file_of(llama(4, kind))
    )
    found = read_config(described(folder))
    assert found.estimated == ""
    assert count_parameters(found).total == count_parameters(by_config).total
    assert weights(found, found.stored_as).total * 8 == bits * count_parameters(by_config).total


def test_a_layer_that_predicts_further_tokens_is_not_loaded(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", CONFIG, model_safetensors=file_of(llama(5)))
    assert count_parameters(read_config(described(folder))).total == count_parameters(read_config(CONFIG)).total


def test_parts_are_read_together_and_a_missing_one_is_named(tmp_path: Path) -> None:
    tensors = list(llama(4).items())
    first, second = (f"model-0000{n}-of-00002.safetensors" for n in (1, 2))
    index = {"weight_map": {name: second if place % 2 else first for place, (name, _) in enumerate(tensors)}}
    folder = folder_of(tmp_path / "m", CONFIG)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / first).write_bytes(file_of(dict(tensors[::2])))
    with pytest.raises(BadModelFile, match=r"has 1 of 2 safetensors files, and model-00002-of-00002"):
        described(folder)
    (folder / second).write_bytes(file_of(dict(tensors[1::2])))
    assert count_parameters(read_config(described(folder))).total == count_parameters(read_config(CONFIG)).total


def test_packed_weights_are_counted_unpacked_and_sized_as_they_are(tmp_path: Path) -> None:
    """AWQ keeps eight weights of 4 bits in an integer, with zeros and scales beside them."""
    packed: Tensors = {}
    for name, (kind, shape) in llama(4).items():
        if ".layers." not in name or len(shape) == 1:
            packed[name] = (kind, shape)
            continue
        rows, cols = shape
        base = name.removesuffix(".weight")
        packed[f"{base}.qweight"] = ("I32", [cols, rows // 8])
        packed[f"{base}.qzeros"] = ("I32", [cols // 64, rows // 8])
        packed[f"{base}.scales"] = ("F16", [cols // 64, rows])
    quantised = {**CONFIG, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 64}}
    folder = folder_of(tmp_path / "m", quantised, model_safetensors=file_of(packed))
    found = read_config(described(folder))
    assert count_parameters(found).total == count_parameters(read_config(CONFIG)).total
    matrices = sum(rows * cols for name, (_, (rows, *rest)) in llama(4).items() for cols in rest if ".layers." in name)
    rest = count_parameters(found).total - matrices
    assert weights(found, found.stored_as).total == matrices * (4 + (16 + 4) / 64) / 8 + 2 * rest


def test_twice_as_many_tensors_take_twice_as_many_calls(tmp_path: Path) -> None:
    """Repositories have 200,000 of them, so that nothing may be done for each pair."""

    def calls(of_a_layer: int) -> int:
        experts: Tensors = {
            f"model.layers.{layer}.mlp.experts.{expert}.{name}.weight": ("BF16", [8, 8])
            for layer in range(4) for expert in range(of_a_layer) for name in ("gate_proj", "up_proj", "down_proj")
        }  # fmt: skip
        folder = folder_of(tmp_path / str(of_a_layer), CONFIG, model_safetensors=file_of(llama(4) | experts))
        count = itertools.count()
        sys.setprofile(lambda *_: next(count))
        try:
            found = read_config(described(folder))
        finally:
            sys.setprofile(None)
        assert found.experts == of_a_layer
        assert count_parameters(found).total == count_parameters(read_config(CONFIG)).total + 64 * len(experts)
        return next(count)

    assert calls(1_000) < 2.2 * calls(500)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x08", struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 50) + b"{}", struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 200_000) + b"[" * 200_000, struct.pack("<Q", 4) + b"\xff\xfe{}", struct.pack("<Q", 3) + b"NaN",
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_head_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(BadSafetensors, match="is no safetensors file, or was not downloaded to the end of its head"):
        head_of(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    "entry",
    [
        None, [], "BF16", {"dtype": "BF16"}, {"dtype": "BF16", "shape": "64"}, {"dtype": "BF16", "shape": [-1, 64]},
        {"dtype": "BF16", "shape": [10**30]}, {"dtype": "BF16", "shape": [1.5]}, {"dtype": "BF16", "shape": [True, 2]},
        {"dtype": "X9", "shape": [64]}, {"dtype": None, "shape": [64]},
        {"dtype": "BF16", "shape": [64, 64], "data_offsets": [0, 4096]},
        {"dtype": "BF16", "shape": [64, 64], "data_offsets": [8192, 0]},
    ],
    ids=str,
)  # fmt: skip
def test_a_tensor_that_cannot_be_is_named(tmp_path: Path, entry: Any) -> None:
    """Also one whose place in the file has another size than its type and shape."""
    folder = folder_of(tmp_path / "m", CONFIG, model_safetensors=file_of(llama(4), **{"model.odd.weight": entry}))
    with pytest.raises(SizingError, match=r"the tensor 'model\.odd\.weight' has the type"):
        described(folder)


def pipeline(path: Path, denoiser: dict[str, Any], decoder: dict[str, Any]) -> Path:
    """A folder as diffusers keeps one: a transformer in two parts, two text encoders, one of them by its index alone."""
    index: dict[str, Any] = {
        "_class_name": "SomePipeline", "_diffusers_version": "0.42.1", "scheduler": ["diffusers", "SomeScheduler"],
        "tokenizer": ["transformers", "SomeTokenizer"], "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "T5EncoderModel"], "transformer": ["diffusers", "SomeTransformer"],
        "vae": ["diffusers", "SomeAutoencoder"], "image_encoder": [None, None], "force_zeros": True,
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
    }  # fmt: skip
    for part in ("transformer", "text_encoder", "text_encoder_2", "vae"):
        (path / part).mkdir(parents=True)
    (path / "model_index.json").write_text(json.dumps(index))
    for number in (1, 2):
        name = f"diffusion_pytorch_model-0000{number}-of-00002.safetensors"
        (path / "transformer" / name).write_bytes(file_of({f"blocks.{number}.w": ("BF16", [1000, 1000])}))
    (path / "transformer" / "config.json").write_text(json.dumps(denoiser))
    (path / "text_encoder" / "model.safetensors").write_bytes(file_of({"w": ("F32", [500, 1000])}))
    (path / "text_encoder" / "model.fp16.safetensors").write_bytes(file_of({"w": ("F16", [500, 1000])}))
    total = {"metadata": {"total_size": 600_000}}
    (path / "text_encoder_2" / "model.safetensors.index.json").write_text(json.dumps(total))
    (path / "vae" / "diffusion_pytorch_model.safetensors").write_bytes(file_of({"w": ("F32", [100, 1000])}))
    (path / "vae" / "config.json").write_text(json.dumps(decoder))
    return path


def test_a_model_of_pictures_is_the_parts_that_its_folder_names(tmp_path: Path) -> None:
    folder = pipeline(tmp_path / "m", {"_class_name": "SomeTransformer2DModel", "sample_size": 64}, {})
    found = shape_in(described(folder))
    assert isinstance(found, DiffusionModel)
    assert [(part.role, part.name, part.parameters) for part in found.parts] == [
        ("text", "text_encoder", 500_000), ("text", "text_encoder_2", 300_000), ("denoiser", "transformer", 2_000_000),
        ("vae", "vae", 100_000),
    ]  # fmt: skip
    assert (found.side, found.clip) == (512, None)
    sized = gpuledger("size", folder, "--format", "json", data=tmp_path / "data")
    assert {row["quantity"]: row["value"] for row in json.loads(sized.out)}["weights"] == 2 * 2_900_000
    added = gpuledger("model", "add", folder, "--id", "mine", data=tmp_path / "data")
    assert "mine: 2,900,000 parameters" in added.out, added.err
    listed = gpuledger("model", "list", "--added", "--format", "json", data=tmp_path / "data")
    assert json.loads(listed.out)[0]["parameters"] == 2_900_000


def test_a_model_of_clips_says_its_widths(tmp_path: Path) -> None:
    """As Wan's files do: one token covers 4 frames and 16 pixels of each side."""
    denoiser = {"_class_name": "WanTransformer3DModel", "num_attention_heads": 12, "attention_head_dim": 128,
                "ffn_dim": 8960, "patch_size": [1, 2, 2]}  # fmt: skip
    decoder = {"base_dim": 96, "scale_factor_spatial": 8, "scale_factor_temporal": 4}
    found = shape_in(described(pipeline(tmp_path / "m", denoiser, decoder)))
    assert isinstance(found, DiffusionModel)
    assert found.clip == diffusion.get("wan-2.1-1.3b").clip


def test_a_part_without_weights_is_named(tmp_path: Path) -> None:
    folder = pipeline(tmp_path / "m", {}, {})
    (folder / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(BadModelFile, match=r"vae has no safetensors files: fetch those of this part, or their index"):
        described(folder)
    for odd in ({"model_type": "diffusers"}, {"model_type": "diffusers", "parts": [["denoiser", "x", -1, ""]]}):
        with pytest.raises(SizingError, match="names no transformer and no U-Net with weights"):
            shape_in(odd)
