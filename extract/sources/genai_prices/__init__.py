"""What providers of hosted models ask and asked, with the days of their changes, from the list that Pydantic keeps (MIT).

https://github.com/pydantic/genai-prices
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="genai_prices",
    title="genai-prices, a dated list of the prices of hosted models",
    homepage="https://github.com/pydantic/genai-prices",
    parse=parser_in(__name__),
    kinds=("token_price",),
    start=("https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data_slim.json",),
    language="en",
)
