"""Image models: parts with exact counts, of the catalogue and of a model's own folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import need_of
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import diffusion
from gpuledger.transform.sizing.catalogue import architecture
from gpuledger.transform.sizing.errors import UnknownModel, UnknownPrecision
from gpuledger.transform.sizing.named import id_of, limit_of_licence, shape_of


def test_a_clip_needs_about_what_its_makers_say() -> None:
    # Wan2.1's README: 8.19 GB for the 1.3B, its text encoder with the processor; its weights are kept at 32 bits.
    small, resident = diffusion.diffusion_models()["wan-2.1-1.3b"], Assumptions(networks_on_card=1.0)
    without_text = replace(small, parts=tuple(part for part in small.parts if part.role != "text"))
    needed = diffusion.image_memory(without_text, "fp32", 1, resident).needed
    assert needed == pytest.approx(8.19e9, rel=0.15)
    # 720p of the 14B at 16 bits: more than two cards of 24 GB would hold, less than one of 80 GB.
    assert 48e9 > diffusion.image_memory(diffusion.diffusion_models()["wan-2.1-14b"], "bf16", 1, resident).needed > 40e9


@pytest.mark.parametrize(
    ("model_id", "precision", "card"),
    # gigagpu.com: FLUX.1-dev at 16 bits on an RTX 4090, 22 GB at the peak; guides name 16 GB for its 8 bits. docs.comfy.org:
    # Qwen-Image at fp8 takes 86% of an RTX 4090D. Wan 2.2: 24 GB for the 14B at fp8, 8 to 12 GB for the 5B with offloading.
    [
        ("flux.1-dev", "fp16", "nvidia-geforce-rtx-4090"),
        ("flux.1-dev", "int8", "nvidia-geforce-rtx-5060-ti-16gb"),
        ("qwen-image", "fp8", "nvidia-geforce-rtx-4090-d"),
        ("wan-2.2-a14b", "fp8", "nvidia-geforce-rtx-4090"),
        ("wan-2.2-5b", "fp16", "nvidia-geforce-rtx-3060-12gb"),
        ("wan-2.2-5b", "fp8", "nvidia-geforce-rtx-5060"),
    ],
)
def test_what_people_run_fits_with_one_network_after_the_other(model_id: str, precision: str, card: str) -> None:
    model, gpu = diffusion.diffusion_models()[model_id], by_id()[card]
    in_turn, resident = (
        need_of(model_id, model, precision, Usage(), Assumptions(networks_on_card=share)) for share in (0.0, 1.0)
    )
    assert in_turn.needed_bytes(1) <= in_turn.usable_bytes(gpu, 1) < resident.needed_bytes(1)
    memory = diffusion.image_memory(model, precision, 1, Assumptions())
    assert (memory.needed, memory.all_resident) == (in_turn.needed_bytes(1), resident.needed_bytes(1))


def test_weights_of_stable_diffusion_1_5_are_its_file() -> None:
    # v1-5-pruned-emaonly at 16 bits is a file of 2,132,625,894 bytes; the rest of it is the header and a few buffers.
    size = diffusion.weights_bytes(diffusion.diffusion_models()["stable-diffusion-1.5"], "fp16")
    assert size == pytest.approx(2_132_625_894, rel=1e-4)
    assert size < 2_132_625_894


def test_the_text_encoders_of_flux_have_the_counts_of_their_shapes() -> None:
    text, _, _ = diffusion.diffusion_models()["flux.1-dev"].stages
    assert text.parameters == 123_060_480 + 4_762_310_656


def test_schnell_has_no_guidance_embedding() -> None:
    dev, schnell = (diffusion.diffusion_models()[f"flux.1-{name}"].parameters for name in ("dev", "schnell"))
    assert dev - schnell == (256 * 3072 + 3072) + (3072 * 3072 + 3072)


def test_every_model_has_one_denoiser_one_decoder_and_a_text_encoder() -> None:
    for model in diffusion.diffusion_models().values():
        roles = [part.role for part in model.parts]
        assert roles.count("denoiser") == (2 if model.model_id == "wan-2.2-a14b" else 1)
        assert roles.count("vae") == 1
        assert "text" in roles
        assert all(part.source for part in model.parts)


@pytest.mark.parametrize(
    ("name", "model_id", "licence"),
    [
        ("FLUX.2 dev", "flux.2-dev", "no commercial use"), ("flux_1 dev", "flux.1-dev", "no commercial use"),
        ("LTX 2", "ltx-2", "10,000,000 USD"), ("Wan2.2 5B", "wan-2.2-5b", None), ("SD 1.5", "stable-diffusion-1.5", None),
        ("sd3.5 large", "stable-diffusion-3.5-large", "1,000,000 USD"), ("HunyuanVideo 1.5", "hunyuan-video-1.5", "Korea"),
        ("command a", "command-a-111b", "no commercial use"), ("aya-expanse:32b", "command-r-08-2024-32b", "commercial"),
        ("minimax-m2.7", "minimax-m2.7", "consent"), ("deepseek-r1:8b", "deepseek-r1-0528-qwen3-8b", None),
        ("Qwen/Qwen3-Reranker-4B", "qwen3-embedding-4b", None), ("gemma3n:e2b", "gemma-3n-e2b", None),
    ],
)  # fmt: skip
def test_a_name_with_one_reading_is_found_with_what_its_licence_forbids(
    name: str, model_id: str, licence: str | None
) -> None:
    assert id_of(name, Path("nowhere")) == model_id
    assert (licence or "None") in str(limit_of_licence(model_id))


def test_a_name_with_two_readings_is_asked() -> None:
    with pytest.raises(UnknownModel, match=r"did you mean flux\.2-dev or flux\.1-dev"):
        shape_of("flux dev", Path("nowhere"))
    assert shape_of("llama 3.1 8b instruct", Path("nowhere")) == architecture("llama-3.1-8b")


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPrecision, match="fp16"):
        diffusion.weights_bytes(diffusion.diffusion_models()["flux.1-dev"], "Q4_K_M")
