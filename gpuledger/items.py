"""The results of a source: typed items, issues about its pages, and links to follow.

An item is checked when it is created. So a row in the warehouse cannot have a negative price, an amount without a currency
or a number that is not finite. The source's own words (`title`, `price_text`, `gpu_name`, `table`, `column`) are kept next
to the values that were read from them, so a reader can always compare.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import msgspec

PriceKind = Literal["now", "list", "from", "monthly", "bundle"]
Availability = Literal["in_stock", "out_of_stock", "preorder", "quoted", "unknown"]
Condition = Literal["new", "refurbished", "used", "open_box", "unknown"]
#: How goods reach the buyer. A grey import bypasses the maker's own distributor and has no warranty from it.
Channel = Literal["official", "grey_import", "marketplace", "refurbished"]
SellerKind = Literal["first_party", "marketplace", "quote", "unknown"]
PricingModel = Literal["on_demand", "spot", "reserved_1y", "reserved_3y"]
Severity = Literal["info", "warning", "error"]
#: Who gives a figure: ourselves, a publication without an interest in it, or the maker or seller.
Claim = Literal["own", "published", "vendor"]

_CURRENCY = re.compile(r"[A-Z]{3}")


def _check_money(amount: Decimal | None, currency: str | None, what: str) -> None:
    """Raise ValueError unless `amount` is absent, or is finite and positive and has an ISO 4217 code."""
    if amount is None:
        return
    if not amount.is_finite() or amount <= 0:
        raise ValueError(
            f"{what} must be finite and above zero, not {amount}; a price of 0 means 'no price': leave it out"
        )
    if currency is None or not _CURRENCY.fullmatch(currency):
        raise ValueError(f"{what} {amount} needs an ISO 4217 currency, not {currency!r}")


def _check_text(text: str, what: str) -> None:
    if not text.strip():
        raise ValueError(f"{what} is empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One product offered by a shop at one moment.

    If `price_kind` is `now`, `price` is what a buyer pays for one piece. `list_price` is a was-price printed beside it.
    `key` identifies the listing within its source for as long as the shop keeps it (a product code, or else the address).
    `specs` is other text about the same goods (specification line, model number) that may decide which GPU they are.
    `seller` is as printed. `seller_kind` says whether the shop itself sells the goods; `quote` means that a vendor quoted a
    price to us. `market` is the country or region of the sale in lower case (`us`, `eu`), and `channel` the way to the
    buyer. `tax_included` says whether the price includes VAT or sales tax, or is None if the page does not say it.
    `shipping` is the cost that the page adds for shipping, in `currency`. A quote offers `quantity` pieces at the price, and
    at least `least_quantity`, and delivers as `delivery` says in its own words.
    """

    KIND: ClassVar[str] = "offer"

    title: str
    url: str
    key: str
    price: Decimal | None = None
    currency: str | None = None
    price_kind: PriceKind | None = None
    price_text: str | None = None
    list_price: Decimal | None = None
    availability: Availability = "unknown"
    condition: Condition = "unknown"
    seller: str | None = None
    seller_kind: SellerKind = "unknown"
    sku: str | None = None
    mpn: str | None = None
    gtin: str | None = None
    brand: str | None = None
    specs: str | None = None
    shop_count: int | None = None
    quantity: int | None = None
    least_quantity: int | None = None
    valid_until: date | None = None
    delivery: str | None = None
    market: str | None = None
    channel: Channel | None = None
    tax_included: bool | None = None
    shipping: Decimal | None = None

    def __post_init__(self) -> None:
        _check_text(self.title, "an offer's title")
        _check_text(self.key, "an offer's key")
        _check_money(self.price, self.currency, "an offer's price")
        _check_money(self.list_price, self.currency, "an offer's list price")
        if self.shipping is not None and not (self.shipping.is_finite() and self.shipping >= 0):
            raise ValueError(f"shipping must be finite and not negative, not {self.shipping}")
        if (self.price is None) != (self.price_kind is None):
            raise ValueError(f"price {self.price} and price_kind {self.price_kind!r} must come together")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One published benchmark figure of one GPU.

    `table` is the caption and `column` the header, both as printed. `workload_id` is our workload, if the meaning is known.
    `score` has the unit `unit` (fps, it/s, tokens/s). `relative_percent` is the page's own relative figure. `source_image`
    names the chart from which the figure was read. `gpu_count` is the number of cards that reached the figure together.
    `claim` says what kind of party gives the figure, and `measured_by` names it. `software` (with its version),
    `precision`, `batch_size`, `context_tokens` (of which `prompt_tokens` are read) and `concurrent_users` say what ran,
    as far as the source says it.
    """

    KIND: ClassVar[str] = "score"

    gpu_name: str
    table: str
    column: str
    workload_id: str | None = None
    score: Decimal | None = None
    unit: str | None = None
    relative_percent: Decimal | None = None
    published_on: date | None = None
    article_url: str | None = None
    source_image: str | None = None
    specs: str | None = None
    gpu_count: int = 1
    claim: Claim = "published"
    software: str | None = None
    precision: str | None = None
    batch_size: int | None = None
    context_tokens: int | None = None
    prompt_tokens: int | None = None
    concurrent_users: int | None = None
    measured_by: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.gpu_name, "a score's gpu_name")
        if self.gpu_count < 1:
            raise ValueError(f"a score's gpu_count must be at least 1, not {self.gpu_count}")
        for what, value in (("score", self.score), ("relative_percent", self.relative_percent)):
            if value is not None and (not value.is_finite() or value < 0):
                raise ValueError(f"{what} must be finite and not negative, not {value}")
        if self.score is None and self.relative_percent is None:
            raise ValueError("a score needs a score or a relative_percent")
        if self.score is not None and not self.unit:
            raise ValueError(f"score {self.score} needs a unit")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPrice:
    """A price that a publication states for a GPU model (not an offer): a used-price index, a price list, an MSRP column.

    `period` is the month or day of the price (`2023-10`, `2023-10-05`). `column` is the header as printed.
    """

    KIND: ClassVar[str] = "index_price"

    gpu_name: str
    price: Decimal
    currency: str
    condition: Condition
    table: str
    column: str
    period: str | None = None
    quantity_sold: int | None = None
    price_text: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.gpu_name, "an index price's gpu_name")
        _check_money(self.price, self.currency, "an index price")
        if self.quantity_sold is not None and self.quantity_sold < 0:
            raise ValueError(f"quantity_sold must not be negative, not {self.quantity_sold}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudOffer:
    """One rentable instance with GPUs. `price` is for one hour of the whole instance. `gpu_memory_gb` is of one GPU."""

    KIND: ClassVar[str] = "cloud_offer"

    provider: str
    gpu_name: str
    gpu_count: int
    pricing_model: PricingModel
    region: str | None = None
    instance: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    price_text: str | None = None
    gpu_memory_gb: Decimal | None = None
    cpu_count: int | None = None
    memory_gb: Decimal | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.provider, "a cloud offer's provider")
        _check_text(self.gpu_name, "a cloud offer's gpu_name")
        _check_money(self.price, self.currency, "an hourly price")
        if self.gpu_count < 1:
            raise ValueError(f"gpu_count must be at least 1, not {self.gpu_count}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """What a provider asks for a million tokens of a model that it hosts: read, read again from its cache, and written.

    `model` is its name for the model. `repository` says whose weights are served, as the provider states it. `rates` are its
    other prices (see readers/token_rates.py), None if there are none.
    """

    KIND: ClassVar[str] = "token_price"

    provider: str
    model: str
    repository: str | None = None
    input_price: Decimal
    cached_input_price: Decimal | None = None
    output_price: Decimal
    currency: str
    price_text: str | None = None
    rates: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.provider, "a token price's provider")
        _check_text(self.model, "a token price's model")
        _check_money(self.input_price, self.currency, "the price of read tokens")
        _check_money(self.cached_input_price, self.currency, "the price of cached tokens")
        _check_money(self.output_price, self.currency, "the price of written tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class FxRate:
    """The reference exchange rate of one day: one unit of `base` is worth `rate` units of `currency`."""

    KIND: ClassVar[str] = "fx_rate"

    day: date
    currency: str
    rate: Decimal
    base: str = "EUR"

    def __post_init__(self) -> None:
        _check_money(self.rate, self.currency, "an exchange rate")
        _check_money(Decimal(1), self.base, "a base currency")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenModel:
    """What a model hub says of a model: its `config.json` as text, or the bytes of its weights."""

    KIND: ClassVar[str] = "open_model"

    repository: str
    config: str | None = None
    weights_bytes: Decimal | None = None

    def __post_init__(self) -> None:
        _check_text(self.repository, "a model's repository")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart image in an article. Only a person can transcribe its figures, so its address is watched.

    `caption` is the alternative text or caption as printed. `position` is the chart's place in the article, from 0.
    """

    KIND: ClassVar[str] = "chart"

    article_url: str
    image_url: str
    caption: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """Something on a page that a person may have to look at. `where` is the place on the page, `text` the text there."""

    KIND: ClassVar[str] = "issue"

    code: str
    message: str
    severity: Severity = "warning"
    where: str | None = None
    text: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A page of the same source to fetch and parse next. `role` is its kind (`next_page`, `product`, `image`)."""

    KIND: ClassVar[str] = "link"

    url: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingTotal:
    """The number of goods that a listing says it has in all, as in `1-36 of 1,204 results`. `text` is as printed."""

    KIND: ClassVar[str] = "listing_total"

    count: int
    text: str


Item: TypeAlias = Offer | Score | IndexPrice | CloudOffer | TokenPrice | FxRate | OpenModel | Chart
#: The results of a page that are not items and never become rows.
Aside: TypeAlias = Issue | Link | ListingTotal
Parsed: TypeAlias = Item | Aside


def admitted(item: Parsed) -> Parsed:
    """The item in a form that is safe to process, or an issue in its place.

    Each half character is replaced by U+FFFD, because JSON may contain half characters and no file or table accepts them. An
    issue replaces the item if a number or a text is too large to be true.

    This check is cheap for ordinary items. It runs before any code that writes a number out: `1e999999999` has a billion
    digits.
    """
    torn: dict[str, str] = {}
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        if isinstance(value, str):
            if len(value) > MAX_TEXT:
                return _left_out(item, f"{field.name} has {len(value)} characters, the bound is {MAX_TEXT}")
            if not value.isascii() and _HALF.search(value):
                torn[field.name] = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        elif isinstance(value, Decimal):
            if not value.is_finite() or (value and not -MAX_DIGITS <= value.adjusted() < MAX_DIGITS):
                return _left_out(item, f"{field.name} has more than {MAX_DIGITS} digits before or behind the point")
        elif isinstance(value, int) and abs(value) > MAX_COUNT:
            return _left_out(item, f"{field.name} is larger than {MAX_COUNT}")
    whole: dict[str, Any] = {**torn}
    return dataclasses.replace(item, **whole) if whole else item


#: Most characters of one field. A list of specifications has a few thousand.
MAX_TEXT = 20_000
#: Most digits before the decimal point, and most zeros after it. The tables store fourteen, and no price has so many.
MAX_DIGITS = 14
#: The largest number of pieces, shops or cards: the largest INTEGER of the tables.
MAX_COUNT = 2**31 - 1
_HALF = re.compile("[\ud800-\udfff]")


def _left_out(item: Parsed, reason: str) -> Issue:
    label = next(
        (str(getattr(item, name)) for name in ("title", "gpu_name", "model", "message") if hasattr(item, name)), None
    )
    text = label[:200].encode("utf-8", "replace").decode() if label else None
    return Issue(code="out_of_bounds", message=f"a row was left out: {reason}", text=text)


def to_json(item: Parsed) -> dict[str, Any]:
    """One item as plain JSON values: decimals as strings, dates as ISO 8601 text, absent values as null, `kind` first."""
    row: dict[str, Any] = {"kind": item.KIND}
    for field in dataclasses.fields(item):
        row[field.name] = _plain(getattr(item, field.name))
    return row


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        # Not str(), which may print 1E+3: every reader of the JSON would have to understand that.
        return format(value, "f")
    return value.isoformat() if isinstance(value, date) else value


def from_json(row: Mapping[str, Any]) -> Parsed:
    """The inverse of `to_json`. Raises ValueError for an unknown kind, and for a missing field or one of another type."""
    kind = _KINDS.get(row.get("kind", ""))
    if kind is None:
        raise ValueError(f"no item is of the kind {row.get('kind')!r}")
    return msgspec.convert(row, kind)


_KINDS: dict[str, type[Parsed]] = {kind.KIND: kind for kind in (*get_args(Item), *get_args(Aside))}
