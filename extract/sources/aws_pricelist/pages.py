"""Parser of AWS offer files, in JSON.

It reads prices of Linux on shared hardware without extra software. Of the reservations it reads the standard class with all
paid upfront: the price of an hour is the upfront sum divided by the hours of the term, plus the hourly fee, which is 0. Spot
prices are not part of these files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from gpuledger.extract.items import CloudOffer, Issue, Parsed, PricingModel
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers, cloud_instances
from gpuledger.extract.readers.cloud import Rate, hourly, to_micro
from gpuledger.extract.readers.cloud_instances import Gpus
from gpuledger.extract.source import Page

#: The attributes of the plain machine. A Windows or dedicated machine has another price under the same instance type.
_PLAIN = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
_LEASES: dict[str, tuple[int, PricingModel]] = {"1yr": (1, "reserved_1y"), "3yr": (3, "reserved_3y")}


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the CloudOffer items of an offer file, and one issue that counts the GPU machines left out, by reason.

    Raises LayoutChanged if the page is not an offer file.
    """
    left_out: Counter[str] = Counter()
    with answers.understood(page, "no AWS offer file"):
        offer_file = json.loads(page.content, parse_float=json_number)
        products, terms = offer_file["products"], offer_file["terms"]
        for sku, product in products.items():
            yield from _product(sku, product["attributes"], terms, page, left_out)
    if left_out:
        counted = ", ".join(f"{reason} {count}" for reason, count in sorted(left_out.items()))
        yield Issue(code="products_left_out", message=f"left out: {counted}", severity="info", url=page.url)


def _product(
    sku: str, attributes: dict[str, str], terms: dict[str, Any], page: Page, left_out: Counter[str]
) -> Iterator[CloudOffer | Issue]:
    text, kind = attributes.get("gpu", "0"), attributes.get("instanceType", "")
    if text in ("0", "") or not kind:
        return
    differing = next((key for key, value in _PLAIN.items() if attributes.get(key, value) != value), None)
    gpus = cloud_instances.aws(kind, int(text)) if text.isdigit() else None
    if differing is not None:
        left_out[f"with {differing} {attributes[differing]}"] += 1
    elif gpus is None:
        left_out[f"of an unknown type or a share of a GPU ({kind})"] += 1
    else:
        for term in terms.get("OnDemand", {}).get(sku, {}).values():
            yield _offer(attributes, gpus, _Terms("on_demand", _rate(term, 0), _price_text(term)), page)
        for term in terms.get("Reserved", {}).get(sku, {}).values():
            lease = term["termAttributes"]
            length, option = lease["LeaseContractLength"], lease["PurchaseOption"]
            if length not in _LEASES or option != "All Upfront" or lease.get("OfferingClass", "standard") != "standard":
                left_out["reserved otherwise than 1 or 3 years, standard, all upfront"] += 1
                continue
            years, model = _LEASES[length]
            yield _offer(attributes, gpus, _Terms(model, _rate(term, years), _price_text(term)), page)


def _rate(term: dict[str, Any], years: int) -> Rate | None:
    """Return the hourly price: the hourly fees, plus the sums for the whole term divided by its hours.

    Returns None if the price is not certain.
    """
    total, currencies = Decimal(0), set()
    for dimension in term["priceDimensions"].values():
        ((currency, text),) = dimension["pricePerUnit"].items()
        amount = json_number(text)
        if amount is None or amount < 0:
            return None
        if dimension["unit"] == "Quantity" and years:
            amount = hourly(amount, years)
        elif dimension["unit"] != "Hrs":
            return None
        total += amount
        currencies.add(currency)
    return Rate(to_micro(total), currencies.pop()) if len(currencies) == 1 else None


def _price_text(term: dict[str, Any]) -> str:
    return " + ".join(
        f"{amount} {currency} per {dimension['unit']}"
        for dimension in term["priceDimensions"].values()
        for currency, amount in dimension["pricePerUnit"].items()
    )


class _Terms(NamedTuple):
    """The terms on which an instance is rented. `rate` is None if the price of an hour is not certain."""

    model: PricingModel
    rate: Rate | None
    text: str


def _offer(attributes: dict[str, str], gpus: Gpus, terms: _Terms, page: Page) -> CloudOffer | Issue:
    model, rate, text = terms
    region = attributes.get("regionCode") or attributes.get("location")
    if rate is None:
        where = f"{attributes['instanceType']}, {region}, {model}"
        message = f"{where}: no hourly price in {text!r}"
        return Issue(code="unreadable_term", message=message, where=where, text=text, url=page.url)
    return CloudOffer(
        provider="aws",
        gpu_name=gpus.name,
        gpu_count=gpus.count,
        pricing_model=model,
        region=region,
        instance=attributes["instanceType"],
        price=rate.amount or None,
        currency=rate.currency,
        price_text=text,
        gpu_memory_gb=gpus.memory_gb,
        cpu_count=_whole(attributes.get("vcpu", "")),
        memory_gb=_gib(attributes.get("memory", "")),
        note=None if model == "on_demand" else "standard, all upfront",
    )


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _gib(text: str) -> Decimal | None:
    number, _, unit = text.replace(",", "").partition(" ")
    return json_number(number) if unit == "GiB" else None
