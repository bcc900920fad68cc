"""All that is known of one card: what it is, what it costs and where, how fast it is, what owning and renting it cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpuledger.extract.near import near
from gpuledger.transform.answers import rates
from gpuledger.transform.answers.asking import Rows
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.index import MACHINE
from gpuledger.transform.identity.own import Names
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query


@dataclass(frozen=True, slots=True)
class Named:
    """The cards that a person's words mean: one, several versions of one name, or none with the names that are near."""

    gpu_ids: tuple[str, ...]
    near: tuple[str, ...] = ()
    #: What the words say otherwise than the cards are sold, such as another size of memory.
    contradiction: str | None = None


def named(words: str, resolver: Resolver, own: Iterable[Gpu] = ()) -> Named:
    """The cards, of the catalogue and added, that `words` mean: a `gpu_id`, a title as shops write it, a name as people
    shorten it ("4090"), or a machine of shared memory ("M2 Ultra 192GB").
    """
    known = {gpu_id: f"{gpu.vendor} {gpu.name}" for gpu_id, gpu in catalogue.by_id().items()}
    known |= {gpu.gpu_id: gpu.display_name for gpu in own}
    if words in known:
        return Named((words,))
    machines = Names.of(gpu for gpu in catalogue.gpus() if gpu.form_factor == MACHINE)
    if (machine := machines.find(words)) is not None:
        return Named((machine.gpu_id,))
    resolution = resolver.resolve(words)
    if resolution.status == "matched" and resolution.gpu_id:
        return Named((resolution.gpu_id,))
    if resolution.status == "ambiguous":
        against = resolution.explanation if resolution.rule == "conflict" else None
        return Named(_of_form(words, resolution.candidates, known), contradiction=against)
    if several := machines.near(words):
        return Named(tuple(sorted(gpu.gpu_id for gpu in several)))
    bare = {_bare(name): name for name in known.values()}
    wanted = _bare(words)
    exact = [gpu_id for gpu_id, name in known.items() if _bare(name) == wanted]
    # "Strix Halo" is what people call the machines around that chip.
    exact += [gpu.gpu_id for gpu in catalogue.gpus() if gpu.form_factor == MACHINE and _bare(gpu.chip or "") == wanted]
    if exact:
        return Named(tuple(sorted(exact)))
    candidates = [known[one] for one in resolution.candidates if one in known]
    close = near(wanted, bare, most=5)
    return Named((), tuple(dict.fromkeys([*candidates, *(bare[one] for one in close)]))[:5])


def _of_form(words: str, candidates: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
    """The candidates whose module is the one that `words` name (SXM2, of SXM2 and SXM3), all of them where none is."""
    forms = set(_FORM.findall(words.lower()))
    of_form = tuple(one for one in candidates if forms & set(_FORM.findall(known.get(one, "").lower())))
    return of_form or tuple(candidates)


_FORM = re.compile(r"\bsxm\d\b")


def _bare(name: str) -> str:
    """A name without what people leave out: makers, lines, spaces and case."""
    return "".join(_LEFT_OUT.sub(" ", name.lower().replace("-", " ")).split())


_LEFT_OUT = re.compile(r"\b(?:nvidia|amd|intel|geforce|radeon|(?:rtx|gtx|rx)(?=\d|\b))")


def facts(data: DataDir, gpu_ids: Sequence[str]) -> Rows:
    """One row a card: what the catalogue, the shops and the price history say."""
    return query(
        data,
        """SELECT g.gpu_id, g.gpu, g.architecture, g.segment, g.form_factor, g.memory_gb, g.memory_type,
               g.memory_bandwidth_gb_s, g.fp32_tflops, g.tensor_fp16_tflops, g.tdp_w, g.released_on, g.msrp_usd,
               p.price_usd, p.source AS shop, p.url, p.price_since, p.median_usd, p.offers, p.premium_over_msrp,
               p.used_price_usd, p.excluded, p.snapshot_sha256, t.change_30d, t.all_time_low_usd, t.all_time_low_on,
               t.hint, t.reason AS hint_reason
           FROM core.gpu g LEFT JOIN mart.gpu_price p USING (gpu_id) LEFT JOIN mart.price_trend t USING (gpu_id)
           WHERE list_contains($cards, g.gpu_id) ORDER BY p.price_usd IS NULL, g.gpu""",
        {"cards": list(gpu_ids)},
    )


def daily_lows(data: DataDir, gpu_id: str, days: int, currency: str = "USD") -> list[float]:
    """The lowest price of each of the last `days` days that have one, each at its own day's rate, oldest first."""
    _, rows = query(
        data,
        f"""SELECT low::DOUBLE FROM {rates.DAILY_LOWS}
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


def offers(data: DataDir, gpu_id: str, most: int) -> Rows:
    """What shops offer of a card now: what counts first, the cheapest first, then the others with the reason why not."""
    return query(
        data,
        """SELECT price_usd, price, currency, source AS shop, condition, availability, valid_from::DATE AS price_since,
               exclusion AS left_out_because, title, url, snapshot_sha256 AS evidence
           FROM core.offer WHERE gpu_id = $card
           ORDER BY exclusion IS NOT NULL, price_usd NULLS LAST, listing_id LIMIT $most""",
        {"card": gpu_id, "most": most},
    )


def scores(data: DataDir, gpu_id: str) -> Rows:
    """A card's place in each workload, with the value for money where it has a price."""
    return query(
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


def rentals(data: DataDir, gpu_id: str, most: int) -> Rows:
    """What renting instead costs, the cheapest hour first, and after how many hours of use owning is cheaper."""
    return query(
        data,
        """SELECT provider, instance, region, pricing_model, comparability, instance_hour_usd,
               round(break_even_hours) AS break_even_hours, cheaper
           FROM mart.rent_vs_buy WHERE gpu_id = $card ORDER BY instance_hour_usd, offer_id LIMIT $most""",
        {"card": gpu_id, "most": most},
    )
