"""What the kept questions were answered last night, held against what was last told: news is another pick, or another
price.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpuledger import local_files
from gpuledger.extract.archive import files
from gpuledger.flows.telling import notify
from gpuledger.flows.words.say import say
from gpuledger.message import Message
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.report.answers import first_row, first_rows
from gpuledger.transform.report.questions import QUESTIONS, Kept
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

#: The share by which the price on day one moves before it is news.
MOVED = 0.05
#: By the name of a question: the pick, its price on day one in US dollars, the sentence, and the day on which it was so.
Answers = Mapping[str, Mapping[str, Any]]


def now(data: DataDir) -> Answers:
    """What each kept question was answered in the published night. Raises NoWarehouse."""
    questions = {one.name for one in QUESTIONS.usable(data.root)[0]}
    if not questions:
        return {}
    with reader(data) as con:
        return {name: {**answer, "sentence": say(answer["sentence"])}
                for name, answer in first_rows(con).items() if name in questions}  # fmt: skip


def news(before: Answers, after: Answers) -> dict[str, notify.Message]:
    """The messages about the questions whose answer is another one than when it was last told; none at first sight."""
    found = {}
    for name, answer in after.items():
        if name not in before:
            continue
        was = before[name]
        paid, asked = was["day_one_usd"], answer["day_one_usd"]
        share = asked / paid - 1 if paid and asked else 0.0
        if answer["pick"] != was["pick"]:
            what = Message("now {pick}", pick=answer["pick"]) if answer["pick"] else Message("nothing runs it now")
        elif abs(share) >= MOVED:
            what = Message("{share:+.1%} on day one", share=share)
        else:
            continue
        found[name] = notify.Message(f"gpuledger: {name}: {say(what)}", both(was, answer), "success")
    return found


def both(was: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """The answer of before and that of now, in words."""
    before = say(Message("before ({day}): {sentence}", day=was["day"], sentence=was["sentence"]))
    return f"{before}\n{say(Message('now: {sentence}', sentence=answer['sentence']))}"


def file(data: DataDir) -> Path:
    """What was last told of each question."""
    return data.state / "answers.json"


def last_told(path: Path) -> Mapping[str, Any]:
    """What was last told, by its key; nothing if nothing was, or if it cannot be read."""
    try:
        stored = local_files.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def begin(data: DataDir, kept: Kept, answer: Answer) -> None:
    """Count the answer to a question that was just kept as told: the first night after it tells what it changes."""
    told = first_row(kept, answer)
    _write(data, {**last_told(file(data)), kept.name: {**told, "sentence": say(told["sentence"])}})


def _write(data: DataDir, answers: Answers) -> None:
    files.make_folder(data.state)
    files.write(file(data), json.dumps(answers, indent=1, ensure_ascii=False).encode())


def tell(data: DataDir, answers: Answers, *, is_heard: bool) -> list[notify.Message]:
    """The messages that are due. If somebody hears them (`is_heard`), the answers they are about count as told."""
    before = last_told(file(data))
    found = news(before, answers)
    if is_heard:
        after = {name: answers[name] if name in found else before.get(name, answers[name]) for name in answers}
        if after != before:
            _write(data, after)
    return list(found.values())
