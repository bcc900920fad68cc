"""Sizing, bounds and the audit of published figures, measured against what was asked of them."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.claims import recompute
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue, gguf
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.running import inference_memory
from gpuledger.transform.sizing.tensors import count_parameters
from tools.measured import measure

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "../shared/data/benchmarks"
SIZES = ROOT / "tests/fixtures/sizing/gguf_sizes.toml"


def run() -> list[tuple[str, str, str]]:
    """What was measured, the measure, the bound asked. Measured speeds are left out where their tables are absent."""
    rows = [_parameters(), _gguf(), _claims(), _time()]
    return [*rows, _utilisation()] if TABLES.is_dir() else rows


def _parameters() -> tuple[str, str, str]:
    known = [model for model in catalogue.models().values() if model.published_parameters is not None]
    equal = [
        model
        for model in known
        if count_parameters(catalogue.architecture(model.model_id)).total == model.published_parameters
    ]
    families = {model.config["model_type"] for model in equal}
    what = f"parameter counts equal to the published ones, of {len(known)}"
    return (what, f"{len(equal)} models, {len(families)} architectures", "20 models, 8 families")


def _gguf() -> tuple[str, str, str]:
    sizes = tomllib.loads(SIZES.read_text(encoding="utf-8"))["size"]
    errors = []
    for row in sizes:
        architecture = catalogue.architecture(row["model"])
        ours = sum(gguf.tensor_bytes(architecture, row["type"]))
        if "file" in row:  # which holds the tokenizer too: 23 (Llama 2) to 61 bytes a token (Llama 3)
            ours += 45 * architecture.vocab
        theirs = row.get("file") or row.get("tensors") or row["tensors_gib"] * 2**30
        errors.append(abs(ours / theirs - 1))
    return (f"GGUF sizes, largest error of {len(errors)} published", f"{max(errors):.2%}", "2%")


def _claims() -> tuple[str, str, str]:
    claims = recompute()
    agree = sum(claim.agrees is True for claim in claims)
    errata = sum(claim.agrees is False for claim in claims)
    what = f"figures of three documents, of {len(claims)}"
    return (
        what,
        f"{agree} agree, {errata} errata, {len(claims) - agree - errata} unverifiable",
        "each with its reason",
    )


def _time() -> tuple[str, str, str]:
    assumptions = Assumptions()
    started = time.perf_counter()
    models = [model for model in catalogue.models().values() if model.config["model_type"] != "t5"]
    count = 0
    for model in models:
        architecture = read_config(model.config)
        for precision in ("fp16", "int8", "int4", "Q4_K_M"):
            for context in (512, 2048, 8192):
                inference_memory(architecture, precision, min(context, architecture.context), 1, assumptions)
                count += 1
    seconds = time.perf_counter() - started
    return (
        f"memory of {len(models)} models × 4 precisions × 3 contexts ({count})",
        f"{seconds:.2f} s",
        "10 s with the join",
    )


def _utilisation() -> tuple[str, str, str]:
    residuals, excluded = measure(TABLES, Resolver.load(), Assumptions())
    shares = sorted(residual.share for residual in residuals)
    inside = sum(0 < share <= 1 for share in shares)
    what = f"measured tokens/s within the bound of the card ({len(excluded)} excluded, each with a reason)"
    return (what, f"{inside} of {len(shares)}, highest {shares[-1]:.2f}, median {shares[len(shares) // 2]:.2f}", "all")


if __name__ == "__main__":
    for row in run():
        print(" | ".join(row))
