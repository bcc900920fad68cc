"""Which runs are tried again, how often, and that Prefect's server does it."""

from __future__ import annotations

import pytest
from prefect import flow
from prefect.settings import PREFECT_API_AUTH_STRING, PREFECT_API_URL, temporary_settings

from gpuledger.flows.night.summary import Summary, can_help
from gpuledger.flows.prefect_ import deployments
from gpuledger.flows.prefect_.temporary import Server
from gpuledger.warehouse.ledger import SourceOutcome


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("ConnectionFailed: https://shop.invalid: refused; check the network", True),
        ("ServerError: https://shop.invalid: 503; try later", True),
        ("LayoutChanged: file:quote.csv: no column; name it", False),
        ("NotFound: https://shop.invalid: 404; correct it", False),
    ],
)
def test_only_what_may_pass_is_tried_again(reason: str, helps: bool) -> None:
    summary = Summary(
        "r", [SourceOutcome("newegg", "failed", "LayoutChanged: x"), SourceOutcome("quotes", "failed", reason)]
    )
    assert can_help(summary) is helps
    assert not can_help(Summary("r", [SourceOutcome("newegg", "ok")], reason="no source is configured"))


@pytest.mark.slow
def test_a_run_says_how_often_it_is_tried_again(server: Server) -> None:
    """It is asked for inside the run, as the settings are read there; and taken back where another try cannot help."""
    tried = []

    @flow(persist_result=False)
    def failing(retries: int, gives_up: bool) -> None:
        deployments.set_retries(deployments.flow_run(), retries)
        tried.append(1)
        if gives_up:
            deployments.set_retries(deployments.flow_run(), 0)
        raise RuntimeError("as always")

    ours = {PREFECT_API_URL: server.api_url, PREFECT_API_AUTH_STRING: server.credential}
    for retries, gives_up, tries in ((2, False, 3), (0, False, 1), (2, True, 1)):
        tried.clear()
        with temporary_settings(ours), pytest.raises(RuntimeError, match="as always"):
            failing(retries, gives_up)
        assert len(tried) == tries, (retries, gives_up)
