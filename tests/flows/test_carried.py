"""Decisions that an earlier program kept are in force after an upgrade, and none is lost."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.decisions.terms import TERMS, Terms
from gpuledger.flows.settings import settings
from gpuledger.flows.telling.watches import WATCHES
from gpuledger.transform.identity.added_cards import GPUS
from gpuledger.transform.sizing.added_models import MODELS, OwnModel
from gpuledger.transform.workloads import WORKLOADS

DECIDED = datetime(2026, 11, 1, 8, tzinfo=UTC)
_DECIDED = '"decided_at": "2026-11-01T08:00:00+00:00"'
RELEASED = f"""{{"listing_id": "newegg:1", "price": "549.00", "currency": "USD", "reason": "seen", {_DECIDED}}}
{{"listing_id": "torn
{{"source": "newegg", "rows": 12, "last_night": "2026-10-31T03:00:00+00:00", "reason": "fewer", {_DECIDED}}}
"""


def test_what_an_earlier_program_kept_is_carried_over_once(tmp_path: Path) -> None:
    before = local_files.write_text(tmp_path / "decisions" / "releases.jsonl", RELEASED)
    local_files.write_text(
        tmp_path / "decisions" / "terms.toml",
        '[newegg]\nsays = "forbidden"\npage = "https://www.example.com/terms"\nread = 2026-11-20\n',
    )
    local_files.write_text(
        tmp_path / "watches.toml",
        '[[watch]]\nid = 3\nrule = "below"\ngpu_id = "x"\ngpu = "X"\nbelow = "1499.50"\nadded_on = 2026-11-20\n',
    )
    for _ in range(2):
        settings.load({"data_dir": str(tmp_path)}).data()
        assert RELEASES.all(tmp_path) == [
            Release(
                listing_id="newegg:1", price=Decimal("549.00"), currency="USD", reason="seen", decided_at=DECIDED
            ),
            Release(
                source="newegg", rows=12, last_night=datetime(2026, 10, 31, 3, tzinfo=UTC), reason="fewer",
                decided_at=DECIDED,
            ),
        ]  # fmt: skip
        assert TERMS.all(tmp_path) == [
            Terms("newegg", "forbidden", "https://www.example.com/terms", date(2026, 11, 20))
        ]
        (watch,) = WATCHES.all(tmp_path)
        assert (watch.id, watch.below) == (3, Decimal("1499.50"))
    assert before.with_name("releases.jsonl.carried").read_text() == RELEASED


def test_what_a_person_added_to_an_earlier_program_is_carried_over_once(tmp_path: Path) -> None:
    config = {"model_type": "llama", "of": "O'Neill\x7f", "rope": {"type": None, "factors": [1.5, True]}}
    model = {"model_id": "mine", "added_on": "2026-11-01", "config": config}
    card = {
        "gpu_id": "nvidia-rtx-4090-48gb", "vendor": "NVIDIA", "name": "RTX 4090 48GB", "memory_gb": "48.0",
        "memory_bandwidth_gb_s": "1008.0", "segment": "consumer", "catalogue_key": "x", "msrp_usd": "1599.50",
    }  # fmt: skip
    older = {
        "models/mine.json": json.dumps(model),
        "models/broken.json": "{",
        "gpus/nvidia-rtx-4090-48gb.json": json.dumps({"added_on": "2026-11-02", "source": "a page", "gpu": card}),
        "workloads/my-test.toml": 'workload = "a"\nunit = "s"\ndescription = "b"\niterations = 3\n',
    }
    for name, text in older.items():
        local_files.write_text(tmp_path / name, text)
    for _ in range(2):
        settings.load({"data_dir": str(tmp_path)}).data()
        assert MODELS.all(tmp_path) == [OwnModel("mine", date(2026, 11, 1), config)]
        (own,) = GPUS.all(tmp_path)
        assert (own.gpu.gpu_id, own.gpu.memory_gb, own.gpu.msrp_usd) == ("nvidia-rtx-4090-48gb", 48, Decimal("1599.50"))
        assert (own.added_on, own.source) == (date(2026, 11, 2), "a page")
        (workload,) = WORKLOADS.all(tmp_path)
        assert (workload.workload_id, workload.iterations) == ("my-test", 3)
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.parent.name != "decisions"}
    assert {name.removesuffix(".carried") for name in names} >= older.keys()
    assert "models/broken.json" in names, "what could not be read before either stays where it is"
    local_files.write_text(tmp_path / "workloads" / "second.toml", 'workload = "a"\nunit = "s"\ndescription = "b"\n')
    settings.load({"data_dir": str(tmp_path)}).data()
    assert [one.workload_id for one in WORKLOADS.all(tmp_path)] == ["my-test", "second"]
