"""What providers of hosted models ask and asked, with the days of their changes, from the list that Pydantic keeps (MIT).

https://github.com/pydantic/genai-prices
"""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Publishing, Source, parser_in

SOURCE = Source(
    name="genai_prices",
    title="genai-prices, a dated list of the prices of hosted models",
    homepage="https://github.com/pydantic/genai-prices",
    parse=parser_in(__name__),
    kinds=("token_price",),
    start=("https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data_slim.json",),
    language="en",
    publishing=Publishing(
        allowed=True,
        sentence="Permission is hereby granted, free of charge, to any person obtaining a copy of this software and "
        "associated documentation files, to deal in the Software without restriction",
        page="https://github.com/pydantic/genai-prices/blob/main/LICENSE",
        read=date(2026, 11, 27),
        licence="MIT, Copyright (c) Pydantic Services Inc. 2025 to present",
    ),
)
