"""What hosted models cost for a million tokens, from OpenRouter's public list of models, which needs no key.

https://openrouter.ai/docs/api/api-reference/models/get-models
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="openrouter",
    title="OpenRouter's list of hosted models and their prices",
    homepage="https://openrouter.ai/docs/api/api-reference/models/get-models",
    parse=parser_in(__name__),
    kinds=("token_price",),
    interface="openrouter",
    start=("https://openrouter.ai/api/v1/models",),
    language="en",
)
