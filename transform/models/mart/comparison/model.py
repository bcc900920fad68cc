"""One row for each GPU and one ratio column for each workload. The columns depend on the data, which SQL cannot express."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns gpu_id, gpu, `<workload>_ratio` …, msrp_usd, street_usd; rows by gpu_id."""
    ranking = inputs["mart.ranking"].assign(
        ratio_column=lambda rows: rows["workload_id"].str.replace("-", "_", regex=False) + "_ratio"
    )
    wide = ranking.pivot(index=["gpu_id", "gpu"], columns="ratio_column", values="relative_to_baseline").reset_index()
    prices = inputs["core.gpu"][["gpu_id", "msrp_usd"]].merge(
        inputs["mart.gpu_price"][["gpu_id", "price_usd"]].rename(columns={"price_usd": "street_usd"}),
        how="left",
        on="gpu_id",
    )
    return wide.merge(prices, how="left", on="gpu_id").sort_values("gpu_id", ignore_index=True)
