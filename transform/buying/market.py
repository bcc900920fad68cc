"""What can be bought or rented today: cards with a street price and instances with an hourly price, each with evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple

import duckdb

from gpuledger.extract.source import seller
from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions, from_table
from gpuledger.transform.buying.makers import FRESH_DAYS
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.queries import KNOWN, MARK, select_of, view
from gpuledger.transform.sizing.catalogue import served_as
from gpuledger.transform.speed.cards import memory_kind
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Effect, Kind, Learned
from gpuledger.transform.speed.rules import Basis

TOO_FEW = "{shop} offers {offered} at this price, and this takes {pieces}"
TOO_MANY = "{shop} sells no fewer than {least} at this price, and this takes {pieces}"
#: The source of shops that a user names, for whose pages there are no rules of their own.
ANY_SHOP = "generic_shop"
#: Whether nobody has confirmed a price of late. Such prices of a card come behind others of it.
_IS_STALE = "coalesce(contains(mark, 'stale'), false)"
#: Whether nobody has confirmed it for so long that it comes behind those of other cards.
_IS_BEHIND = f"seen_at < (SELECT max(as_of) FROM ops.run) - INTERVAL {FRESH_DAYS} DAY"
_MARK = MARK.format(is_fresh="{price}.exclusion IS NULL", source="{price}.source", fx_day="{price}.fx_day")
_VENDOR = "CASE WHEN {listing}.seller_kind IN ('quote', 'marketplace') THEN {listing}.seller END"
#: Whether a listing is of one of the shops that were asked for: sources or sellers, in small letters.
_IN_SHOPS = (
    "($shops IS NULL OR list_contains($shops, {listing}.source) OR list_contains($shops, lower({listing}.seller)))"
)


# Queries give the fields of these rows in their order, and those of the evidence last.


class Evidence(NamedTuple):
    """Where a price comes from.

    `source` is the shop or the cloud, `seen_at` the time at which the price was last confirmed, and `snapshot_sha256` the
    archived page. `mark` is what core.price_mark says of the source, or what price the program brings; None if nothing.
    `market` is the market of the offer, None for a cloud. `vendor` is who sells it, where that is not the source itself:
    the vendor of a quote, or a seller of a marketplace. `listing_id` is that of core.listing, None for a cloud.
    """

    source: str
    price_since: datetime
    seen_at: datetime
    url: str | None
    snapshot_sha256: str
    mark: str | None = None
    market: str | None = None
    vendor: str | None = None
    listing_id: str | None = None
    #: Whether it is a quote that does not say whether tax is in its price.
    omits_tax: bool = False
    #: How many pieces a quote offers at the price and the fewest that it sells, None for any number, and when it delivers.
    offered: int | None = None
    least: int | None = None
    delivery: str | None = None
    #: Whether it comes behind others: nobody has confirmed it for FRESH_DAYS, the program brings it for a card that no shop
    #: has where shops have others, or a maker asked it long ago.
    is_behind: bool = False

    @property
    def is_of_any_number(self) -> bool:
        """Whether as many can be had at the price as somebody wants, as far as is known."""
        return self.offered is None and (self.least or 1) == 1

    def too_few(self, pieces: int) -> Message | None:
        """The reason why so many are not to be had at the price, None if they are."""
        if pieces > (self.offered or pieces):
            return Message(TOO_FEW, shop=self.shop, offered=self.offered, pieces=pieces)
        if pieces < (self.least or pieces):
            return Message(TOO_MANY, shop=self.shop, least=self.least, pieces=pieces)
        return None

    @property
    def is_stale(self) -> bool:
        """Whether its source could not be read last time, or has not shown it for long."""
        return self.mark is not None and "stale" in self.mark

    @property
    def may_have_risen(self) -> bool:
        """Whether it is what somebody published of the street months ago."""
        return self.mark == "stale, street price"

    @property
    def shop(self) -> str:
        """Who sells it, as people are told."""
        return seller(self.source, self.url, self.vendor)


class Card(NamedTuple):
    """A card that can be bought. Memory and bandwidth are those of each of its `gpus_on_board` GPUs, power and price those
    of the whole card.

    `condition` is that of the listing: `new`, `open_box`, `refurbished` or `used`.
    """

    gpu_id: str
    gpu: str
    condition: str
    price_usd: Decimal
    memory_gb: float | None
    bandwidth_gb_s: float | None
    tdp_w: int | None
    gpus_on_board: int
    value_kept: Decimal | None
    history_years: float | None
    evidence: Evidence | None


class Node(NamedTuple):
    """A product on sale that contains cards, such as a server, a laptop or a lot, with `gpus` GPUs in all.

    Memory and bandwidth are those of one GPU. `price_usd` is the price of the whole product, and `tdp_w` the power of all
    its cards. `contents` is what the offer names besides the cards.
    """

    kind: str
    title: str
    gpu_id: str
    gpu: str
    gpus: int
    contents: str | None
    condition: str
    price_usd: Decimal
    memory_gb: float | None
    bandwidth_gb_s: float | None
    tdp_w: int | None
    evidence: Evidence

    @property
    def is_machine(self) -> bool:
        """Whether the product runs by itself. An eGPU box, a kit or a lot needs a host."""
        return self.kind in ("server", "workstation", "computer", "laptop")


class Instance(NamedTuple):
    """An instance that can be rented.

    `gpu_id` is None if the name may mean several cards. Memory and bandwidth are then the smallest among these cards.
    """

    offer_id: str
    gpu_id: str | None
    gpu: str
    gpu_count: int
    provider: str
    region: str
    instance: str
    pricing_model: str
    hour_usd: Decimal
    memory_gb: float
    bandwidth_gb_s: float
    evidence: Evidence


class Hosted(NamedTuple):
    """What a provider asks for a million tokens of a model that it hosts, and the day on which it was last seen so.

    `service` is `standard` or `batch`. `listed_by` is the source that says it, if that is a list of others.
    `prices` has kinds of tokens (`input`, `cache read`, `output`), each with the length of the prompt above which it holds.
    """

    provider: str
    hosted_name: str
    service: str
    listed_by: str | None
    prices: tuple[tuple[str, int, Decimal], ...]
    seen_on: date
    snapshot_sha256: str

    def usd(self, tokens: str, prompt: int) -> Decimal:
        """The price of a kind of tokens in a request of `prompt` tokens. What has no price of a cache is read anew."""
        found = [(above, usd) for kind, above, usd in self.prices if kind == tokens and above < max(prompt, 1)]
        return max(found)[1] if found else self.usd("input", prompt)


class Measurement(NamedTuple):
    """A measured speed of one card, with the bandwidth of the card and the publication."""

    gpu_id: str
    tokens_per_s: float
    bandwidth_gb_s: float
    url: str | None
    snapshot_sha256: str


class Pictures(NamedTuple):
    """The speed of one card in making pictures or clips, as measured, or between `low` and `high` a second as `basis` says.

    One picture takes `iterations` iterations.
    """

    gpu_id: str
    iterations_per_s: float
    iterations: int
    workload: str | None
    url: str | None
    snapshot_sha256: str | None
    basis: Basis = "measured"
    low: float | None = None
    high: float | None = None

    @property
    def per_s(self) -> float:
        """Pictures or clips a second."""
        return self.iterations_per_s / self.iterations


def known(con: duckdb.DuckDBPyConnection) -> list[Gpu]:
    """Every desktop, workstation and data-center card. Cards with less memory come first, then newer cards."""
    return _gpus(
        con,
        """memory_gb > 0 AND segment IN ('consumer', 'workstation', 'data_center')
           ORDER BY memory_gb, released_on DESC NULLS LAST, gpu_id""",
    )


def machines(con: duckdb.DuckDBPyConnection, sold: Iterable[str] = ()) -> list[Gpu]:
    """Every machine in which processor and graphics share the memory, without the machines in `sold`.

    Such a machine has one chip, and it is bought complete. Laptops, consoles and boards for other products do not count.
    """
    candidates = _gpus(con, "memory_gb >= 16 AND segment IN ('integrated', 'data_center') ORDER BY memory_gb, gpu_id")
    sold_ids = set(sold)
    return [gpu for gpu in candidates if memory_kind(gpu) == "shared" and gpu.gpu_id not in sold_ids]


def assumptions(con: duckdb.DuckDBPyConnection) -> Assumptions:
    """The assumptions with which the warehouse was built."""
    return from_table(con.execute("SELECT assumption, amount FROM core.assumption").fetchall())


#: The conditions of listings that each value of `buy --condition` means.
CONDITIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "new": ("new",),
        "used": ("open_box", "refurbished", "used"),
        "any": ("new", "open_box", "refurbished", "used"),
    }
)


class OfferFilter(NamedTuple):
    """Which offers are asked for: in one of `conditions`, or in any if it is a card in `owned`, in `market` (None: the home
    market), of one of `shops` (sources or sellers, in small letters; None for all).
    """

    conditions: tuple[str, ...] = CONDITIONS["new"]
    market: str | None = None
    owned: tuple[str, ...] = ()
    shops: tuple[str, ...] | None = None

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the queries."""
        return {
            "conditions": list(self.conditions), "market": self.market,
            "shops": None if self.shops is None else list(self.shops),
        }  # fmt: skip


NEW_AT_HOME = OfferFilter()


def shops(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Every source that sells something, and every vendor of a quote or seller of a marketplace."""
    rows = con.execute(
        f"""SELECT source FROM core.listing l WHERE ended_at IS NULL UNION
            SELECT {_VENDOR.format(listing="l")} AS vendor FROM core.listing l WHERE ended_at IS NULL AND vendor IS NOT NULL
            ORDER BY ALL"""
    ).fetchall()
    return [row[0] for row in rows]


def silent(con: duckdb.DuckDBPyConnection, now: datetime) -> list[tuple[str, datetime]]:
    """The sources of prices that gave nothing for longer than their limit before `now`, each with its last success."""
    return con.execute(
        """SELECT source, last_success_at FROM ops.source_state
           WHERE last_success_at + to_hours(freshness_hours) < $now::TIMESTAMPTZ AND source IN (
               SELECT source FROM core.listing WHERE ended_at IS NULL UNION
               SELECT source FROM core.cloud_offer_history WHERE valid_to IS NULL UNION
               SELECT source FROM core.token_price WHERE valid_to IS NULL)
           ORDER BY source""",
        {"now": now},
    ).fetchall()


def cards(con: duckdb.DuckDBPyConnection, asked: OfferFilter = NEW_AT_HOME) -> list[Card]:
    """The cheapest offer of every card that is on sale as `asked`, or the last that is known if its sources are too old.

    A card may have two: one that is new, and one that is not. The new ones are those of mart.gpu_price. Where a quote is for
    some number of pieces, what comes behind it stands behind it, up to what is sold in any number.
    """
    order = f"is_excluded, {_IS_STALE}, price_usd, valid_from, listing_id"
    # The window stands around the rest: a mark that is named beside its own expression is worked out anew each time.
    rows = con.execute(
        f"""SELECT * EXCLUDE (is_excluded), {_IS_BEHIND} FROM (
               SELECT p.gpu_id, g.gpu, p.condition, p.price_usd, g.memory_gb, g.memory_bandwidth_gb_s,
               round_even(g.tdp_w, 0)::INTEGER, coalesce(g.gpus_on_board, 1), r.observed_value_kept_per_year,
               r.history_years, p.source, p.valid_from,
               core.last_seen_at(p.confirmed_until, st.last_success_at, p.valid_from) AS seen_at, p.url, p.snapshot_sha256,
               {_MARK.format(price="p")} AS mark, p.market, {_VENDOR.format(listing="p")},
               p.listing_id, p.seller_kind = 'quote' AND p.tax_included IS NULL AS omits_tax, l.quantity, l.least_quantity,
               l.delivery, p.exclusion IS NOT NULL AS is_excluded
           FROM core.market_offer p
           JOIN core.gpu g ON g.gpu_id = p.gpu_id
           JOIN core.listing l ON l.listing_id = p.listing_id
           LEFT JOIN ops.source_state st ON st.source = p.source
           LEFT JOIN mart.resale r ON r.gpu_id = p.gpu_id
           WHERE {KNOWN}
               AND (list_contains($conditions, p.condition)
                   OR list_contains($owned, p.gpu_id) AND list_contains($any, p.condition))
               AND p.in_market = coalesce($market, (SELECT market FROM core.home_market))
               AND {_IN_SHOPS.format(listing="p")})
           QUALIFY coalesce(bool_and(quantity IS NOT NULL OR coalesce(least_quantity > 1, false)) OVER (
               PARTITION BY gpu_id, condition = 'new' ORDER BY {order}
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
           ), true)
           ORDER BY gpu_id, condition = 'new' DESC, {order}""",
        asked.parameters | {"owned": list(asked.owned), "any": list(CONDITIONS["any"])},
    ).fetchall()
    return [Card._make((*row[:10], Evidence(*row[10:]))) for row in rows]


def nodes(con: duckdb.DuckDBPyConnection, asked: OfferFilter) -> list[Node]:
    """The cheapest offer in mart.node_offer for each kind of product and each number of the same GPUs, on sale as `asked`.

    If the market covers several markets, prices are net of tax.
    """
    rows = con.execute(
        f"""WITH asked AS (SELECT coalesce($market, (SELECT market FROM core.home_market)) AS market)
           SELECT * EXCLUDE (is_excluded), {_IS_BEHIND} FROM (
               SELECT n.product_kind, n.title, n.gpu_id, n.gpu, n.gpus, n.contents, n.condition,
               CASE WHEN a.market IN ('eu', 'all') THEN n.net_usd ELSE n.price_usd END AS paid_usd, g.memory_gb,
               g.memory_bandwidth_gb_s, (g.tdp_w * n.gpus / coalesce(g.gpus_on_board, 1))::INTEGER, n.source,
               n.price_since, n.last_seen_at AS seen_at, n.url, n.snapshot_sha256, {_MARK.format(price="n")} AS mark,
               n.market, {_VENDOR.format(listing="l")}, n.listing_id,
               l.seller_kind = 'quote' AND l.tax_included IS NULL AS omits_tax, l.quantity, l.least_quantity, l.delivery,
               n.exclusion IS NOT NULL AS is_excluded
           FROM {view("mart.node_offer")} n CROSS JOIN asked a JOIN core.gpu g ON g.gpu_id = n.gpu_id
           JOIN core.listing l ON l.listing_id = n.listing_id
           WHERE coalesce(n.exclusion, 'source too old') = 'source too old' AND list_contains($conditions, n.condition)
               AND a.market IN ('all', n.market, n.market_region) AND paid_usd IS NOT NULL
               AND coalesce(l.least_quantity, 1) = 1
               AND {_IN_SHOPS.format(listing="l")})
           QUALIFY row_number() OVER (
               PARTITION BY product_kind, gpu_id, gpus, condition = 'new'
               ORDER BY is_excluded, {_IS_STALE}, paid_usd, price_since, listing_id
           ) = 1
           ORDER BY product_kind, gpu_id, gpus, condition""",
        asked.parameters,
    ).fetchall()
    return [Node._make((*row[:11], Evidence(*row[11:]))) for row in rows]


def chips(con: duckdb.DuckDBPyConnection, gpu_ids: Iterable[str]) -> dict[str, Gpu]:
    """The figures of core.gpu for these cards from which memory and speed follow, such as cores, clock and architecture."""
    return {gpu.gpu_id: gpu for gpu in _gpus(con, "list_contains(?, gpu_id)", sorted(set(gpu_ids)))}


#: The columns of core.gpu from which memory and speed follow, and the launch price.
RATES = (
    "gpu_id", "vendor", "name", "architecture", "chip", "segment", "form_factor", "gpus_on_board", "memory_gb",
    "memory_type", "memory_bandwidth_gb_s", "tensor_cores", "boost_clock_mhz", "fp32_tflops", "fp16_tflops",
    "tensor_fp16_tflops", "tensor_bf16_tflops", "tensor_int8_tops", "tensor_fp8_tflops", "tensor_fp4_tflops",
    "tensor_int4_tops", "tdp_w", "bus_interface", "msrp_usd",
)  # fmt: skip


def _gpus(con: duckdb.DuckDBPyConnection, where: str, *parameters: object) -> list[Gpu]:
    rows = con.execute(f"SELECT {', '.join(RATES)} FROM core.gpu WHERE {where}", list(parameters)).fetchall()
    return [Gpu(**{name: value for name, value in zip(RATES, row, strict=True) if value is not None}) for row in rows]


def instances(con: duckdb.DuckDBPyConnection) -> list[Instance]:
    """The cheapest instance for each GPU, number of GPUs and pricing model."""
    rows = con.execute(
        f"""SELECT r.offer_id, r.gpu_id, coalesce(g.gpu, r.gpu_name), r.gpu_count, r.provider, coalesce(r.region, ''),
               coalesce(r.instance, ''), r.pricing_model, r.instance_hour_usd, r.gpu_memory_gb, r.gpu_bandwidth_gb_s,
               r.source, r.price_since, core.last_seen_at(h.confirmed_until, st.last_success_at, r.price_since), NULL,
               r.snapshot_sha256, core.price_mark(r.source) AS mark
           FROM ({select_of("core.rental").replace(" AND f.is_usable", "")}) r
           LEFT JOIN core.cloud_offer_history h ON h.offer_id = r.offer_id AND h.valid_to IS NULL
           LEFT JOIN core.gpu g ON g.gpu_id = r.gpu_id
           LEFT JOIN ops.source_state st ON st.source = r.source
           QUALIFY row_number() OVER (
               PARTITION BY coalesce(r.gpu_id, r.gpu_name), r.gpu_memory_gb, r.gpu_bandwidth_gb_s, r.gpu_count,
                   r.pricing_model
               ORDER BY {_IS_STALE}, r.instance_hour_usd, r.offer_id
           ) = 1
           ORDER BY r.offer_id"""
    ).fetchall()
    return [Instance._make((*row[:11], Evidence(*row[11:]))) for row in rows]


def hosted(con: duckdb.DuckDBPyConnection) -> dict[str, list[Hosted]]:
    """What providers ask now, by the weights that they say they serve (see `catalogue.served_as`).

    What others list of a provider counts where its own list is not read.
    """
    if not con.execute(
        "SELECT 1 FROM duckdb_tables() WHERE table_name = 'token_price' AND schema_name = 'mart'"
    ).fetchone():
        return {}  # the file of an earlier program, until its next run
    rows = con.execute(
        """SELECT coalesce(t.repository, t.hosted_name), t.provider, t.hosted_name, t.service,
               CASE WHEN t.is_second_hand THEN t.source END AS listed_by,
               list(row(t.tokens, t.above_tokens, t.price_usd)) AS prices,
               any_value(st.last_success_at)::DATE, any_value(t.snapshot_sha256)
           FROM mart.token_price t
           JOIN core.source_freshness f ON f.source = t.source AND f.is_usable
           JOIN ops.source_state st ON st.source = t.source
           CROSS JOIN (SELECT max(as_of) AS as_of FROM ops.run) r
           WHERE coalesce(t.valid_from <= r.as_of, true) AND coalesce(t.valid_to > r.as_of, true)
               AND t.price_usd IS NOT NULL AND t.service IN ('standard', 'batch')
               AND t.utc_from IS NULL AND t.utc_days IS NULL
               AND (NOT t.is_second_hand OR t.provider NOT IN (SELECT source FROM mart.token_price))
           GROUP BY ALL HAVING count(DISTINCT t.tokens) FILTER (t.tokens IN ('input', 'output')) = 2
           ORDER BY t.provider, t.hosted_name, t.service, listed_by"""
    ).fetchall()
    by_weights: dict[str, list[Hosted]] = {}
    for name, *row, prices, day, sha256 in rows:
        by_weights.setdefault(served_as(name) or "", []).append(Hosted._make((*row, tuple(prices), day, sha256)))
    return by_weights


def measurements(con: duckdb.DuckDBPyConnection, model_id: str, precision: str) -> dict[str, Measurement]:
    """Measured tokens a second of the model at the precision, by card."""
    rows = con.execute(
        """SELECT r.gpu_id, r.score::DOUBLE, g.memory_bandwidth_gb_s, r.article_url, r.snapshot_sha256
           FROM core.workload w
           JOIN mart.ranking r ON r.workload_id = w.workload_id
           JOIN core.gpu g ON g.gpu_id = r.gpu_id
           WHERE w.output = 'token' AND w.model_id = ? AND w.precision = ? AND g.memory_bandwidth_gb_s > 0
           -- Of several, the last one stays: one's own, and of those the newest.
           ORDER BY (r.claim = 'own'), r.published_on NULLS FIRST, r.workload_id DESC""",
        [model_id, precision],
    ).fetchall()
    return {row[0]: Measurement(*row) for row in rows}


def learned(con: duckdb.DuckDBPyConnection) -> Learned:
    """How far programs differ from their expected speed, by the measurements of the warehouse.

    Nothing is learned if an earlier version of this program built the warehouse.
    """
    try:  # not after a look whether the table exists, which would take ten times as long
        rows = con.execute(
            """SELECT engine, for_several, level, name, effect, deviation, measurements FROM core.calibration
               WHERE level <> 'measurement'"""
        ).fetchall()
    except duckdb.CatalogException:
        return NOTHING_LEARNED
    return Learned.of(Effect(Kind(*row[:2]), *row[2:]) for row in rows)


def pictures(con: duckdb.DuckDBPyConnection, model_id: str, precision: str) -> dict[str, Pictures]:
    """Measured speeds of the image model, by card. A measurement of the user's own counts first, then the newest
    publication.

    A benchmark that states no precision ran at 16 bits or more, so it says nothing about packed weights.
    """
    rows = con.execute(
        """SELECT r.gpu_id, r.score::DOUBLE, coalesce(w.iterations_per_output, 1), w.workload, r.article_url,
               r.snapshot_sha256
           FROM core.workload w
           JOIN mart.ranking r ON r.workload_id = w.workload_id
           WHERE w.output = 'image' AND w.model_id = $model_id AND w.direction = 'more' AND w.gpu_count = 1 AND r.score > 0
               AND w.unit IN ('it/s', 'images/s', 'img/s')
               AND (w.precision = $precision OR w.precision IS NULL AND $precision IN ('fp32', 'fp16', 'bf16'))
           ORDER BY (r.claim = 'own'), r.published_on NULLS FIRST, r.workload_id DESC""",
        {"model_id": model_id, "precision": precision},
    ).fetchall()
    return {row[0]: Pictures(*row) for row in rows}


def rates(con: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Dollars for one unit of each currency that has a rate in the warehouse."""
    return dict(con.execute("SELECT currency, usd_rate FROM core.fx_usd WHERE usd_rate IS NOT NULL").fetchall())
