"""AWS price lists of EC2 instances with GPUs: the JSON offer file of a service and region.

A region's file is hundreds of megabytes, so the source reads only the addresses that the settings name.
https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/reading-an-offer-file.html
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="aws_pricelist",
    title="AWS EC2 price lists, instances with GPUs",
    homepage="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/price-changes.html",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    interface="aws_pricelist",
    language="en",
)
