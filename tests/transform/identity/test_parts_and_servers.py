"""Titles that were written before the rules: servers by their models, cards taken out of machines, machines of tables.

`parts_and_servers.csv` holds for each its status, the card or what is in the product, and how many; `?` where a title leaves
it open.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()


def titles() -> list[dict[str, str]]:
    with Path(__file__).with_name("parts_and_servers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", titles(), ids=lambda row: row["title"])
def test_what_a_title_sells(row: dict[str, str]) -> None:
    found = RESOLVER.resolve(row["title"], source=row["source"] or None)
    gpu_id = found.gpu_id or (found.contained[0] if found.contained else "")
    said = {"status": found.status, "gpu_id": gpu_id, "gpu_count": str(found.gpu_count)}
    assert {name: value for name, value in said.items() if row[name] != "?"} == {
        name: row[name] for name in said if row[name] != "?"
    }, found.explanation
