"""The cost of a million tokens or a thousand images, on a card that is owned and on a card that is rented."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpuledger.transform.assumptions import with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.transform.models.mart.rent_vs_buy.model import assumed, observed_value_kept

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = {
    "workload_id": "string", "gpu_id": "string", "gpu": "string", "way": "string", "offer_id": "string",
    "output": "string", "outputs_per_s": "float64", "total_usd": "float64", "usd_per_million_tokens": "Float64",
    "usd_per_thousand_images": "Float64",
}  # fmt: skip


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row for each workload, measured card and way to use it.

    The ways are buying at the street price, and renting one card at the cheapest offer of each pricing model.
    """
    import pandas as pd

    workloads, ranking = inputs["core.workload"].dropna(subset=["output"]), inputs["mart.ranking"]
    base = assumed(inputs)
    observed = observed_value_kept(inputs["mart.resale"])
    cards = inputs["core.gpu"][["gpu_id", "tdp_w"]].merge(
        inputs["mart.gpu_price"][["gpu_id", "price_usd"]], on="gpu_id"
    )
    measured = ranking[["workload_id", "gpu_id", "gpu", "score"]].merge(
        workloads[["workload_id", "output", "iterations_per_output"]], on="workload_id"
    )
    rentals = inputs["core.rental"].query("gpu_count == 1").sort_values(["instance_hour_usd", "offer_id"])
    rentals = rentals[["offer_id", "gpu_id", "pricing_model", "instance_hour_usd"]].drop_duplicates(
        ["gpu_id", "pricing_model"]
    )
    rows: list[dict[str, Any]] = []
    for row in measured.merge(cards.dropna(), on="gpu_id").to_dict("records"):
        kept = with_value_kept(base, observed.get(row["gpu_id"]))
        own = costs.ownership(Decimal(str(row["price_usd"])), round(row["tdp_w"]), kept)
        rows.append(_row(row, "buy", None, own.total, own.busy_hours))
    hours = costs.hours_of(base)
    for row in measured.merge(rentals.dropna(), on="gpu_id").to_dict("records"):
        hour = Decimal(str(row["instance_hour_usd"]))
        total = costs.rent_usd(hour, row["pricing_model"], base)
        rows.append(_row(row, row["pricing_model"], row["offer_id"], total, hours * base.utilisation))
    frame = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    return frame.sort_values(["workload_id", "total_usd", "gpu_id", "way"], ignore_index=True)


def _row(row: Mapping[Any, Any], way: str, offer_id: str | None, total: Decimal, busy_hours: Decimal) -> dict[str, Any]:
    speed = float(row["score"]) / int(row["iterations_per_output"])
    per = costs.cost_per_million_tokens if row["output"] == "token" else costs.cost_per_thousand_images
    # If the utilisation is zero, nothing is computed, and a token or image has no cost.
    cost = float(round(per(total, busy_hours, speed), 4)) if busy_hours else None
    return {
        "workload_id": row["workload_id"], "gpu_id": row["gpu_id"], "gpu": row["gpu"], "way": way,
        "offer_id": offer_id, "output": row["output"], "outputs_per_s": speed, "total_usd": float(round(total, 2)),
        "usd_per_million_tokens": cost if row["output"] == "token" else None,
        "usd_per_thousand_images": cost if row["output"] == "image" else None,
    }  # fmt: skip
