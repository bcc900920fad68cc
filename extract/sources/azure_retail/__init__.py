"""Azure's retail prices of virtual machines with GPUs, from the public API, which gives 1,000 meters a page.

https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="azure_retail",
    title="Azure retail prices of virtual machines with GPUs",
    homepage="https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    interface="azure_retail",
    start=(
        "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&$filter="
        "serviceName%20eq%20%27Virtual%20Machines%27%20and%20startswith(armSkuName,%27Standard_N%27)",
    ),
    language="en",
    # About 30,000 meters of N sizes, 1,000 a page.
    max_pages=100,
)
