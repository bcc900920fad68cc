"""Real targets on loopback: mail and webhook arrive; one that is silent, gone or angry costs little and loses nothing."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from gpuledger.flows.cli import cli
from gpuledger.flows.telling import kept_answers
from gpuledger.flows.telling.alerts import newly_true
from gpuledger.flows.telling.notify import Message, send
from gpuledger.warehouse.paths import DataDir
from tests.flows.inprocess import refresh
from tests.nights import Night
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


# ── a thing is said once, when it begins to be so ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "told.json"


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param([(met, ["watch:1"] if is_said else []) for met, is_said in (
            (False, False), (True, True), (True, False), (False, False), (True, True))], id="once a crossing"),
        pytest.param([(met, ["watch:1"] if is_said else []) for met, is_said in (
            (True, True), (None, False), (True, False), (None, False), (False, False), (None, False), (True, True))],
            id="what cannot be told changes nothing"),
    ],
)  # fmt: skip
def test_a_thing_is_said_when_it_begins_to_be_so(path: Path, looks: list[tuple[bool | None, list[str]]]) -> None:
    assert [newly_true(path, {"watch:1": met}) for met, _ in looks] == [said for _, said in looks]


def test_what_is_over_can_begin_again_and_what_was_not_looked_at_stays(path: Path) -> None:
    held = {"held:a 10": True}
    assert [newly_true(path, facts, ["held"]) for facts in (held, {}, held)] == [["held:a 10"], [], ["held:a 10"]]
    newly_true(path, {"layout:newegg": True, "run:failed": False}, ["run"])
    newly_true(path, {"run:failed": False}, ["run"])
    assert newly_true(path, {"layout:newegg": True}, ["run"]) == []


def test_without_a_listener_nothing_counts_as_said(path: Path) -> None:
    assert newly_true(None, {"watch:1": True}) == ["watch:1"]
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]


def test_a_torn_file_says_things_again_rather_than_never(path: Path) -> None:
    newly_true(path, {"watch:1": True})
    path.write_text('{"watch:1": tr', encoding="utf-8")
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]


def test_from_its_keeping_on_a_question_is_told_when_its_price_moved_by_a_twentieth_with_the_sentence_before_and_after(
    nights: dict[int, Night], site: Path, tmp_path: Path
) -> None:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    words = ("buy", "--model", "flux.1-dev", "--shop", "newegg")
    kept = CliRunner().invoke(cli, [*words, "--currency", "EUR", "--save", "pictures", "--data-dir", str(data.root)])
    assert kept.exit_code == 0, kept.output
    page = site / "newegg" / "sample" / "night2" / "gpus" / "index.html"
    text = page.read_text(encoding="utf-8")

    def look(*, is_heard: bool = True) -> list[Message]:
        return kept_answers.tell(data, kept_answers.now(data), is_heard=is_heard)

    (first,) = kept_answers.last_told(kept_answers.file(data)).values()
    for price, titles in (("1,700", []), ("1,500", ["gpuledger: pictures: -10.6% on day one"])):
        page.write_text(text.replace("<strong>1,699</strong>", f"<strong>{price}</strong>"), encoding="utf-8")
        refresh(data.root, 2, only=["newegg"])
        told = look(is_heard=False)
        assert [one.title for one in told] == titles
    at = "NVIDIA GeForce RTX 4090 at Newegg for"
    assert re.fullmatch(rf"{at} [\d,.]+ EUR on day one", first["sentence"]), "short, and in the money of the question"
    assert told[0].body.startswith(f"before ({first['day']}): {first['sentence']}\nnow: {at} ")
    assert look() == told, "as long as nobody heard it, it is not told"
    assert look() == []
    another = {"pictures": {**first, "pick": "another"}, "lost": {**first, "pick": None, "day_one_usd": None}}
    found = kept_answers.news({"pictures": first, "lost": first}, another)
    assert [one.title for one in found.values()] == [
        "gpuledger: pictures: now another", "gpuledger: lost: nothing runs it now",
    ]  # fmt: skip
