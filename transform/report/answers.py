"""The rows of mart.answer: what the kept questions are answered tonight, by the function that answers `buy`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import duckdb

from gpuledger.extract.source import seller
from gpuledger.message import Message, Words, said
from gpuledger.transform.build.graph import Model
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.headline import sentences
from gpuledger.transform.buying.options import OWNED
from gpuledger.transform.buying.rows import Shown, row_of
from gpuledger.transform.report.questions import Answered, Asker, Kept
from gpuledger.warehouse.load.stage import insert
from gpuledger.warehouse.outputs.answer import plain
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.schema import hash_text

TABLE = "mart.answer"


def filled(
    con: duckdb.DuckDBPyConnection, model: Model, data: DataDir, set_here: Mapping[str, str], clock: datetime
) -> tuple[Model, Sequence[Answered]]:
    """The model of mart.answer with the rows of tonight, and the answers. Its version has the rows too, so that equal rows
    build nothing anew.

    The tables that `buy` reads must be built. `set_here` are the assumptions that this machine sets.
    """
    con.execute(f"CREATE OR REPLACE TEMP TABLE answered AS {model.sql}")
    types = {name: kind for name, kind, *_ in con.execute("DESCRIBE answered").fetchall()}
    answers = [*Asker(con, data, set_here, clock).all()]
    rows = [[row.get(name) for name in types] for answered in answers for row in _rows(answered)]
    if rows:
        insert(con, "answered", types, rows)
    text = model.text + hash_text(json.dumps(rows, default=str))
    return replace(model, sql="FROM answered", text=text), answers


def first_rows(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, Any]]:
    """The answer of the published night to each kept question, by its name, as `told` says it."""
    (day,) = con.execute("SELECT max(as_of)::DATE::VARCHAR FROM ops.run").fetchall()[0]
    rows = con.execute("FROM mart.answer WHERE rank <= 1")
    names = [column[0] for column in rows.description]
    found = [dict(zip(names, row, strict=True)) for row in rows.fetchall()]
    return {row["question"]: told(row, day) for row in found}


def first_row(kept: Kept, answer: Answer) -> dict[str, Any]:
    """The answer to a question at the hour at which it is kept, as `told` says it."""
    return told(next(_rows(Answered(kept, answer))), str(kept.kept_on))


def told(row: Mapping[str, Any], day: str) -> dict[str, Any]:
    """Of the first row of an answer: the pick (None if there is none), its price on day one in US dollars, in a sentence
    that pick with its seller and its price in the currency of the question, or why there is none, and the `day`.
    """
    if row.get("pick") != "first":
        return {"pick": None, "day_one_usd": None, "sentence": row["sentence"], "day": day}
    what, condition, source = row["what"], row["condition"], row["source"]
    what += f" ({condition.replace('_', ' ')})" if condition not in (None, "new", OWNED) else ""
    sentence = Message(
        "{what} {where} for {paid}", what=what,
        where=Message("at {shop}", shop=seller(source, row["url"], row["seller"])) if source else
        Message("that you have,"),
        paid=Message("{outlay} on day one" if row["way"] == "buy" else "{outlay} of rent",
                     outlay=Currency(row["currency"], 1, None).as_paid(row["outlay"])),
    )  # fmt: skip
    return {"pick": what, "day_one_usd": float(row["outlay_usd"]), "sentence": sentence, "day": day}


def _rows(answered: Answered) -> Iterator[dict[str, Any]]:
    kept, answer = answered.kept, answered.answer
    asked = {
        "question": kept.name, "asked": json.dumps(plain(kept.asked), ensure_ascii=False),
        "asked_in": kept.market if answer is None else answer.stock.place.market, "currency": kept.currency,
    }  # fmt: skip
    money = DOLLARS if answer is None else answer.stock.place.currency
    english = Words(money.sum)
    if answer is None or not answer.ranking:
        yield asked | {"rank": 0, "sentence": "; ".join(said(line, english) for line in answered.why_nothing())}
        return
    for rank, (option, why) in enumerate(answer.ranked(0), 1):
        row = row_of(Shown(rank=rank, option=option, ruled_out=why, answer=answer, origin=lambda sha256: None))
        sentence = " ".join(said(line, english) for line in sentences(answer)) if rank == 1 else None
        values = {name: said(value, english) if isinstance(value, Message) else value for name, value in row.items()}
        shown = {name: row[f"{name}_usd"] and money.of(row[f"{name}_usd"]) for name in ("price", "outlay", "total")}
        yield values | asked | shown | {"sentence": sentence}
