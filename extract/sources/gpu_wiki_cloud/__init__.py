"""The tables of hourly cloud prices on a Korean wiki page about GPUs: AWS, Azure and Google Cloud, one table each."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="gpu_wiki_cloud",
    title="Cloud GPU prices of a Korean GPU wiki page",
    # The page that the project knows is a document handed to it; name its address in the settings to read it live.
    homepage="https://gpu-wiki-cloud.sample.test/",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    sample=("/wiki/GPU",),
    country="KR",
    language="ko",
)
