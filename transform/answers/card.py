"""Everything that we know about one card: its data, prices and shops, its speed, and the cost of owning and renting it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuledger.spelling import names_like
from gpuledger.transform.answers import markets
from gpuledger.transform.answers.columns import KNOWN, columns
from gpuledger.transform.answers.price import last_prices
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.added_cards import Names
from gpuledger.transform.identity.gpu import MACHINE, Gpu
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.queries import Rows
from gpuledger.warehouse.outputs.answer import Answer, Column, cell
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class CardMatch:
    """The cards that a text means: one card, several versions of one name, or no card but similar names (`near`)."""

    gpu_ids: tuple[str, ...]
    near: tuple[str, ...] = ()
    #: How the text contradicts the cards as they are sold, such as by another size of memory.
    contradiction: str | None = None


def match_cards(text: str, resolver: Resolver, own: Iterable[Gpu] = ()) -> CardMatch:
    """The cards that `text` means, from the catalogue and from the user's `own` cards.

    `text` may be a `gpu_id`, a title as shops write it, a short name ("4090"), or a machine with shared memory ("M2 Ultra
    192GB").
    """
    known = {gpu_id: f"{gpu.vendor} {gpu.name}" for gpu_id, gpu in catalogue.by_id().items()}
    known |= {gpu.gpu_id: gpu.display_name for gpu in own}
    if text in known:
        return CardMatch((text,))
    machines = Names.of(gpu for gpu in catalogue.gpus() if gpu.form_factor == MACHINE)
    if (machine := machines.find(text)) is not None:
        return CardMatch((machine.gpu_id,))
    resolution = resolver.resolve(text)
    if resolution.status == "matched" and resolution.gpu_id:
        return CardMatch((resolution.gpu_id,))
    if resolution.status == "ambiguous":
        against = resolution.explanation if resolution.rule == "conflict" else None
        return CardMatch(_of_form(text, resolution.candidates, known), contradiction=against)
    if several := machines.near(text):
        return CardMatch(tuple(sorted(gpu.gpu_id for gpu in several)))
    bare = {_bare(name): name for name in known.values()}
    bare_text = _bare(text)
    exact = [gpu_id for gpu_id, name in known.items() if _bare(name) == bare_text]
    # People call the machines with the chip "Strix Halo" by the name of the chip.
    exact += [
        gpu.gpu_id for gpu in catalogue.gpus() if gpu.form_factor == MACHINE and _bare(gpu.chip or "") == bare_text
    ]
    if exact:
        return CardMatch(tuple(sorted(exact)))
    candidates = [known[gpu_id] for gpu_id in resolution.candidates if gpu_id in known]
    close = names_like(bare_text, bare, most=5)
    return CardMatch((), tuple(dict.fromkeys([*candidates, *(bare[name] for name in close)]))[:5])


def _of_form(text: str, candidates: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """The candidates with the module form that `text` names (SXM2, not SXM3). All candidates if none has it."""
    forms = set(_FORM.findall(text.lower()))
    of_form = tuple(gpu_id for gpu_id in candidates if forms & set(_FORM.findall(known.get(gpu_id, "").lower())))
    return of_form or tuple(candidates)


_FORM = re.compile(r"\bsxm\d\b")


def _bare(name: str) -> str:
    """A name without the parts that people leave out: makers, product lines, spaces and upper case."""
    return "".join(_LEFT_OUT.sub(" ", name.lower().replace("-", " ")).split())


_LEFT_OUT = re.compile(r"\b(?:nvidia|amd|intel|geforce|radeon|(?:rtx|gtx|rx)(?=\d|\b))")


def facts(data: DataDir, gpu_ids: Sequence[str]) -> Rows:
    """A row for each card with what the catalogue, the shops and the price history say."""
    return query(
        data,
        f"""SELECT g.gpu_id, g.gpu, g.architecture, g.segment, g.form_factor, g.memory_gb, g.memory_type,
               g.memory_bandwidth_gb_s, g.fp32_tflops, g.tensor_fp16_tflops, g.tdp_w, g.released_on, g.msrp_usd,
               p.price_usd, p.source AS shop, p.url, p.price_since, p.median_usd, p.offers, p.premium_over_msrp,
               p.used_price_usd, p.excluded, p.snapshot_sha256, p.price_mark,
               (SELECT min(core.price_mark(o.source)) FROM core.offer o WHERE o.gpu_id = g.gpu_id
                   AND o.condition <> 'new' AND round(o.price_usd, 2) = round(p.used_price_usd, 2)) AS used_price_mark,
               t.change_30d, t.all_time_low_usd, t.all_time_low_on,
               t.hint, t.reason AS hint_reason, t.hint_given, t.hint_was_right, t.hint_right_on_any
           FROM core.gpu g LEFT JOIN {last_prices(None)} p USING (gpu_id) LEFT JOIN mart.price_trend t USING (gpu_id)
           WHERE list_contains($cards, g.gpu_id) ORDER BY p.price_usd IS NULL, g.gpu""",
        {"cards": list(gpu_ids)},
    )


def daily_lows(data: DataDir, gpu_id: str, days: int, currency: str = "USD") -> list[float]:
    """The lowest price on each of the last `days` days that have one, at the exchange rate of that day, oldest first."""
    _, rows = query(
        data,
        f"""SELECT low::DOUBLE FROM {markets.DAILY_LOWS}
           WHERE gpu_id = $card AND low IS NOT NULL
               AND day > (SELECT max(day) FROM mart.price_daily) - $days::INTEGER ORDER BY day""",
        {"card": gpu_id, "days": days, "currency": currency},
    )
    return [low for (low,) in rows]


def daily(data: DataDir, gpu_ids: Sequence[str], days: int) -> Rows:
    """Lowest, median and highest price of the cards on each of the last `days` days, oldest first."""
    return query(
        data,
        """SELECT * FROM mart.price_daily
           WHERE list_contains($cards, gpu_id) AND day > (SELECT max(day) FROM mart.price_daily) - $days::INTEGER
           ORDER BY gpu_id, day""",
        {"cards": list(gpu_ids), "days": days},
    )


#: What people see of offers. The printed price has its currency beside it, so that a narrow screen cannot drop one of them.
OFFERS = columns(
    "price_usd", replace(KNOWN["price"], seen=lambda offer: _printed(offer)), "price_mark", "shop", "condition",
    "availability", "price_since", "left_out_because", "title", "url", Column("evidence", "evidence"),
)  # fmt: skip


def _printed(offer: Mapping[str, Any]) -> str | None:
    return None if offer["price"] is None else f"{cell(offer['price'])} {offer['currency']}"


#: Why a card has no row of these.
NONE_OF = {
    "offers": "no shop here offers it",
    "scores": "no score of it is published here; `gpuledger predict` with a model says how fast it will be",
    "rentals": "no cloud here rents it out",
}


def offers(data: DataDir, gpu_id: str, most: int) -> Answer:
    """The offers of a card now. First the offers that count, by price, then the others, with the reason why they do not."""
    found = query(
        data,
        """SELECT price_usd, price, currency, source AS shop, condition, availability, valid_from::DATE AS price_since,
               exclusion AS left_out_because, title, url, snapshot_sha256 AS evidence, core.price_mark(source) AS price_mark
           FROM core.offer WHERE gpu_id = $card
           ORDER BY exclusion IS NOT NULL, price_usd NULLS LAST, listing_id LIMIT $most""",
        {"card": gpu_id, "most": most},
    )
    return Answer.of_query(*found, OFFERS)


SCORES = columns(
    "workload", "rank", "score", "unit", "relative_to_baseline",
    Column("value_rank", "place by value", weight=KNOWN["unit"].weight), Column("source", "source"), "published_on",
)  # fmt: skip


def scores(data: DataDir, gpu_id: str) -> Answer:
    """A card's place in each workload, and its place by value for money if it has a price."""
    found = query(
        data,
        """SELECT w.workload, r.rank, r.score, r.unit,
               round(r.relative_to_baseline, 2) AS relative_to_baseline, v.value_rank,
               r.source, r.published_on
           FROM mart.ranking r JOIN core.workload w USING (workload_id)
           LEFT JOIN mart.value v
               ON v.workload_id = r.workload_id AND v.gpu_id = r.gpu_id AND v.price_basis = 'street'
           WHERE r.gpu_id = $card ORDER BY r.rank, w.workload""",
        {"card": gpu_id},
    )
    return Answer.of_query(*found, SCORES)


RENTALS = columns(
    "provider", "instance", Column("region", "region"), "pricing_model", Column("comparability", "comparability"),
    "instance_hour_usd", "break_even_hours", Column("cheaper", "cheaper"),
)  # fmt: skip


def rentals(data: DataDir, gpu_id: str, most: int) -> Answer:
    """The cost of renting instead, the cheapest hour first, and the hours of use after which owning is cheaper."""
    found = query(
        data,
        """SELECT provider, instance, region, pricing_model, comparability, instance_hour_usd,
               round(break_even_hours) AS break_even_hours, cheaper
           FROM mart.rent_vs_buy WHERE gpu_id = $card ORDER BY instance_hour_usd, offer_id LIMIT $most""",
        {"card": gpu_id, "most": most},
    )
    return Answer.of_query(*found, RENTALS)


def of(data: DataDir, gpu_id: str, most: int) -> dict[str, Answer]:
    """The offers, the scores and the rentals of a card, `most` of them."""
    return {
        "offers": offers(data, gpu_id, most),
        "scores": scores(data, gpu_id),
        "rentals": rentals(data, gpu_id, most),
    }
