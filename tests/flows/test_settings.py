"""Settings: defaults, over them the file, the environment and the options; a secret only from the environment; what is
impossible is said with its place.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpuledger.flows.settings import dropped
from gpuledger.flows.settings.settings import Settings, SettingsError, explain, file_of, load
from gpuledger.redaction import redact_text
from tests.command import gpuledger

NOWHERE = Path("no-such-file.toml")


def test_what_is_nearer_to_the_person_counts(tmp_path: Path) -> None:
    file = tmp_path / "gpuledger.toml"
    file.write_text('delay_s = 2\ncontact = "file"\ndata_dir = "from-file"\nsources = ["newegg"]\n')
    environment = {"GPULEDGER_CONTACT": "environment", "GPULEDGER_DATA_DIR": "from-environment", "HOME": "x"}
    found = load({"data_dir": "from-option", "contact": None}, environment, file)
    assert (found.delay_s, found.contact, found.data_dir, found.sources) == (
        2.0,
        "environment",
        "from-option",
        ("newegg",),
    )
    assert found.fetch_deadline_s == Settings().fetch_deadline_s


def test_a_list_in_the_environment_is_parted_by_bars() -> None:
    assert load({}, {"GPULEDGER_MARKETPLACE_SELLERS": "Halden Store|Norvik"}, NOWHERE).marketplace_sellers == (
        "Halden Store",
        "Norvik",
    )


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("COLOUR", "blue", "there is no setting 'colour'; known are "),
        ("DELAY_S", "slow", "delay_s cannot be 'slow': Expected `float`"),
        ("DELAY_S", "-1", "delay_s must be a number from 0 to 1,000,000,000,000,000, not -1.0"),
        ("DELAY_S", "nan", "delay_s must be a number"),
        ("FETCH_DEADLINE_S", "inf", "fetch_deadline_s must be a number"),
        ("FETCH_DEADLINE_S", "0", "fetch_deadline_s must be a number from 0.001"),
        ("MAX_BODY_MB", "0", "max_body_mb must be a number from 0.001"),
        ("PARALLEL_SOURCES", "0", "parallel_sources must be a number from 1"),
        ("PARALLEL_SOURCES", "2.5", "parallel_sources cannot be '2.5'"),
        ("CONTACT", "김", "contact must be printable ASCII"),
        ("CONTACT", "a\nb", "contact must be printable ASCII"),
        ("STREET_PRICE_MIN_MSRP_RATIO", "5", "street_price_min_msrp_ratio must be below street_price_max_msrp_ratio"),
        ("MEMORY_LIMIT", "lots", "memory_limit"),
        ("LOG_FORMAT", "xml", "log_format"),
        ("LOG_LEVEL", "LOUD", "log_level"),
        ("RUN_RETRIES", "-1", "run_retries"),
        ("LANG", "xx", "lang must be one of en, ko, not 'xx'"),
    ],
)
def test_an_impossible_value_is_refused_in_words(variable: str, text: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, {f"GPULEDGER_{variable}": text}, NOWHERE)
    assert words in str(caught.value)


def test_the_environment_may_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "gpuledger.toml"
    file.write_text('cron = "0 4 * * *"\n', encoding="utf-8")
    elsewhere = {"GPULEDGER_SETTINGS_FILE": str(file)}
    assert load({}, elsewhere).cron == "0 4 * * *"
    assert {o.place for o in explain(elsewhere) if o.name == "cron"} == {str(file)}
    assert file_of({"GPULEDGER_SETTINGS_FILE": ""}) == file_of({}) == Path("gpuledger.toml")
    with pytest.raises(
        SettingsError, match=r"^GPULEDGER_SETTINGS_FILE names .*gone\.toml, which is not there: make it, or"
    ):
        load({}, {"GPULEDGER_SETTINGS_FILE": str(tmp_path / "gone.toml")})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delay_s = ", "gpuledger.toml: "), ("colour = 1", "gpuledger.toml: there is no setting 'colour'"),
        ("keep_days = 1.5", "keep_days cannot be 1.5: Expected `int`"), ("keep_days = true", "keep_days cannot be True"),
        ('contact = ["a"]', "contact cannot be ['a']: Expected `str`"), (None, "gpuledger.toml: it is a folder"),
        ('notify_urls = ["mailto://user:pass@example.org"]', "notify_urls is a secret; set it as GPULEDGER_NOTIFY_URLS"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / "gpuledger.toml"
    file.mkdir() if text is None else file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load({}, {}, file)
    assert words in redact_text(str(caught.value)), "the sentence as it is shown"
    assert "user:pass" not in str(caught.value)


def test_every_setting_says_what_it_means() -> None:
    for field in dataclasses.fields(Settings):
        if not field.name.startswith("assumptions"):
            assert len(field.metadata["meaning"]) > 10, field.name
            assert not field.name.endswith("_s") or field.metadata["unit"] == "s", field.name


def test_what_the_tables_depend_on_is_kept_in_the_warehouse() -> None:
    kept = Settings(marketplace_sellers=("A", "B")).for_warehouse()
    assert kept["marketplace_sellers"][0] == "A|B"
    assert kept["baseline_gpu_id"][0] == "nvidia-geforce-rtx-3060-12gb"
    assert "delay_s" not in kept
    assert all(meaning for _, _, meaning in kept.values())


def test_a_run_that_cannot_be_ends_with_one_line_and_status_2(tmp_path: Path) -> None:
    outcome = gpuledger(
        "refresh", "--sample", "--engine", "plain", "--night", 1, "--quiet", data=tmp_path / "data",
        env={"GPULEDGER_SOURCES": "nowhere"},
    )  # fmt: skip
    assert outcome.status == 2, outcome
    last = outcome.err.strip().splitlines()[-1]
    assert last.startswith("gpuledger: ")
    assert "no source is called nowhere; known are " in last
    assert not (tmp_path / "data" / "gpuledger.duckdb").exists()


def test_the_command_shows_every_setting_and_where_it_comes_from(tmp_path: Path) -> None:
    (tmp_path / "gpuledger.toml").write_text("delay_s = 2\n")
    env = {"GPULEDGER_CONTACT": "a@b.invalid", "GPULEDGER_NOTIFY_URLS": "json://h/topsecret|json://b/secret"}
    told = gpuledger("settings", "--format", "csv", cwd=tmp_path, env=env).out
    lines = {line.split(",")[0]: line for line in told.splitlines()}
    assert {f.name for f in dataclasses.fields(Settings) if not f.name.startswith("assumptions")} <= lines.keys()
    assert "gpuledger.toml" in lines["delay_s"]
    assert "GPULEDGER_CONTACT" in lines["contact"]
    assert "default" in lines["cron"]
    assert "2 set, not shown" in lines["notify_urls"]
    assert "topsecret" not in told


def test_what_is_gone_is_said_in_one_line_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "gpuledger.toml").write_text("".join(f'{name} = "set"\n' for name in dropped.SETTINGS))
    asked = gpuledger("settings", env={"GPULEDGER_SETTINGS_FILE": str(tmp_path / "gpuledger.toml")})
    assert asked.status == 0
    assert asked.err.splitlines() == [
        f"{tmp_path}/gpuledger.toml: the setting {name} is gone and does nothing: {instead}"
        for name, instead in dropped.SETTINGS.items()
    ]
    assert "in the environment" not in gpuledger("settings", env={"GPULEDGER_UI_PORT": "in the environment"}).out
    asked = gpuledger("settings", "--format", "csv", env={"GPULEDGER_SOURCES": "|".join([*dropped.SOURCES, "ecb_fx"])})
    assert "\nsources,ecb_fx," in asked.out
    assert [line.rpartition("left out: ")[2] for line in asked.err.splitlines()] == [*dropped.SOURCES.values()]
    refused = gpuledger("refresh", "--only", "azure_retail")
    assert (refused.status, dropped.SOURCES["azure_retail"] in refused.err) == (2, True)
    for option, instead in dropped.OPTIONS.items():
        asked = gpuledger(*option.split())
        assert (asked.status, f"it is gone: {instead}\n" in asked.err) == (2, True), asked.err
    for command, instead in dropped.COMMANDS.items():
        asked = gpuledger(*command.split(), "s3://tables")
        assert (asked.status, asked.out) == (2, "")
        assert f"is gone: {instead}\n" in asked.err
