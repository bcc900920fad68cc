"""A batch that goes through a store comes out as it went in, and what is none is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuledger.errors import NotFound, Timeout
from gpuledger.extract import batches
from gpuledger.extract.collect import Collected
from gpuledger.flows.night import gather
from gpuledger.items import Issue, Offer
from tests.flows.inprocess import context


def batch() -> Collected:
    issue = Issue(code="missing_price", message="no price at \u2028 this", severity="warning")
    return Collected(
        "newegg", issues=[(issue, None), (issue, "ab" * 32)], images={"https://a.test/1.png": "cd" * 32},
        parsed=[("https://a.test/", "ab" * 32)], pages=3, pages_unchanged=1, size_bytes=10, is_complete=False,
        starts=("https://a.test/",), files=(("a.csv", "text/csv", "ef" * 32),), fetched=3,
        missed=[("https://a.test/2", NotFound("https://a.test/2", "404"))], unread=[NotFound("https://a.test/2", "404")],
        nights=(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)), fetched_by="run", stated_total=5,
        listed=4,
    )  # fmt: skip


def test_every_field_comes_back() -> None:
    before = batch()
    after = batches.loads(batches.dumps(before))
    assert str(after.missed[0][1]) == str(before.missed[0][1])
    assert type(after.missed[0][1]) is NotFound
    assert repr(after.unread) == repr(before.unread)
    assert replace(after, missed=(), unread=(), rows=()) == replace(before, missed=(), unread=(), rows=())


def test_a_failure_comes_back() -> None:
    failed = Collected("newegg", failure=Timeout("https://a.test/", "too slow", "wait"), is_complete=False)
    after = batches.loads(batches.dumps(failed))
    assert repr(after.failure) == repr(failed.failure)


def test_what_real_sources_gave_comes_back(tmp_path: Path) -> None:
    one = context(tmp_path, 1, only=("newegg", "ecb_fx", "toms_gpu_hierarchy"))
    with gather.reader(one) as reader:
        read = [reader.read_source(reading) for reading in gather.readings(one)]
    assert any(isinstance(item, Offer) for item, _ in read[0].rows)
    for before in read:
        after = batches.loads(batches.dumps(before))
        assert (list(after.rows), list(after.issues)) == (list(before.rows), list(before.issues))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"source": "newegg"}', b"\x80\x04N.", b"[" * 100_000])
def test_what_is_no_batch_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        batches.loads(content)
