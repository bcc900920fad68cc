"""Compares owning with renting, pair by pair. transform/buying/costs.py has the arithmetic; `gpuledger buy` uses it too."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from gpuledger.transform.assumptions import Assumptions, from_table, with_value_kept
from gpuledger.transform.buying import costs, hosts
from gpuledger.transform.identity.gpu import Gpu

if TYPE_CHECKING:
    import pandas as pd


#: Types of all columns. Without them, each version of DuckDB would choose a type of its own for columns without values.
_NAMES = {
    "gpu_id": "string", "gpu": "string", "cards": "Int64", "comparability": "string", "pricing_model": "string",
    "offer_id": "string", "provider": "string", "region": "string", "instance": "string", "gpu_name": "string",
    "gpu_count": "Int64", "price_usd": "float64", "instance_hour_usd": "float64",
}  # fmt: skip
_COMPUTED = {
    "purchase_usd": "float64", "host_share_usd": "float64", "electricity_usd": "float64", "resale_usd": "float64",
    "own_total_usd": "float64", "rent_total_usd": "float64", "hours_of_use": "float64", "break_even_hours": "Float64",
    "cheaper": "string", "value_kept_per_year": "float64", "value_kept_is_observed": "boolean",
    "other_usd": "float64", "machine": "string",
}  # fmt: skip


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row for each pair, with the costs of owning and renting over the horizon, and the hours of use at which both are
    equal.
    """
    import pandas as pd

    base = assumed(inputs)
    observed = observed_value_kept(inputs["mart.resale"])
    rows: list[dict[str, Any]] = []
    for row in inputs["core.comparable_rental"].sort_values(["gpu_id", "offer_id"]).to_dict("records"):
        host, is_machine = _host_of(row), row["comparability"] == "same node"
        if host is None:
            continue  # nobody buys so many cards
        machine, cards = host.around(base), int(row["cards"])
        if is_machine:  # its price includes it, and its watts are those of all cards in it
            machine, cards = machine._replace(usd=Decimal(0)), 1
        kept = with_value_kept(base, observed.get(row["gpu_id"]))
        own = costs.Bought(Decimal(str(row["price_usd"])), round(row["tdp_w"]), cards, machine, kept).ownership()
        hour = costs.rent_per_used_hour(Decimal(str(row["instance_hour_usd"])), row["pricing_model"], kept)
        answer = costs.rent_vs_buy(own, hour)
        rows.append(
            {name: row[name] for name in _NAMES}
            | {
                "purchase_usd": float(round(own.purchase, 2)),
                "host_share_usd": float(round(own.host, 2)),
                "electricity_usd": float(round(own.electricity, 2)),
                "resale_usd": float(round(own.resale, 2)),
                "own_total_usd": float(round(own.total, 2)),
                "rent_total_usd": float(round(answer.rent, 2)),
                "hours_of_use": float(own.hours),
                "break_even_hours": None
                if answer.break_even_hours is None
                else float(round(answer.break_even_hours, 1)),
                "cheaper": answer.cheaper,
                "value_kept_per_year": float(kept.value_kept_per_year),
                "value_kept_is_observed": row["gpu_id"] in observed,
                "other_usd": float(round(own.other, 2)),
                "machine": "the machine itself" if is_machine else host.name,
            }
        )
    columns = _NAMES | _COMPUTED
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def assumed(inputs: Mapping[str, pd.DataFrame]) -> Assumptions:
    """The assumptions of the warehouse."""
    return from_table(inputs["core.assumption"][["assumption", "amount"]].itertuples(index=False, name=None))


def observed_value_kept(resale: pd.DataFrame) -> dict[str, Decimal]:
    """The share of its price that each GPU kept per year, for GPUs whose history is long enough."""
    long_enough = resale[resale["is_long_enough"]]
    return {
        gpu_id: Decimal(str(value))
        for gpu_id, value in zip(long_enough["gpu_id"], long_enough["observed_value_kept_per_year"], strict=True)
    }


def _host_of(row: Mapping[Any, Any]) -> hosts.Host | None:
    """The machine for the cards of a row of core.comparable_rental; None if no machine holds so many."""
    gpu = Gpu(
        gpu_id=row["gpu_id"], vendor="", name=row["gpu"], segment=_text(row["segment"]) or "consumer",  # type: ignore[arg-type]
        form_factor=_text(row["form_factor"]), memory_type=_text(row["memory_type"]),
    )  # fmt: skip
    cards, is_machine = int(row["cards"]), row["comparability"] == "same node"
    return hosts.host_for(gpu, cards, round(row["tdp_w"] / cards if is_machine else row["tdp_w"]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
