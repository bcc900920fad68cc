"""Where nothing does it as asked, what would is said, and is what the command says first when that is typed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpuledger.flows.cli import cli
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.identity.catalogue import by_id

#: Questions that nothing answers in an empty folder: too little money, too much speed, too many people, and several at once.
REFUSED = (
    "--model qwen3-32b --budget 100 --host own", "--model llama-3.3-70b --budget 300", "--model gpt-oss-120b --budget 1000",
    "--model llama-3.1-8b --min-tokens-per-s 500", "--model qwen3-32b --condition used --min-tokens-per-s 200",
    "--model qwen3-32b --users 64 --budget 2000", "--model deepseek-v3 --budget 5000 --market kr --currency KRW",
    "--model llama-3.3-70b --users 32 --context 32768 --min-tokens-per-s 60", "--model gpt-oss-20b --budget 90 --host own",
    "--model llama-3.1-8b --users 100 --budget 900", "--model deepseek-v3 --host own", "--model gemma-4-31b --budget 20",
    "--model qwen3-32b --host own --slots 1 --min-tokens-per-s 90", "--model gpt-oss-120b --budget 900 --budget-cards",
    "--model llama-3.3-70b --condition new --budget 500", "--model qwen3-32b --users 64 --context 40960 --budget 5000",
    "--model llama-3.1-8b --train full --budget 500", "--model flux.1-dev --budget 30",
    "--model qwen3-32b --for agent --users 16 --budget 3000", "--model deepseek-v3 --budget 3000 --market de --currency EUR",
)  # fmt: skip


def typed(words: list[str]) -> dict[str, Any]:
    done = CliRunner().invoke(cli, ["buy", *words, "--format", "json"], catch_exceptions=False)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def hinted(words: list[str], hint: str) -> tuple[list[str], str] | None:
    """What is typed to follow a hint, and what it names first; None if it names nothing."""
    if match := re.fullmatch(r"without (--\S+)(?: \S+)? there are \d+ answers, the first: (.+), [\d,.]+ [A-Z]+", hint):
        place = words.index(match[1])
        without = [*words[:place], *words[place + 2 :]]
        return [word for word in without if match[1] != "--budget" or word != "--budget-cards"], match[2]
    if match := re.fullmatch(r"raise the budget to ([\d,]+) [A-Z]+: the first is then (.+)", hint):
        changed = [*words, "--budget", match[1].replace(",", "")]
        return [word for word in changed if word != "--budget-cards"], match[2]
    if match := re.fullmatch(r"the fastest .+ writes (\S+) tokens/s: .+ the first is then (.+)", hint):
        return [*words, "--min-tokens-per-s", match[1]], match[2]
    return None


def test_what_a_remedy_names_first_is_what_the_command_then_says_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    followed = 0
    for question in REFUSED:
        refusal = typed(question.split())["refusal"]
        for hint in refusal["ways_out"] if refusal else ():
            if (found := hinted(question.split(), hint)) is not None:
                words, named = found
                told = typed(words)
                assert told["picks"], (words, hint)
                first = told["picks"][0]
                assert named == (
                    first["what"] if first["condition"] == "new" else f"{first['what']} ({first['condition']})"
                )
                # Pictures and clips may be answered at fewer bits, of the same question.
                assert not first["instead"] or "nothing here is comfortable" in first["instead"], (words, hint)
                followed += 1
    assert followed >= 20


@pytest.mark.parametrize(
    ("gpu_id", "boards"), [("amd-radeon-instinct-mi300a", ()), ("amd-radeon-pro-w6800x", (1, 2, 3, 4))]
)
def test_what_has_a_slot_of_its_own_goes_into_no_machine_with_others(gpu_id: str, boards: tuple[int, ...]) -> None:
    gpu = by_id()[gpu_id]
    assert tuple(count for count in range(1, 9) if host_for(gpu, count, gpu.tdp_w)) == boards


def test_a_clip_is_answered_at_the_bits_at_which_it_is_nearest_to_comfort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight hours a clip at 16 bits on a machine with memory for them are no advice where a card takes 90 minutes at 8."""
    monkeypatch.chdir(tmp_path)
    asked = ["--model", "wan-2.2-a14b", "--size", "1280x720", "--steps", "40", "--budget", "2500", "--host", "own"]
    first, as_asked = (typed([*asked, *more])["picks"][0] for more in ((), ("--precision", "fp16")))
    assert first["instead"] == "At fp16 nothing here is comfortable. At int8:"
    assert (first["precision"], as_asked["precision"], as_asked["instead"]) == ("int8", "fp16", "")
    assert first["images_per_s"] > 4 * as_asked["images_per_s"]
    for words, less in (
        (["--model", "wan 2.2"], "At int8, for less: NVIDIA GeForce RTX 3090 (used) "),
        (["--model", "qwen3-14b", "--train", "lora"], "Trained with qlora, for less: "),
        (["--model", "deepseek-r1", "--budget", "10000", "--host", "own"],
         "Your machine needs 384 GB of memory, 2 × slot as wide as the card, a supply of 1,950 W."),
    ):  # fmt: skip
        assert any(line.startswith(less) for line in typed(words)["sentences"])
