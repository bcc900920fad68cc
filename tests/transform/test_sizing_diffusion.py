"""Image models: parts with exact counts, and the closed form behind Stable Diffusion 3."""

from __future__ import annotations

import pytest

from gpuledger.transform.sizing import diffusion
from gpuledger.transform.sizing.errors import UnknownModel, UnknownPrecision


def test_the_closed_form_gives_stable_diffusion_3_medium_exactly() -> None:
    part = next(part for part in diffusion.get("stable-diffusion-3-medium").parts if part.role == "denoiser")
    assert diffusion.mmdit_parameters(hidden=1536, layers=24) == part.parameters == 2_028_328_000


@pytest.mark.parametrize(
    ("model_id", "billions"),
    # Denoisers as their makers round them: 0.86, 2.6, 8.1 (Stability AI calls the 2.2 of 3.5 medium 2.5), 12.
    [
        ("stable-diffusion-1.5", "0.9"),
        ("stable-diffusion-xl", "2.6"),
        ("stable-diffusion-3.5-large", "8.1"),
        ("flux.1-dev", "11.9"),
    ],
)
def test_denoisers(model_id: str, billions: str) -> None:
    part = next(part for part in diffusion.get(model_id).parts if part.role == "denoiser")
    assert f"{part.parameters / 1e9:.1f}" == billions


def test_weights_of_stable_diffusion_1_5_are_its_file() -> None:
    # v1-5-pruned-emaonly at 16 bits is a file of 2,132,625,894 bytes; the rest of it is the header and a few buffers.
    size = diffusion.weights_bytes(diffusion.get("stable-diffusion-1.5"), "fp16")
    assert size == pytest.approx(2_132_625_894, rel=1e-4)
    assert size < 2_132_625_894


def test_text_encoders_may_leave_the_card() -> None:
    flux = diffusion.get("flux.1-dev")
    text = sum(part.parameters for part in flux.parts if part.role == "text")
    assert text == 123_060_480 + 4_762_310_656
    saved = diffusion.weights_bytes(flux, "fp16") - diffusion.weights_bytes(flux, "fp16", offload_text=True)
    assert saved == 2 * text


def test_schnell_has_no_guidance_embedding() -> None:
    dev, schnell = diffusion.get("flux.1-dev").parameters, diffusion.get("flux.1-schnell").parameters
    assert dev - schnell == (256 * 3072 + 3072) + (3072 * 3072 + 3072)


def test_every_model_has_one_denoiser_one_decoder_and_a_text_encoder() -> None:
    for model in diffusion.diffusion_models().values():
        roles = [part.role for part in model.parts]
        assert roles.count("denoiser") == roles.count("vae") == 1
        assert "text" in roles
        assert all(part.source for part in model.parts)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"known are stable-diffusion-1\.5, stable"):
        diffusion.get("midjourney")
    with pytest.raises(UnknownPrecision, match="fp16"):
        diffusion.weights_bytes(diffusion.get("flux.1-dev"), "Q4_K_M")
