"""Decisions that an earlier program kept are in force after an upgrade, and none is lost."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

from gpuledger.extract import local_files
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.decisions.terms import TERMS, Terms
from gpuledger.flows.settings import settings
from gpuledger.flows.telling.watches import WATCHES

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
