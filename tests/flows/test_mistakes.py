"""What people type wrongly, and what they are told: the name that they meant, or where the right one is found."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gpuledger.flows import cli
from gpuledger.flows.doors.asking.options import Amount, Whole
from gpuledger.flows.words import lang
from gpuledger.spelling import names_like
from tests.command import ROOT, Outcome, gpuledger, succeeds
from tests.nights import Night

VALUE = "value sd-512-image-generation"


#: As typed, exit status, and what the answer must say.
MISTAKES = (
    # commands
    ("buyy --model llama-2-13b", 2, "did you mean `gpuledger buy`?"),
    ("valu sd-512", 2, "did you mean `gpuledger value`?"),
    ("prce 4090", 2, "did you mean `gpuledger price`?"),
    ("shwo 4090", 2, "did you mean `gpuledger show`?"),
    ("Value sd-512", 2, "did you mean `gpuledger value`?"),
    ("source", 2, "did you mean `gpuledger sources` or `gpuledger new-source`?"),
    ("new_source", 2, "did you mean `gpuledger new-source`?"),
    ("make-coffee", 2, "no command is called 'make-coffee'; `gpuledger --help` lists all"),
    ("sources newegg", 2, "No such command 'newegg'; there are check, "),
    ("buy --model llama-2-13b --users 1e3", 2, "'1e3' is no number; did you mean 1000?"),
    ("buy --model llama-2-13b --context 8K", 2, "did you mean 8192?"),
    ("sql SELECT 1", 2, "a query of several words goes between quotes"),
    ("gpu add 'RTX 9090'", 2, "Missing option '--source'"),
    ("pull http://bucket", 2, "give its address with https://"),
    ("--lang xx sources", 2, "'xx' is not one of 'en', 'ko'"),
    ("sql --formt csv 'SELECT 1'", 2, "No such option '--formt'"),
    ("sql ''", 2, "one statement at a time, please: this is 0"),
    ("sql 'SELECT 1; SELECT 2'", 2, "one statement at a time, please: this is 2"),
    # what is missing, and what is too much
    ("value", 2, "`gpuledger workloads` lists all"),
    ("buy llama-2-13b", 2, "Missing option '--model'; `gpuledger model list` lists all"),
    ("buy --model llama-2-13b --budget 2k", 2, "'2k' is no number; did you mean 2000?"),
    ("predict --gpu 4090 --model llama-2-13b --engine lama.cpp", 2, "did you mean llama.cpp?"),
    ("predict --gpu 4090x3 --count 2 --model llama-2-13b", 2, "says 3 cards and --count 2"),
    ("predict --gpu H100 --model llama-2-13b", 2, "may mean NVIDIA H100 NVL, NVIDIA H100 PCIe, NVIDIA H100 SXM5"),
    ("value stable diffusion", 2, "of several words goes between quotes"),
    ("price rtx 4090", 2, "of several words goes between quotes"),
    ("audit survey", 2, "`gpuledger audit` takes no name"),
    ("price --asof 2023-11-16", 2, "'--as-of'"),
    ("price --format xml", 2, "'table', 'csv', 'json'"),
    ("export --format excel out", 2, "'csv', 'xlsx', 'parquet'"),
    ("price --lang de", 2, "--lang"),
    # workloads
    ("value sd", 2, "sd-512-image-generation"),
    ("value sd512", 2, "sd-512-image-generation"),
    ("value 'stable diffusion'", 2, "sd-512-image-generation"),
    ("value sd-512-image-generaton", 2, "the nearest are:\n  sd-512-image-generation"),
    ("rank llama13b", 2, "the nearest are:\n  llama-13b-int4-text-generation"),
    ("rank 'gaming 4k'", 2, "the nearest are:\n  gaming-4k-ultra"),
    ("rank quake-3", 2, "known are:\n  gaming-1080p-medium"),
    ("value quake-3", 2, "\n  llama-13b-int4-text-generation\n  sd-2048-image-resolution\n  sd-512-image-generation"),
    # cards
    ("price rtx4091", 2, "did you mean:\n  NVIDIA GeForce RTX 4090"),
    ("price 'rtx 4090 ti'", 2, "did you mean:\n  NVIDIA GeForce RTX 4090"),
    ("changes 'rtx 4080ti'", 2, "NVIDIA GeForce RTX 4080"),
    ("show iphone", 2, "no card is called 'iphone'"),
    ("show ''", 2, "no card is called ''"),
    ("price h100", 4, "no shop in this warehouse lists it"),
    ("predict --gpu 4090ti --model llama-2-7b", 2, "NVIDIA GeForce RTX 4090"),
    ("predict --gpu 'rtx 3080' --model llama-2-7b", 2, "RTX 3080 10GB, NVIDIA GeForce RTX 3080 12GB: name one"),
    ("predict --gpu 'M4 Max' --model llama-3.2-1b", 2, "'M4 Max' may mean Apple M4 Max 128GB"),
    ("gpu add 'RTX 4090' --like 'RTX 4090' --source x", 2, "means NVIDIA GeForce RTX 4090 in the catalogue"),
    ("gpu add 'RTX 4090 48GB' 48 --like 'RTX 4090' --source x", 2, "a figure is COLUMN=VALUE"),
    ("gpu add BR100 --source x", 2, "Say --vendor"),
    ("predict --gpu BR100 --model llama-3-8b", 2, "no card is called 'BR100'"),
    ("watch add iphone --below 5", 2, "no card is called 'iphone'"),
    # tables and assumptions
    ("describe vlaue", 2, "did you mean mart.value?"),
    ("describe mart.valu", 2, "did you mean mart.value"),
    ("describe core.gpus", 2, "did you mean core.gpu"),
    ("describe Mart.Values", 2, "did you mean mart.value"),
    ("describe nothing_like_it", 2, "there are:\n  core."),
    ("describe assumptions.kv_cache_bit", 2, "did you mean kv_cache_bits?"),
    ("sql 'SELECT * FROM mart.valeu'", 2, 'Did you mean "value"'),
    ("sql 'SELECT pric FROM mart.value'", 2, '"price_usd"'),
    ("sql 'DROP TABLE mart.value'", 2, "only reading is possible here"),
    # sources
    ("sources check neweg --sample", 2, "did you mean newegg?"),
    ("refresh --sample --only Newegg", 2, "did you mean newegg?"),
    ("refresh --sample --only danwa", 2, "did you mean danawa"),
    ("alias add X nvidia-geforce-rtx-4090 --reason r --source bhfoto", 2, "did you mean bhphoto?"),
    ("parse nowhere /etc/hostname", 2, "no source is called nowhere; known are product, "),
    ("new-source newegg https://shop.kettle.test/", 2, "the name 'newegg' is taken"),
    # countries and currencies
    (f"{VALUE} --market Germany", 2, "did you mean de (Germany)?"),
    (f"{VALUE} --market zz", 2, "no market is called 'zz'; known are at, "),
    (f"{VALUE} --market fr", 4, "`gpuledger price` says what was left out and why"),
    (f"{VALUE} --currency euros", 2, "'euros' is no currency's code such as EUR"),
    (f"{VALUE} --currency XYZ", 2, "CAD, CHF, CNY"),
    # days
    ("price --as-of 16.11.2023", 2, "'16.11.2023' is not a day such as 2026-11-20"),
    ("price --as-of 2023-11-31", 2, "'2023-11-31' is not a day such as"),
    ("changes --since lastweek", 2, "is not a day such as 2026-11-20"),
    ("price --as-of 2099-01-01", 2, "has not come yet"),
    ("price --as-of 2020-01-01", 4, "the first day is 2023-11-16"),
    ("refresh --sample --night 9", 2, "the sample site has no night 9; it has 1, 2, 3"),
    ("refresh --sample --night 0", 2, "0 is not in the range x>=1"),
    ("refresh --night 1", 2, "give --sample with it"),
    ("refresh --sample --as-of yesterday", 2, "--as-of 'yesterday' is not a time such as"),
    ("refresh --sample --as-of 2026-13-01", 2, "--as-of '2026-13-01' is not a time such as"),
    # models and precisions
    ("buy --model lama-2-13b", 2, "did you mean llama-2-13b"),
    ("size lama-2-7b", 2, "did you mean llama-2-7b"),
    ("buy --model llama-2-13b --precision fp17", 2, "did you mean fp16?"),
    ("buy --model 13b", 2, "of that size are llama-13b"),
    ("size llama-2-7b --precision q4km", 2, "did you mean Q4_K_M?"),
    ("size llama-2-7b --precision 3bit", 2, "precision '3bit' is not known; known are fp32"),
    ("size llama-2-7b --context -1", 2, "not in the range x>=1"),
    ("size llama-2-7b --context 5000", 2, "5000 tokens is beyond the 4096 that this llama model"),
    ("size", 2, "name one MODEL, or give its --config"),
    ("buy --model flux.1-dev --context 5", 2, "a model of images or video has no context"),
    ("buy --model flux.1-dev --min-tokens-per-s 5", 2, "does not write token by token"),
    ("buy --model flux.1-dev --tokens-per-month 5M", 2, "does not write token by token"),
    ("buy --model llama-2-7b --for games", 2, "'games' is not one of 'chat', 'agent'"),
    ("buy --model llama-2-7b --host mine", 2, "'mine' is not 'own'"),
    ("size llama-2-7b --assume kv_cache_bits", 2, "--assume needs NAME=VALUE, not 'kv_cache_bits'"),
    ("size llama-2-7b --assume luck=1", 2, "there is no assumption 'luck'"),
    *((f"size llama-2-7b --assume kv_cache_bits={text}", 2, "kv_cache_bits must be between 4 and 32 bits")
      for text in ("64", "nan", "inf", "-1", "9" * 400)),
    ("buy --model llama-2-7b --assume utilisation=1.5", 2, "utilisation must be between 0 and 1"),
    ("size llama-2-7b --batch 0", 2, "not in the range x>=1"),
    ("size models/config.json", 2, "models/config.json cannot be read (No such file or directory)"),
    ("size my-model.gguf", 2, "my-model.gguf cannot be read (No such file or directory)"),
    ("predict --model llama-2-7b", 2, "Missing option '--gpu'"),
    ("predict 4090 llama-2-7b", 2, "Missing option '--model'"),
    # amounts
    ("buy --model llama-2-7b --budget '$1,500'", 2, "did you mean 1500?"),
    ("buy --model llama-2-7b --budget 1500USD", 2, "did you mean 1500?"),
    ("buy --model llama-2-7b --budget 1500원", 2, "did you mean 1500?"),
    ("buy --model llama-2-7b --budget -5", 2, "not in the range x>0"),
    ("buy --model llama-2-7b --budget 10", 4, "raise the budget to"),
    ("buy --model llama-2-7b --hours-per-day 30", 2, "must be between 0.1 and 24 hours"),
    ("buy --model llama-2-7b --horizon-years 0", 2, "horizon_years must be between 0.01 and 20 years"),
    ("buy --model llama-2-7b --country XX", 2, "no electricity price is known for 'XX'; known are BE"),
    ("buy --model llama-2-7b --min-tokens-per-s fast", 2, "'fast' is no number"),
    ("watch add 4090 --below 0", 2, "not in the range x>0"),
    ("rate add runpod 4090 1", 2, "write rates/rates.csv in the data directory"),
    ("changes --limit -1", 2, "not in the range x>=0"),
    # one thing in the place of another
    ("value 4090 sd-512-image-generation", 2, "unexpected extra argument (sd-512-image-generation)"),
    ("rank 4090", 2, "known are:"),
    ("show 4090 3090", 2, "unexpected extra argument (3090)"),
    ("changes 2023-11-17", 2, "a day goes behind --since or --as-of"),
    ("price 4090,iphone", 2, "no card is called 'iphone'"),
    ("--data-dir x price", 2, "No such option '--data-dir'; options go behind the command"),
    ("describe gpu_id", 2, "did you mean core.gpu?"),
    ("price --currency €", 2, "is no currency's code such as EUR"),
    ("price --market korea", 2, "did you mean kr (South Korea)?"),
    ("price --as-of 2023-13-45", 2, "is not a day"),
    # files and pages
    ("quotes check nofile.csv", 2, "does not exist"),
    ("quotes template", 2, "it is gone: any table with named columns is read"),
    ("parse newegg nofile.html", 2, "does not exist"),
    ("size --config /etc/hostname", 2, "is not JSON"),
    ("export", 2, "Missing argument 'FOLDER'"),
    ("release nothing", 2, "`gpuledger release` lists the held prices"),
    ("watch remove 7", 2, "there is no watch 7"),
    ("evidence zz", 2, "at least 8 letters"),
    ("evidence 4090", 2, "at least 8 letters"),
    ("evidence 0123456789abcdef", 2, "the archive has no page 0123456789abcdef"),
)  # fmt: skip


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> object:
    """The command line as `main` runs it, in this process: usage errors and those of the warehouse alike."""
    monkeypatch.chdir(tmp_path)

    def one(line: str, data: Path) -> Outcome:
        monkeypatch.setenv("GPULEDGER_DATA_DIR", str(data))
        monkeypatch.setattr("sys.argv", ["gpuledger", *shlex.split(line)])
        with pytest.raises(SystemExit) as leaving:
            cli.call()
        out, err = capsys.readouterr()
        lang.use(None)
        return Outcome(int(leaving.value.code or 0), out, err)

    return one


@pytest.mark.parametrize(("line", "status", "told"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_mistake_is_answered_with_the_remedy(
    ask: object, nights: dict[int, Night], line: str, status: int, told: str
) -> None:
    assert callable(ask)
    outcome = ask(line, nights[1].data)
    assert outcome.status == status, outcome
    assert told in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("describe value", "mart.value"),
        ("describe VALUE", "mart.value"),
        ("rank 'SD 512 image generation'", "NVIDIA GeForce RTX 4090"),
        ("value 'Stable Diffusion, 512×512 image generation'", "NVIDIA GeForce RTX 4090"),
        ("price 4090 --json", '"nvidia-geforce-rtx-4090"'),
    ],
)
def test_what_can_only_mean_one_thing_is_answered(ask: object, nights: dict[int, Night], line: str, holds: str) -> None:
    assert callable(ask)
    outcome = ask(line, nights[1].data)
    assert outcome.status == 0, outcome
    assert holds in outcome.out + outcome.err


def test_before_the_first_refresh_the_sample_is_named(ask: object, tmp_path: Path) -> None:
    assert callable(ask)
    for line in (
        VALUE, "rank sd-512", "show 4090", "changes", "status", "export out", "report out", "describe", "workloads",
        "sql 'SELECT 1'",
    ):  # fmt: skip
        outcome = ask(line, tmp_path / "data")
        assert (outcome.status, outcome.out) == (1, "")
        (said,) = outcome.err.splitlines()
        none = f"gpuledger: no warehouse in {tmp_path / 'data'} yet: run `gpuledger refresh --sample` first"
        assert said.startswith(none), line
    priced = ask("price 'rtx3090, 4090'", tmp_path / "data").out.splitlines()
    assert [line.split("\t")[0] for line in priced[1:]] == ["NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090"]
    assert all("street price" in line for line in priced[1:])
    assert ask("describe assumptions.hours_per_day", tmp_path / "data").out.count("hours_per_day") == 1
    assert not (tmp_path / "data").exists(), "reading leaves nothing behind"


def test_near_names_are_near() -> None:
    assert names_like("neweg", ["newegg", "danawa"]) == ["newegg"]
    assert names_like("RTX-4090", ["rtx 4090", "rtx 4080"])[0] == "rtx 4090"
    assert names_like("iphone", ["4090", "a100"]) == []
    assert names_like("", ["4090"]) == []
    assert names_like("gaming", [f"gaming-{n}" for n in range(9)]) == ["gaming-0", "gaming-1", "gaming-2"]


def test_two_cards_between_which_a_comma_stands_are_both_priced(ask: object, nights: dict[int, Night]) -> None:
    assert callable(ask)
    outcome = ask("price '4090, rtx4080' --format csv", nights[1].data)
    assert outcome.status == 0
    assert [line.split(",")[0] for line in outcome.out.splitlines()[1:]] == [
        "nvidia-geforce-rtx-4080", "nvidia-geforce-rtx-4090",
    ]  # fmt: skip


# ── numbers that no option means, and a query that begins with a comment ─────────────────────────────────────────────────


def options(group: click.Group = cli.cli, above: str = "") -> Iterator[tuple[str, click.Parameter]]:
    """Every option and argument of every command whose type is a number."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from options(command, f"{above}{name} ")
        for parameter in command.params:
            if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
                yield f"{above}{name} {parameter.name}", parameter


def test_no_option_takes_a_number_that_nobody_means() -> None:
    found = list(options())
    assert len(found) > 30
    for name, parameter in found:
        assert isinstance(parameter.type, Whole | Amount) or getattr(parameter.type, "max", None) is not None, name
        for text in ("nan", "inf", "-inf", "-1", "1e400", "NaN", "infinity", "0x10"):
            with pytest.raises(click.BadParameter):
                parameter.type.convert(text, parameter, None)
        if isinstance(parameter.type, Whole):
            with pytest.raises(click.BadParameter, match="is not in the range"):
                parameter.type.convert("9" * 30, parameter, None)


def test_a_query_may_begin_with_a_comment_and_an_option_stand_on_either_side(nights: dict[int, Night]) -> None:
    query = min((ROOT / "examples").glob("*.sql")).read_text(encoding="utf-8").strip()
    assert query.startswith("--")
    asked = (("--format", "csv", query), (query, "--format", "csv"))
    answers = {succeeds("sql", *words, data=nights[1].data).out for words in asked}
    assert [answer.count(",") > 1 for answer in answers] == [True]


def test_what_looks_like_an_option_and_is_none_of_sql_is_no_query() -> None:
    assert gpuledger("sql", "--data-dir=/tmp/a folder", "SELECT 1").status == 1
