"""Where each setting comes from; a secret only from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.flows.settings.settings import SettingsError, explain, file_of, load
from tests.command import gpuledger


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gpuledger.toml"
    path.write_text('cron = "0 4 * * *"\ntime_zone = "Asia/Seoul"\nsources = ["newegg"]\n', encoding="utf-8")
    return path


def test_the_environment_goes_before_the_file_and_an_option_before_both(file: Path) -> None:
    environment = {"GPULEDGER_CRON": "0 5 * * *"}
    assert load({}, {}, file).cron == "0 4 * * *"
    assert load({}, environment, file).cron == "0 5 * * *"
    assert load({"cron": "0 6 * * *"}, environment, file).cron == "0 6 * * *"
    assert load({"cron": None}, environment, file).cron == "0 5 * * *"


def test_the_environment_may_name_the_file(file: Path, tmp_path: Path) -> None:
    elsewhere = {"GPULEDGER_SETTINGS_FILE": str(file)}
    assert load({}, elsewhere).cron == "0 4 * * *"
    assert {o.place for o in explain(elsewhere) if o.name == "cron"} == {str(file)}
    assert file_of({"GPULEDGER_SETTINGS_FILE": ""}) == file_of({}) == Path("gpuledger.toml")
    with pytest.raises(
        SettingsError, match=r"^GPULEDGER_SETTINGS_FILE names .*gone\.toml, which is not there: make it, or"
    ):
        load({}, {"GPULEDGER_SETTINGS_FILE": str(tmp_path / "gone.toml")})


def test_every_value_says_where_it_comes_from(file: Path) -> None:
    found = {o.name: o for o in explain({"GPULEDGER_CRON": "0 5 * * *"}, file)}
    assert (found["cron"].value, str(found["cron"].place)) == ("0 5 * * *", "the environment variable GPULEDGER_CRON")
    assert (found["time_zone"].value, found["time_zone"].place) == ("Asia/Seoul", str(file))
    assert found["delay_s"].place == "default"
    assert all(o.meaning for o in found.values())


def test_a_secret_is_shown_as_set_and_never_itself() -> None:
    found = {o.name: o for o in explain({"GPULEDGER_NOTIFY_URLS": "json://a/secret|json://b/secret"}, Path("/nowhere"))}
    assert found["notify_urls"].value == "2 set, not shown"


def test_a_secret_in_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gpuledger.toml"
    path.write_text('notify_urls = ["mailto://user:pass@example.org"]', encoding="utf-8")
    with pytest.raises(SettingsError, match="GPULEDGER_NOTIFY_URLS") as caught:
        load({}, {}, path)
    assert "pass" not in str(caught.value).replace("password", "")


def test_an_empty_list_in_the_environment_is_empty() -> None:
    assert load({}, {"GPULEDGER_NOTIFY_URLS": ""}, Path("/nowhere")).notify_urls == ()


@pytest.mark.parametrize(
    "words", [{"log_format": "xml"}, {"log_level": "LOUD"}, {"run_retries": -1}, {"notify_deadline_s": -1}]
)
def test_what_is_impossible_is_refused(words: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(words))):
        load(words, {}, Path("/nowhere"))


def test_the_command_prints_them(tmp_path: Path, file: Path) -> None:
    outcome = gpuledger(
        "settings", "--format", "csv", cwd=tmp_path, env={"GPULEDGER_NOTIFY_URLS": "json://h/topsecret"}
    )
    assert outcome.status == 0
    assert "cron,0 4 * * *,,gpuledger.toml," in outcome.out
    assert "topsecret" not in outcome.out
