"""The open models that are used most, as the model hub lists them, each with its config.

https://huggingface.co/docs/hub/api (`GET /api/models`; `expand` as in huggingface_hub 1.x, hf_api.ExpandModelProperty_T)
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="models",
    title="Most used open models of the model hub",
    homepage="https://huggingface.co/models",
    parse=parser_in(__name__),
    kinds=("open_model",),
    interface="models",
    # The hub's own order: what people ask for most at present. Those that only hold files of one program are not listed.
    start=(
        "{hubs}/api/models?filter=safetensors&pipeline_tag=text-generation&sort=trendingScore&limit=30"
        "&expand[]=gated&expand[]=safetensors",
        "{hubs}/api/models?filter=safetensors&pipeline_tag=image-text-to-text&sort=trendingScore&limit=30"
        "&expand[]=gated&expand[]=safetensors",
    ),
    language="en",
    max_pages=70,
)
