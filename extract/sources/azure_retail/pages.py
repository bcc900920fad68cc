"""Parser of pages of Azure's retail prices, in JSON.

The API lists prices of meters, not of offers. Only the name of a meter says that it is Spot or Low Priority. The price of a
reservation is that of the whole term, although its unit says `1 Hour`. Windows meters include a licence, and test
subscriptions have prices of their own. The answer does not say which GPUs a size has: see `cloud_instances`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from gpuledger.extract.items import CloudOffer, Issue, Parsed, PricingModel
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers, cloud_instances
from gpuledger.extract.readers.cloud import hourly
from gpuledger.extract.readers.cloud_instances import Gpus
from gpuledger.extract.source import Page

_NEEDED = ("armSkuName", "armRegionName", "meterName", "productName", "retailPrice", "currencyCode", "type")
# Sizes with GPUs begin with N. Sizes that begin with NP have FPGAs.
_GPU_SIZE = re.compile(r"Standard_N(?!P)", re.IGNORECASE)
_TERMS: dict[str, tuple[int, PricingModel]] = {"1 Year": (1, "reserved_1y"), "3 Years": (3, "reserved_3y")}


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the CloudOffer items of a page of meters, an issue that counts the meters left out, and the next page's link.

    Raises LayoutChanged if the answer is not a JSON object with Items, or if an item lacks a field.
    """
    left_out: Counter[str] = Counter()
    with answers.understood(page, "no page of Azure's retail prices"):
        answer = json.loads(page.content, parse_float=json_number, parse_int=json_number)
        for item in answer["Items"]:
            yield from _meter({key: item[key] for key in _NEEDED} | item, page, left_out)
    yield from answers.left_out(left_out, "meters", page)
    yield from answers.next_page(page, answer.get("NextPageLink"))


def _meter(item: dict[str, Any], page: Page, left_out: Counter[str]) -> Iterator[CloudOffer | Issue]:
    size, kind = str(item["armSkuName"]), str(item["type"])
    if not _GPU_SIZE.match(size):
        left_out["without a GPU"] += 1
    elif kind not in ("Consumption", "Reservation"):
        left_out[f"of type {kind}"] += 1
    elif "Windows" in str(item["productName"]):
        left_out["with a Windows licence"] += 1
    elif not _is_valid(item, page.fetched_at):
        left_out["of another date"] += 1
    elif item.get("isPrimaryMeterRegion") is False or item.get("tierMinimumUnits"):
        # This meter repeats a machine: it is not charged, or its price holds only from some quantity on.
        left_out["secondary"] += 1
    elif (gpus := cloud_instances.azure(size)) is None:
        left_out["of an unknown size or a share of a GPU"] += 1
    else:
        yield _offer(item, size, gpus, page)


def _price(value: object) -> Decimal:
    """Return the price, which the answer writes as a number or as text. Raises ValueError if it is not a number."""
    price = value if isinstance(value, Decimal) else json_number(str(value))
    if price is None:
        raise ValueError(f"the price {str(value)[:40]} is none")
    return price


def _offer(item: dict[str, Any], size: str, gpus: Gpus, page: Page) -> CloudOffer | Issue:
    meter, printed = str(item["meterName"]), _price(item["retailPrice"])
    price, model, instance, text = printed, _model(meter), size, f"{printed:f}"
    unit = str(item.get("unitOfMeasure", "1 Hour"))
    problem = None
    if item["type"] == "Reservation":
        term = str(item.get("reservationTerm"))
        years, model = _TERMS.get(term, (0, model))
        price, text = (hourly(printed, years) if years else printed), f"{text} for {term}"
        problem = None if years else f"the reservation term {term!r} is not 1 or 3 years"
    elif unit != "1 Hour":
        problem = f"the unit {unit!r} is not 1 Hour"
    if "Low Priority" in meter:
        # Azure prices Low Priority beside Spot for the same size and region. Under one name one offer would replace the
        # other.
        instance = f"{size} Low Priority"
    if not price.is_finite() or price < 0:
        problem = f"{text} is no price"
    if problem:
        where = f"{size}, {item['armRegionName']}, {meter}"
        return Issue(code="unreadable_meter", message=f"{where}: {problem}", where=where, text=text, url=page.url)
    return CloudOffer(
        provider="azure",
        gpu_name=gpus.name,
        gpu_count=gpus.count,
        pricing_model=model,
        region=str(item["armRegionName"]) or None,
        instance=instance,
        price=price or None,
        currency=str(item["currencyCode"]),
        price_text=text,
        gpu_memory_gb=gpus.memory_gb,
        note=f"{item['productName']}, {meter}",
    )


def _model(meter: str) -> PricingModel:
    return "spot" if "Spot" in meter or "Low Priority" in meter else "on_demand"


def _is_valid(item: dict[str, Any], now: datetime) -> bool:
    """Return whether the price holds at the time of the fetch. The API also lists future and past prices."""
    start, end = (_time(item.get(key)) for key in ("effectiveStartDate", "effectiveEndDate"))
    return (start is None or start <= now) and (end is None or now < end)


def _time(text: object) -> datetime | None:
    if not text:
        return None
    time = datetime.fromisoformat(str(text))
    return time if time.tzinfo else time.replace(tzinfo=UTC)
