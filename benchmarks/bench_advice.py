"""How often the first pick is one that published guides name, and what each rule adds: the same without one rule at a time.

The questions, the guides' picks and their prices lie in ../shared/data/experts, where they are present.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.flows.doors.asking.assume import assumption
from gpuledger.flows.doors.asking.buying import Where, ask, stock
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.stock import Stock
from gpuledger.transform.sizing.diffusion import meant
from gpuledger.warehouse.paths import DataDir

PANEL = Path(__file__).parents[1] / "../shared/data/experts"
#: Of each rule the value that switches it off.
OFF = {
    "comfortable_tokens_per_s": "0", "large_model_tokens_per_s": "0", "comfortable_first_token_s": "0",
    "comfortable_picture_s": "0", "comfortable_clip_minutes": "0", "free_memory_share": "0", "least_card_gb": "0",
    "least_card_gb_of_several": "0", "several_cards": "1", "experiments": "1", "fast_enough_tokens_per_s": "0",
    "step_cost": "1000", "step_memory": "1000", "step_part": "1", "software_cost": "0", "roomy_memory_gb": "0",
    "most_memory": "0", "enough_memory": "0", "used_saves_share": "0",
}  # fmt: skip
#: What the panel's prices add to the names of its picks.
_ADDED = re.compile(
    r"(?<=RTX PRO 6000 Blackwell) .*|(?<=RTX A\d000) .*|(?<=Arc B5\d0) .*|(?<=B70) .*|(?<=R9700) .*| mini PC$"
)

Row = tuple[str, str, str] | tuple[str, str, str, bool]


class Asked(NamedTuple):
    """A question of the panel, with the picks of the guide."""

    model: str
    precision: str | None
    usage: Usage
    budget: Decimal
    has_host: bool
    least_speed: float | None
    picks: frozenset[tuple[int, str]]


def run() -> list[Row]:
    """The share of first picks and of the first three that a guide names, at both seasons' prices and without each rule."""
    if not PANEL.is_dir():
        return [("advice", "the panel (../shared/data/experts) is not on this machine", "")]
    found: list[Row] = []
    for season, least in (("spring", 0.55), ("autumn", 0.5)):
        with tempfile.TemporaryDirectory() as folder:
            data = _warehouse(season, Path(folder))
            questions = list(_questions(season))
            with stock(data, Where("us", None, None), clock=datetime.now(UTC), packaged=False) as offered:
                first, three = _score(data, offered, questions, ())
                share = f"{first} of {len(questions)}, {three} among three"
                found.append((f"{season}: picks of guides", share, f"{least:.0%}", first >= least * len(questions)))
                for rule, off in OFF.items():
                    first, three = _score(data, offered, questions, (f"{rule}={off}",))
                    found.append((f"{season}: without {rule}", f"{first}, {three} among three", ""))
    return found


def _warehouse(season: str, folder: Path) -> DataDir:
    (folder / "inbox").mkdir()
    shutil.copy(PANEL / f"quotes_{season}.csv", folder / "inbox" / "quotes.csv")
    words = ["refresh", "--only", "quotes", "--engine", "plain", "--data-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "gpuledger.flows.cli", *words], check=False, capture_output=True)
    return DataDir(folder)


def _questions(season: str) -> Iterator[Asked]:
    """The rows of the panel that name a model, picks and a currency that is known, as panel.py asks them."""
    prices: dict[str, dict[str, float]] = {}
    for row in _read(f"quotes_{season}.csv"):
        prices.setdefault(_bare(row["Product"]), {})[row["Condition"]] = float(row["Unit price"])
    for row in _read("given.csv"):
        rate = {"USD": 1.0, "EUR": 1.1}.get(row["currency"])
        if (
            row["kind"] not in ("pick", "finetune")
            or not (row["model"] and row["picks"] and rate)
            or row["sure"] == "low"
        ):
            continue
        picks, used, has_host = (
            [_pick(text) for text in row["picks"].split(";")],
            row["used_ok"] == "y",
            row["own_machine"] == "y",
        )
        asked = [usd for condition, usd in prices.get(picks[0][1], {}).items() if used or condition == "new"]
        cost = picks[0][0] * min(asked) if asked else None
        said = float(row["budget"]) * rate if row["budget"] else None
        if cost is None and said is None:
            continue
        budget = (
            said if said is not None and not (has_host and cost is not None and said < cost) else (cost or 0) * 1.03
        )
        yield Asked(
            row["model"], _precision(row), _usage(row), Decimal(round(budget)), has_host,
            float(row["min_tokens_per_s"] or 0) or None, frozenset(picks),
        )  # fmt: skip


def _precision(row: dict[str, str]) -> str | None:
    if row["kind"] == "finetune" or (_is_drawn(row) and row["precision"] == "fp16"):
        return None
    return {"fp8": "int8", "nvfp4": "int4", "mxfp4": "int4"}.get(row["precision"], row["precision"]) or None


def _usage(row: dict[str, str]) -> Usage:
    context = None if _is_drawn(row) or not row["context_tokens"] else int(row["context_tokens"])
    return Usage(context=context, users=int(row["users"] or 1), train="qlora" if row["kind"] == "finetune" else None)


def _is_drawn(row: dict[str, str]) -> bool:
    return meant(row["model"]) is not None or row["model"].startswith("whisper")


def _score(data: DataDir, offered: Stock, questions: list[Asked], assumed: tuple[str, ...]) -> tuple[int, int]:
    """How often a guide's pick is the first of what is bought, and how often among the first three."""
    first = three = 0
    for one in questions:
        question = Question(
            model=one.model, precision=one.precision, usage=one.usage, budget=one.budget,
            host="own" if one.has_host else None, min_tokens_per_s=one.least_speed, assumed=dict(map(assumption, assumed)),
        )  # fmt: skip
        answer = ask(data, offered, question)
        named = [_named(option) in one.picks for option, _ in answer.ranked(0) if option.way == "buy"][:3]
        first, three = first + any(named[:1]), three + any(named)
    return first, three


def _named(option: Option) -> tuple[int, str]:
    return option.gpu_count, _bare(option.gpu)


def _pick(text: str) -> tuple[int, str]:
    count = re.match(r"(\d)x (.*)", text)
    return (int(count[1]), _bare(count[2])) if count else (1, _bare(text))


def _bare(name: str) -> str:
    short = _ADDED.sub("", re.sub(r"^(NVIDIA|AMD|Intel|Apple) ", "", name))
    return "GB10" if short.startswith("DGX Spark") else short


def _read(name: str) -> list[dict[str, Any]]:
    with (PANEL / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
