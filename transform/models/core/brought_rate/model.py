"""The reference rates that the program brings, for currencies of which no night has read one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuledger.transform import exchange_rates

if TYPE_CHECKING:
    import pandas as pd


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Columns currency, usd_rate, fx_day; a row for each currency but the dollar, in their order."""
    import pandas as pd

    day, rates = exchange_rates.rates()
    return pd.DataFrame(
        [(currency, rate, day) for currency, rate in sorted(rates.items()) if currency != "USD"],
        columns=["currency", "usd_rate", "fx_day"],
    )
