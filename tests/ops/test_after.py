"""After real refreshes: who is told of what, and that no target can fail a run or hold it up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuledger.flows.telling.watches import WATCHES
from tests.command import gpuledger, rows
from tests.nights import Night
from tests.ops.receivers import webhook
from tests.support.silent_target import silent


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> Path:
    """The first night, with a watch that the second night's price meets."""
    copy = nights[1].copy(tmp_path / "data")
    assert gpuledger("watch", "add", "rtx 4090", "--below", "1720", data=copy).status == 0
    return copy


#: A shop that changes its layout, one with the price that is watched, and the rates.
ONLY = [f"--only={name}" for name in ("bhphoto", "newegg", "ecb_fx")]


def refresh(data: Path, night: int, *words: str, **env: str) -> int:
    words = words or tuple(ONLY)
    return gpuledger("refresh", "--sample", "--engine", "plain", "--night", night, *words, data=data, env=env).status


def test_a_changed_layout_and_a_watch_are_told_once(data: Path) -> None:
    with WATCHES.file(data).open("a") as file:
        file.write('\n[[watch]]\nid = 2\nrule = "fits"\ngpu_id = "x"\n')
    with webhook() as hook:
        assert refresh(data, 2, GPULEDGER_NOTIFY_URLS=hook.url) == 3
        assert sorted(post["title"] for post in hook.posts) == [
            "gpuledger: NVIDIA GeForce RTX 4090 below 1,720.00 USD",
            "gpuledger: a watch cannot be looked at",
            "gpuledger: bhphoto has changed its layout",
        ]
        told = {post["title"].removeprefix("gpuledger: "): post["message"] for post in hook.posts}
        assert "Invalid enum value 'fits'" in told["a watch cannot be looked at"]
        assert "http://newegg.sample.test/" in told["NVIDIA GeForce RTX 4090 below 1,720.00 USD"]
        hook.posts.clear()
        assert refresh(data, 3, GPULEDGER_NOTIFY_URLS=hook.url) == 3
        assert hook.posts == []


def test_a_silent_target_fails_nothing_and_is_tried_again(data: Path) -> None:
    with silent() as url:
        assert refresh(data, 2, GPULEDGER_NOTIFY_URLS=url, GPULEDGER_NOTIFY_DEADLINE_S="2") == 3
    assert len(list((data / "state" / "outbox").glob("*.json"))) == 2
    assert rows(data, "SELECT count(*) FROM ops.run WHERE status LIKE 'published%'") == [(2,)]


def test_a_failed_run_is_told_with_its_reason(tmp_path: Path) -> None:
    with webhook() as hook:
        # No sample and no network: no source can be read. One source, and one try, so that it does not take long.
        status = gpuledger(
            "refresh", "--engine", "plain", "--only", "quotes", data=tmp_path, env={"GPULEDGER_NOTIFY_URLS": hook.url}
        ).status
        assert status == 1
        (post,) = hook.posts
    assert (post["title"], post["type"]) == ("gpuledger: the run published nothing", "failure")
    assert "no source is configured" in post["message"]


def test_an_overdue_source_is_told_once(data: Path) -> None:
    with webhook() as hook:
        later = ("--as-of", "2023-11-25T03:00:00Z", "--only", "ecb_fx")
        assert refresh(data, 2, *later, GPULEDGER_NOTIFY_URLS=hook.url) == 0
        titles = [post["title"] for post in hook.posts]
        (old,) = (title for title in titles if title.endswith(" are too old"))
        assert {"newegg", "bhphoto"} <= {*re.split("[ ,]+", old)}, "one message for all"
        assert "ecb_fx" not in old
        count = len(titles)
        assert refresh(data, 2, *later, GPULEDGER_NOTIFY_URLS=hook.url) == 0
        assert len(hook.posts) == count
