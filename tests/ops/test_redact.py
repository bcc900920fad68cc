"""No secret in what leaves the process."""

from __future__ import annotations

import json
import logging

import pytest

from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling import logs
from gpuledger.flows.telling.redact import Redactor
from gpuledger.warehouse.errors import Locked
from gpuledger.warehouse.ledger import SourceOutcome

SECRETS = (
    "mailtos://robot:Hunter2hunter2@mail.example.org?to=ops@example.org",
    "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
    "json://hooks.example.org/very-secret-path",
    "tgram://123456789:abcdefg_hijklmnop/12315544/",
)


@pytest.mark.parametrize(
    "text",
    [
        "could not send to mailtos://robot:Hunter2hunter2@mail.example.org?to=ops@example.org",
        "login of robot failed: password Hunter2hunter2 refused",
        "POST https://hooks.example.org/very-secret-path: 404",
        "TIiajkdnlazkcOXrIdevi7FQ",
        "token 123456789:abcdefg_hijklmnop",
    ],
)
def test_what_is_known_to_be_secret_stands_nowhere(text: str) -> None:
    shown = Redactor(SECRETS)(text)
    for piece in ("Hunter2", "very-secret-path", "TIiajkdnlazkc", "abcdefg_hijklmnop", "T1JJ3T3L2"):
        assert piece not in shown


@pytest.mark.parametrize(
    "text",
    [
        "newegg ok: 26 rows, $1,749.99",
        "http://newegg.sample.test/p/N82E16814990001?Item=9SIA4REA",
        "the key of the listing is N82E16",
        "no listing card matches '[data-selenium=\"miniProductPage\"]'; compare the archived page",
    ],
)
def test_everyday_text_is_left_alone(text: str) -> None:
    assert Redactor(SECRETS)(text) == text


@pytest.fixture
def summary() -> Summary:
    reason = "ConnectionFailed: https://hooks.example.org/very-secret-path: refused; check the network"
    return Summary(
        "r", [SourceOutcome("newegg", "ok", parsed=3), SourceOutcome("danawa", "failed", reason)], reason=reason
    )


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_log_has_a_line_a_source_and_no_secret(
    form: str, summary: Summary, capfd: pytest.CaptureFixture[str]
) -> None:
    logs.set_up(Settings(log_format=form, notify_urls=SECRETS))
    logs.summary(summary)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "very-secret-path" not in "".join(lines)
    if form == "json":
        words = [json.loads(line) for line in lines]
        assert [w["level"] for w in words] == ["info", "error", "error"]
        assert (words[0]["source"], words[0]["parsed"]) == ("newegg", 3)
        assert "***" in words[1]["reason"]


def test_libraries_are_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    logs.set_up(Settings())
    logging.getLogger("httpx").info("HTTP Request: GET …")
    logging.getLogger("prefect.events").warning("reconnecting")
    logging.getLogger(logs.NAME).info("ours")
    assert capfd.readouterr().err.count("\n") == 1


def failure(log: str, error: Exception) -> None:
    """What a library does with an error that it caught."""
    try:
        raise error
    except type(error):
        logging.getLogger(log).exception("it went wrong: %s", error)


def test_a_library_speaks_in_our_format_and_without_secrets(capfd: pytest.CaptureFixture[str]) -> None:
    logs.set_up(Settings(log_format="json", notify_urls=SECRETS))
    failure("prefect.flow_runs", OSError("https://hooks.example.org/very-secret-path is gone"))
    words = json.loads(capfd.readouterr().err)
    assert (words["level"], words["logger"]) == ("error", "prefect.flow_runs")
    assert "Traceback" in words["exception"]
    assert "very-secret-path" not in str(words)


def test_our_own_errors_need_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    logs.set_up(Settings())
    failure("prefect.flow_runs", Locked("another refresh is writing here"))
    assert capfd.readouterr().err.count("\n") == 1


def test_settings_never_show_a_secret() -> None:
    assert "Hunter2" not in repr(Settings(notify_urls=SECRETS))
