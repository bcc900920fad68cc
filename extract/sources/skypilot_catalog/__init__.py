"""The catalogues of cloud GPU offers that SkyPilot publishes, of the clouds that gpuhunt's catalogues do not have.

https://github.com/skypilot-org/skypilot-catalog
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

_CATALOGUES = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8"
_CLOUDS = (
    "cudo", "hyperbolic", "hyperstack", "jarvislabs", "lium", "mithril", "primeintellect", "seeweb", "shadeform", "spheron",
    "vast", "yotta",
)  # fmt: skip

SOURCE = Source(
    name="skypilot_catalog",
    title="SkyPilot catalogues of cloud GPU offers",
    homepage="https://github.com/skypilot-org/skypilot-catalog",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    start=tuple(f"{_CATALOGUES}/{cloud}/vms.csv" for cloud in _CLOUDS),
    language="en",
)
