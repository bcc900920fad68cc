"""Cloud price lists: one pricing model an offer, no variant merged, no price guessed. Pages: the sources' cases."""

from __future__ import annotations

import csv
import io
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from gpuhunt._internal.catalog import CATALOG_URL, OFFLINE_PROVIDERS

from gpuledger.errors import LayoutChanged, TooLarge
from gpuledger.extract import source
from gpuledger.extract.readers.cloud import read_rate, with_form_factor
from gpuledger.extract.sources.gpu_wiki_cloud import pages as gpu_wiki_cloud
from gpuledger.extract.sources.gpuhunt_catalog import pages as gpuhunt_catalog
from gpuledger.items import CloudOffer, Issue
from tests.extract.pages import page, table

CATALOGUE = (source.folder("gpuhunt_catalog") / "cases" / "somecloud.csv").read_text(encoding="utf-8")


# Form factors


@pytest.mark.parametrize(
    ("name", "printed", "expected"),
    [
        ("H100", "gpu_8x_h100_sxm5", "H100 SXM5"),
        ("H100", "NVIDIA H100 PCIe", "H100 PCIe"),
        ("H100", "NVIDIA H100 PCI-E 80GB", "H100 PCIe"),
        ("H100", "h100-nvl", "H100 NVL"),
        ("H100", "8x H100", "H100"),
        ("H100", "H100 SXM5 or PCIe", "H100"),
        ("H100NVL", "h100_nvl", "H100NVL"),
        ("A100 SXM4", "a100_pcie", "A100 SXM4"),
        ("GB200", "gb200-nvl72", "GB200 NVL72"),
        ("A100", "nvlink-node", "A100"),
    ],
)
def test_the_words_that_tell_variants_apart_stay(name: str, printed: str, expected: str) -> None:
    assert with_form_factor(name, printed) == expected


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("$4.234", ("4.234", "USD")), ("US$ 1.460", ("1.460", "USD")), ("0.31 USD", ("0.31", "USD")),
        ("1,632원", ("1632", "KRW")), ("₩1,632.25", ("1632.25", "KRW")), ("$0", ("0", "USD")),
        *((text, None) for text in ("4.234", "", "N/A", "$1.0 $2.0", "$1,23", "€1.00", "$5원", "$1.0/month", "-$1")),
    ],
)  # fmt: skip
def test_an_hour_s_rate(text: str, rate: tuple[str, str] | None) -> None:
    assert read_rate(text) == (rate and (Decimal(rate[0]), rate[1]))


# gpuhunt


def test_the_addresses_of_the_catalogues_are_those_of_gpuhunt() -> None:
    assert source.get("gpuhunt_catalog").start == tuple(f"{CATALOG_URL}/{name}/version" for name in OFFLINE_PROVIDERS)


def catalogue(text: str, url: str = "https://c.test/somecloud.csv") -> list[Any]:
    return list(gpuhunt_catalog.parse(page(text, url, "text/csv")))


def zipped(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_every_row_of_a_catalogue_is_an_offer_an_issue_or_without_a_gpu() -> None:
    found = catalogue(CATALOGUE)
    rows = list(csv.DictReader(io.StringIO(CATALOGUE)))
    without_gpu = sum(row["gpu_count"] == "0" for row in rows)
    assert len(found) + without_gpu == len(rows)
    assert sum(isinstance(item, Issue) for item in found) == 2


def test_a_zip_is_read_like_its_csv() -> None:
    content = zipped({"somecloud.csv": CATALOGUE, "readme.txt": "x"})
    found = list(gpuhunt_catalog.parse(page(content, "https://c.test/v3/somecloud/1/catalog.zip", "application/zip")))
    assert found[:5] == catalogue(CATALOGUE)[:5]


def test_the_catalogue_s_name_is_the_provider() -> None:
    assert {
        item.provider for item in catalogue(CATALOGUE, "https://c.test/lambdalabs.csv") if isinstance(item, CloudOffer)
    } == {"lambdalabs"}


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 cut off", zipped({"readme.txt": "x"}), zipped({"a.csv": "x,y\n1,2\n"})]
)
def test_a_zip_that_is_no_catalogue(content: bytes) -> None:
    with pytest.raises(LayoutChanged):
        list(gpuhunt_catalog.parse(page(content, "https://c.test/catalog.zip", "application/zip")))


def test_a_zip_that_would_fill_the_memory_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpuhunt_catalog, "MAX_CSV_BYTES", 10_000)
    content = zipped({"a.csv": "x" * 10_001})
    assert len(content) < 200
    with pytest.raises(TooLarge, match="10,001 bytes"):
        list(gpuhunt_catalog.parse(page(content, "https://c.test/catalog.zip", "application/zip")))


@pytest.mark.parametrize("text", ["", "<html>", "../../x", "a b"])
def test_a_version_that_is_none(text: str) -> None:
    with pytest.raises(LayoutChanged, match="no version"):
        list(gpuhunt_catalog.parse(page(text, "https://c.test/v3/aws/version", "text/plain")))


@pytest.mark.parametrize("price", ["-1", "nan", "inf", "1e400"])
def test_a_price_that_is_none_is_an_issue(price: str) -> None:
    row = CATALOGUE.splitlines()[3].replace("2.49", price)
    (found,) = catalogue(f"{CATALOGUE.splitlines()[0]}\n{row}\n")
    assert isinstance(found, Issue)


# The wiki page


def wiki(*tables: str) -> list[Any]:
    return list(gpu_wiki_cloud.parse(page("".join(tables), "https://wiki.test/GPU")))


@pytest.mark.parametrize(
    ("header", "model"),
    [
        ("온디맨드", "on_demand"),
        ("On-demand", "on_demand"),
        ("선점형", "spot"),
        ("Preemptible", "spot"),
        ("스팟", "spot"),
        ("1년 약정", "reserved_1y"),
        ("1 year commitment", "reserved_1y"),
        ("3년 약정", "reserved_3y"),
    ],
)
def test_pricing_models_by_words(header: str, model: str) -> None:
    (found,) = wiki(table(("GPU", header), ("T4", "$1.03"), caption="Google Cloud"))
    assert (found.pricing_model, found.price, found.currency) == (model, Decimal("1.03"), "USD")


@pytest.mark.parametrize(
    ("header", "cells", "found"),
    [
        # Totals, months and discounts are no price of an hour.
        *((("GPU", "온디맨드", header), ("T4", "$1.03", "$999"), ("on_demand", Decimal("1.03"), "$1.03", f"{header}: $999"))
          for header in ("3년 할인율", "3년 약정 총액", "월 요금", "1년 약정 할인", "비고")),
        # What is not available is an offer without a price, and an empty cell is none.
        (("GPU", "온디맨드", "3년 약정"), ("K80", "", "N/A"), ("reserved_3y", None, "N/A", None)),
    ],
)  # fmt: skip
def test_which_columns_of_the_wiki_are_prices(
    header: tuple[str, ...], cells: tuple[str, ...], found: tuple[Any, ...]
) -> None:
    (item,) = wiki(table(header, cells, caption="GCP"))
    assert (item.pricing_model, item.price, item.price_text, item.note) == found


def test_a_counted_instance_is_priced_as_a_whole() -> None:
    (found,) = wiki(table(("GPU", "GPU 수", "온디맨드"), ("V100", "4", "$12.24"), caption="AWS"))
    assert found.gpu_count == 4
    (issue,) = wiki(table(("GPU", "GPU 수", "온디맨드"), ("V100", "many", "$12.24"), caption="AWS"))
    assert issue.code == "unreadable_count"


def test_the_sample_page_has_every_price_of_the_document(shared_data: Path) -> None:
    sample = source.folder("gpu_wiki_cloud") / "sample/night1/wiki/GPU.html"
    found = {
        (item.provider, item.region or "", item.gpu_name, item.pricing_model, item.price, item.currency)
        for item in wiki(sample.read_text(encoding="utf-8"))
        if isinstance(item, CloudOffer)
    }
    with (shared_data / "survey" / "cloud_prices.csv").open(encoding="utf-8") as file:
        printed = {
            (
                row["provider"],
                row["region"],
                row["gpu"],
                row["pricing_model"],
                Decimal(row["amount_per_gpu_hour"]) if row["amount_per_gpu_hour"] else None,
                row["currency"] if row["amount_per_gpu_hour"] else None,
            )
            for row in csv.DictReader(file)
        }
    assert found == printed
    assert len(found) == 23
