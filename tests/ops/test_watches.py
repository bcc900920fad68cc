"""Watches on the sample's nights: what fires, once, with which evidence; and what can never fire is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger import local_files
from gpuledger.extract.sample import server
from gpuledger.flows.telling import watches as store
from gpuledger.flows.telling.watches import Watch, WatchResult, look
from gpuledger.records import BadRecord
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows
from tests.nights import Night

CARD = {"gpu_id": "nvidia-geforce-rtx-4090", "gpu": "NVIDIA GeForce RTX 4090"}


def found(night: Night, **words: object) -> WatchResult:
    watch = Watch(id=1, **{**CARD, **words})  # type: ignore[arg-type]
    return look(DataDir(night.data), [watch], server.clock(night.number))[0]


def price(night: Night) -> Decimal:
    ((amount,),) = rows(night.data, f"SELECT price_usd FROM mart.gpu_price WHERE gpu_id = '{CARD['gpu_id']}'")
    assert isinstance(amount, Decimal)
    return amount


def test_an_amount_in_another_currency_is_held_against_the_price_in_that_currency(nights: dict[int, Night]) -> None:
    ((rate,),) = rows(nights[1].data, "SELECT usd_rate FROM core.fx_usd WHERE currency = 'EUR'")
    euros = round(price(nights[1]) / Decimal(rate), 2)
    assert found(nights[1], rule="below", below=euros, currency="EUR").is_met is False
    one = found(nights[1], rule="below", below=euros + Decimal("0.01"), currency="EUR")
    assert one.is_met is True
    printed = f"{price(nights[1]).normalize():,f} USD: "
    assert one.body.startswith(
        f"NVIDIA GeForce RTX 4090 costs {euros:,} EUR at Newegg (invented); you asked for below "
    )
    assert printed in one.body, "what the shop prints stands beside it"
    assert found(nights[1], rule="below", below=Decimal(1), currency="XAU").is_met is None


def test_the_evidence_is_what_a_buyer_would_check(nights: dict[int, Night]) -> None:
    body = found(nights[2], rule="below", below=Decimal(9000)).body
    ((url, title, sha256),) = rows(
        nights[2].data,
        f"SELECT url, title, snapshot_sha256 FROM mart.gpu_price WHERE gpu_id = '{CARD['gpu_id']}'",
    )
    for word in (
        "at Newegg",
        url,
        title,
        sha256[:16],
        f"{price(nights[2]):,.2f} USD",
        "just seen",
        "since 2023-11-17",
    ):
        assert word in body


def test_a_price_in_won_shows_both_amounts(nights: dict[int, Night], tmp_path: Path) -> None:
    korea = replace(nights[1], data=nights[1].copy(tmp_path / "data"))
    assert gpuledger("rebuild", data=korea.data, env={"GPULEDGER_MARKET": "kr"}).status == 0
    ((gpu_id, gpu, printed),) = rows(
        korea.data, "SELECT gpu_id, gpu, price FROM mart.gpu_price WHERE currency = 'KRW' ORDER BY gpu_id LIMIT 1"
    )
    assert f"\n{printed:,.0f} KRW: " in found(korea, rule="below", below=Decimal(9000), gpu_id=gpu_id, gpu=gpu).body


def test_a_first_price_is_no_new_low_and_a_lower_one_is(nights: dict[int, Night]) -> None:
    assert found(nights[1], rule="new_low", days=90).is_met is None
    assert price(nights[2]) < price(nights[1])
    second = found(nights[2], rule="new_low", days=90)
    assert second.is_met is True
    assert f"before was {price(nights[1]):,.2f} USD" in second.body
    assert "known for 1 of them" in second.body
    assert found(nights[3], rule="new_low", days=90).is_met is False


def test_a_card_without_a_price_cannot_be_told(nights: dict[int, Night]) -> None:
    assert found(nights[1], rule="below", below=Decimal(1), gpu_id="nvidia-h100-pcie-80gb", gpu="H100").is_met is None


def test_a_clock_that_went_back_gives_no_negative_age(nights: dict[int, Night]) -> None:
    watch = Watch(id=1, rule="below", below=Decimal(9000), **CARD)  # type: ignore[arg-type]
    assert "just seen" in look(DataDir(nights[1].data), [watch], datetime(2020, 1, 1, tzinfo=UTC))[0].body


def test_a_watch_survives_the_file(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    first = store.add(
        data, Watch(id=0, rule="below", below=Decimal("1499.50"), added_on=datetime.now(UTC).date(), **CARD)
    )  # type: ignore[arg-type]
    second = store.add(data, Watch(id=0, rule="new_low", days=90, gpu='a "quoted" 카드', gpu_id="x"))
    assert store.WATCHES.all(data.root) == [first, second]
    assert [first.id, second.id] == [1, 2]
    assert store.WATCHES.remove(data.root, 1) == first
    assert store.add(data, Watch(id=0, rule="new_low", days=30, **CARD)).id == 3  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[watch]]\nid = 1\nrule = "below"\ngpu_id = "x"', "line 1: the rule below needs below"),
        ('[[watch]]\nid = 1\nrule = "cheap"\ngpu_id = "x"', "line 1: Invalid enum value 'cheap'"),
        ('[[watch]]\nid = 1\nrule = "below"\ngpu_id = "x"\nbelow = "many"', "line 1"),
        ('[[watch]]\nid = 1\nrule = "below"\nprice = 3', "no field 'price'"),
        ("[[watch]\n", "watches.toml"),
        ('[[watch]]\nid = 1\nrule = "new_low"\ngpu_id = "x"\ndays = 9\n' * 2, "line 6: this watch is there twice"),
    ],
)
def test_a_file_that_was_edited_badly_says_where(tmp_path: Path, text: str, words: str) -> None:
    local_files.write_text(store.WATCHES.file(tmp_path), text)
    with pytest.raises(BadRecord, match=words):
        store.WATCHES.all(tmp_path)


def test_the_command_from_add_to_remove(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    added = gpuledger("watch", "add", "rtx 4090", "--below", "1500", data=data)
    assert (added.status, "watch 1: NVIDIA GeForce RTX 4090 below 1,500.00 USD" in added.out) == (0, True)
    assert "not met" in added.out
    again = gpuledger("watch", "add", "RTX4090", "--below", "1500.0", data=data)
    assert (again.status, "watch 1 is the same" in again.err) == (2, True)
    euros = gpuledger("watch", "add", "rtx 4090", "--below", "1400", "--currency", "EUR", data=data)
    assert (euros.status, "NVIDIA GeForce RTX 4090 below 1,400.00 EUR" in euros.out) == (0, True), euros.err
    assert "nvidia-geforce-rtx-4090" in gpuledger("watch", "list", "--format", "csv", data=data).out
    saved = gpuledger("buy", "--model", "llama-2-13b", "--save", "우리팀", data=data)
    assert "GPULEDGER_NOTIFY_URLS" in added.err, "nobody would be told"
    assert "GPULEDGER_NOTIFY_URLS" in saved.err
    for name, found in (("우리팀", "no night has answered it yet"), ("2", "below 1,400.00 EUR")):
        tested = gpuledger("watch", "test", name, data=data)
        assert (tested.status, tested.out.count("\n") < 6, found in tested.out) == (0, True, True), tested
    assert "no kept question '남의팀'" in gpuledger("watch", "test", "남의팀", data=data).err
    assert gpuledger("watch", "remove", 1, data=data).status == 0
    assert gpuledger("watch", "remove", 1, data=data).status == 2


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("rtx 3060", "--below", "200"), "NVIDIA GeForce RTX 3060 12GB, NVIDIA GeForce RTX 3060 8GB"),
        (("gpu bracket", "--below", "200"), "gpu bracket"),
        (("rtx 4090", "--below", "-5"), "not in the range x>0"),
        (("rtx 4090", "--below", "cheap"), "'cheap' is no number"),
        (("rtx 4090", "--below", "9", "--currency", "XYZ"), "there is no exchange rate for XYZ"),
        (("rtx 4090",), "give one of"),
        (("rtx 4090", "--below", "9", "--new-low", "9"), "give one of"),
        (("rtx 4090", "--new-low", "soon"), "'soon' is no number"),
        (("--below", "900"), "Missing argument 'CARD'"),
    ],
)
def test_what_can_never_fire_is_refused(nights: dict[int, Night], words: tuple[str, ...], reason: str) -> None:
    outcome = gpuledger("watch", "add", *words, data=nights[1].data)
    assert (outcome.status, reason in outcome.err) == (2, True), outcome.err
    assert not store.WATCHES.file(nights[1].data).exists()
