"""Every assumption is a named setting, described, bounded, and refused where it cannot be."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from gpuledger.transform import assumptions
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption, settings

NAMES = list(settings())


def test_every_field_is_described_with_unit_bounds_meaning_and_source() -> None:
    described = Assumptions().describe()
    assert [item.name for item in described] == [field.name for field in dataclasses.fields(Assumptions)]
    assert [item.name for item in described] == [*assumptions._TABLES]
    for item in described:
        assert item.setting.unit
        assert item.setting.meaning
        assert item.setting.source
        assert item.setting.low <= item.value <= item.setting.high
        assert item.value == item.default


def test_a_changed_setting_is_described_beside_its_default() -> None:
    item = next(item for item in Assumptions(host_usd=Decimal(500)).describe() if item.name == "host_usd")
    assert (item.value, item.default) == (Decimal(500), Decimal(600))


@pytest.mark.parametrize("name", NAMES)
def test_a_value_beyond_its_bounds_is_refused_with_the_reason(name: str) -> None:
    setting, kind = settings()[name], type(getattr(Assumptions(), name))
    with pytest.raises(ImpossibleAssumption, match=f"{name} must be between .* it is the {setting.meaning[:20]}"):
        dataclasses.replace(Assumptions(), **{name: kind(setting.high) + 1})
    with pytest.raises(ImpossibleAssumption, match=f"{name} must be between"):
        dataclasses.replace(Assumptions(), **{name: kind(-1)})


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_themselves_are_allowed(name: str) -> None:
    setting, kind = settings()[name], type(getattr(Assumptions(), name))
    for bound in (setting.low, setting.high):
        assert getattr(dataclasses.replace(Assumptions(), **{name: kind(bound)}), name) == kind(bound)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "0.5", None, True])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ImpossibleAssumption, match="link_gb_s"):
        Assumptions(link_gb_s=value)  # type: ignore[arg-type]


def test_settings_as_text() -> None:
    changed = Assumptions().with_text({"utilisation": "0.8", "kv_cache_bits": "8", "link_gb_s": "450"})
    assert (changed.utilisation, changed.kv_cache_bits, changed.link_gb_s) == (Decimal("0.8"), 8, 450.0)
    assert changed.host_usd == Assumptions().host_usd


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"utilization": "0.8"}, r"no assumption 'utilization'; there are device_overhead_gb.*utilisation"),
        ({"utilisation": "80%"}, "utilisation must be a number"),
        ({"prefill_chunk_tokens": "8.5"}, "prefill_chunk_tokens must be a number"),
        ({"utilisation": "1.01"}, "utilisation must be between 0 and 1"),
        ({"electricity_usd_per_kwh": "-0.1"}, "electricity_usd_per_kwh must be between 0 and 5"),
        ({"value_kept_per_year": "NaN"}, "value_kept_per_year must be between"),
    ],
)
def test_text_that_cannot_be_is_refused(texts: dict[str, str], message: str) -> None:
    with pytest.raises(ImpossibleAssumption, match=message):
        Assumptions().with_text(texts)
