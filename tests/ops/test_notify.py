"""Real targets on loopback: mail and webhook arrive; one that is silent, gone or angry costs little and loses nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from gpuledger.flows.telling.notify import Message, send
from tests.ops.receivers import smtp, webhook
from tests.support.silent_target import silent

MESSAGE = Message(
    "gpuledger: 지포스 RTX 4090 below $1,500",
    "NVIDIA GeForce RTX 4090 costs $1,499.00\nhttp://shop.test/p/1",
    "success",
)
GONE = "json://127.0.0.1:9/gone"


@pytest.fixture
def outbox(tmp_path: Path) -> Path:
    return tmp_path / "outbox"


def test_a_mail_arrives_with_headline_and_evidence(outbox: Path) -> None:
    with smtp() as box:
        url = f"mailto://127.0.0.1:{box.port}?from=robot@example.org&to=ops@example.org&mode=insecure"
        assert send(outbox, [MESSAGE], [url], 10) == 0
    (mail,) = box.mails
    assert mail["subject"] == MESSAGE.title
    assert "ops@example.org" in mail["to"]
    body = mail.get_body(("plain", "html"))
    assert body is not None
    assert "costs $1,499.00" in body.get_content()
    assert "http://shop.test/p/1" in body.get_content()


def test_a_webhook_gets_it_once(outbox: Path) -> None:
    with webhook() as hook:
        assert send(outbox, [MESSAGE], [hook.url], 10) == 0
        assert send(outbox, [], [hook.url], 10) == 0
    (post,) = hook.posts
    assert (post["title"], post["message"], post["type"]) == (MESSAGE.title, MESSAGE.body, "success")


def test_one_target_down_is_tried_again_and_the_other_is_not_told_twice(outbox: Path) -> None:
    with webhook() as well, webhook() as ill:
        ill.status = 503
        assert send(outbox, [MESSAGE], [well.url, ill.url], 10) == 1
        ill.status = 200
        assert send(outbox, [], [well.url, ill.url], 10) == 0
    assert len(well.posts) == len(ill.posts) == 1


def test_the_order_is_kept_over_a_night_that_failed(outbox: Path) -> None:
    first, second = Message("first", "1"), Message("second", "2")
    with webhook() as hook:
        hook.status = 500
        assert send(outbox, [first], [hook.url], 10) == 1
        hook.status = 200
        assert send(outbox, [second], [hook.url], 10) == 0
    assert [post["title"] for post in hook.posts] == ["first", "second"]


def test_a_silent_target_holds_nobody_up(outbox: Path) -> None:
    with silent() as url, webhook() as hook:
        started = time.monotonic()
        assert send(outbox, [MESSAGE], [url, hook.url, GONE], 1.5) == 1
        took = time.monotonic() - started
    assert len(hook.posts) == 1
    assert took < 100  # far below what the silent one would take; the deadline itself is 1.5 s


def test_no_address_stands_in_the_outbox_or_the_log(outbox: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="gpuledger"):
        send(outbox, [MESSAGE], [GONE, "nonsense://hidden-token@x"], 10)
    (file,) = outbox.glob("*.json")
    told = file.read_text(encoding="utf-8") + caplog.text
    assert "127.0.0.1" not in told
    assert "hidden-token" not in told
    assert json.loads(file.read_text(encoding="utf-8"))["title"] == MESSAGE.title
    assert "could not be reached" in caplog.text
    assert "no address that Apprise knows" in caplog.text


def test_old_news_is_dropped(outbox: Path) -> None:
    send(outbox, [MESSAGE], [GONE], 10)
    (file,) = outbox.glob("*.json")
    file.rename(outbox / f"20200101{file.name[8:]}")
    assert send(outbox, [], [GONE], 10) == 0
    assert list(outbox.iterdir()) == []


def test_a_target_that_is_set_no_more_is_forgotten(outbox: Path) -> None:
    send(outbox, [MESSAGE], [GONE], 10)
    with webhook() as hook:
        assert send(outbox, [], [hook.url], 10) == 0
    assert hook.posts == []
    assert list(outbox.iterdir()) == []


def test_without_a_target_nothing_is_kept(outbox: Path) -> None:
    assert send(outbox, [MESSAGE], [], 10) == 0
    assert not outbox.exists()
