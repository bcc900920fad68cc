"""Shows how the answer to rent or buy changes if each assumption changes by half, for the cheapest offer of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpuledger.transform.assumptions import with_value_kept
from gpuledger.transform.buying.rent_or_buy import moves
from gpuledger.transform.models.mart.rent_vs_buy.model import assumed, observed_value_kept, pair_of, rounded_hours

if TYPE_CHECKING:
    import pandas as pd


_KIND = ["gpu_id", "comparability", "pricing_model"]
_COLUMNS = {
    "gpu_id": "string", "gpu": "string", "comparability": "string", "pricing_model": "string", "offer_id": "string",
    "assumption": "string", "low_amount": "float64", "amount": "float64", "high_amount": "float64",
    "low_break_even_hours": "Float64", "break_even_hours": "Float64", "high_break_even_hours": "Float64",
    "low_saving_usd": "float64", "saving_usd": "float64", "high_saving_usd": "float64", "flips": "boolean",
}  # fmt: skip


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row for each kind of offer and each assumption that changes the answer, the widest swing first."""
    import pandas as pd

    base = assumed(inputs)
    observed = observed_value_kept(inputs["mart.resale"])
    pairs = inputs["core.comparable_rental"].sort_values([*_KIND, "instance_hour_usd", "offer_id"])
    rows: list[dict[str, Any]] = []
    for row in pairs.drop_duplicates(_KIND).to_dict("records"):
        pair = pair_of(row, observed)
        if pair is None:
            continue
        kept = with_value_kept(base, pair.value_kept)
        for name, moved in moves(pair, base).items():
            hours, saving = moved.break_even, moved.saving
            rows.append(
                {key: row[key] for key in ("gpu_id", "gpu", "comparability", "pricing_model", "offer_id")}
                | {
                    "assumption": name,
                    "low_amount": float(saving.low_value),
                    "amount": float(getattr(kept, name)),
                    "high_amount": float(saving.high_value),
                    "low_saving_usd": _usd(saving.low_answer),
                    "saving_usd": _usd(saving.answer),
                    "high_saving_usd": _usd(saving.high_answer),
                    "flips": moved.flips,
                    "low_break_even_hours": rounded_hours(hours.low_answer),
                    "break_even_hours": rounded_hours(hours.answer),
                    "high_break_even_hours": rounded_hours(hours.high_answer),
                }
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def _usd(amount: Decimal | None) -> float | None:
    return None if amount is None else float(round(amount, 2))
