"""Tom's Hardware's articles on AI benchmarks, whose figures are pictures of charts.

The numbers come from transcriptions (`extract/readers/transcriptions.py`), whose CSV files are archived and parsed as pages
of this source.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, in_pages, parser_in

SOURCE = Source(
    name="toms_ai_articles",
    title="Tom's Hardware AI benchmark articles and their transcribed charts",
    homepage="https://www.tomshardware.com/pc-components/gpus/stable-diffusion-benchmarks",
    parse=parser_in(__name__),
    kinds=("score", "chart"),
    drops={"transcriptions": {".csv": "text/csv"}},
    bundled=in_pages(__name__, "bundled"),
    # The host of the articles' pictures.
    hosts=("cdn.mos.cms.futurecdn.net",),
    start=(
        "https://www.tomshardware.com/pc-components/gpus/stable-diffusion-benchmarks",
        "https://www.tomshardware.com/news/running-your-own-chatbot-on-a-single-gpu",
    ),
    sample=(
        "/pc-components/gpus/stable-diffusion-benchmarks",
        "/news/running-your-own-chatbot-on-a-single-gpu",
        "/transcriptions/stable-diffusion.csv",
        "/transcriptions/chatbot.csv",
    ),
    country="US",
    language="en",
)
