"""The European Central Bank's euro reference rates: the file of the last working day, or of the last 90 days.

The bank publishes around 16:00 CET on working days; a weekend has no rates.
https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates
"""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Publishing, Source, parser_in

#: What the bank says of all that its site offers.
PUBLISHING = Publishing(
    allowed=True,
    sentence="Users of this website may make free use of the information obtained directly from it, if the ECB is "
    "cited as the source",
    page="https://www.ecb.europa.eu/services/using-our-site/disclaimer/html/index.en.html",
    read=date(2026, 11, 27),
    licence="free use with the European Central Bank cited as the source",
)

SOURCE = Source(
    name="ecb_fx",
    title="European Central Bank euro reference rates",
    homepage="https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/html/index.en.html",
    parse=parser_in(__name__),
    kinds=("fx_rate",),
    interface="ecb_fx",
    # This file includes the last working day, so the program need not fetch the daily file too.
    start=("https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml",),
    sample=("/stats/eurofxref/eurofxref-hist-90d.xml",),
    # The time from Friday's rates to Monday afternoon, or over the Easter days.
    freshness_hours=24 * 5,
    publishing=PUBLISHING,
)
