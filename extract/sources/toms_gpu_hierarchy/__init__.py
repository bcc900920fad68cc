"""Tom's Hardware's GPU benchmarks hierarchy: game frame rates of graphics cards, of all years."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="toms_gpu_hierarchy",
    title="Tom's Hardware GPU benchmarks hierarchy",
    homepage="https://www.tomshardware.com/reviews/gpu-hierarchy,4388.html",
    parse=parser_in(__name__),
    kinds=("score", "index_price"),
    start=("https://www.tomshardware.com/reviews/gpu-hierarchy,4388.html",),
    sample=("/reviews/gpu-hierarchy,4388.html",),
    country="US",
    language="en",
    max_pages=10,
)
