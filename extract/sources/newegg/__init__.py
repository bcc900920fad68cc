"""Newegg, the US shop and its global sites: listing pages of the old and the new layout, and product pages."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://www.newegg.com/"

SOURCE = Source(
    name="newegg",
    title="Newegg",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    start=("https://www.newegg.com/GPUs-Video-Graphics-Cards/SubCategory/ID-48",),
    sample=("/gpus/",),
    country="US",
    language="en",
)
