"""The catalogues of cloud GPU offers that dstack's gpuhunt publishes, one for each provider.

https://github.com/dstackai/gpuhunt
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

#: `CATALOG_URL` and `OFFLINE_PROVIDERS` of gpuhunt. Written out, since importing gpuhunt takes 50 ms. A test compares them.
_CATALOGUES = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3"
_PROVIDERS = ("aws", "azure", "verda", "gcp", "lambdalabs", "nebius", "oci", "runpod", "cloudrift")

SOURCE = Source(
    name="gpuhunt_catalog",
    title="gpuhunt catalogues of cloud GPU offers",
    homepage="https://github.com/dstackai/gpuhunt",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    start=tuple(f"{_CATALOGUES}/{provider}/version" for provider in _PROVIDERS),
    language="en",
)
