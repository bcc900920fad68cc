"""Decides the price of a page from its claims, or gives the reason why it has none.

Claims that agree are believed. A claim that differs is explained only if the page itself explains it: it marks one amount as
the old price, or it sells variants at several prices. Otherwise the price is left open and the issue names every claim: a
wrong price costs a buyer more than a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract.items import Issue, PriceKind
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import money, vat
from gpuledger.extract.price.no_price import is_stated_mark
from gpuledger.extract.product import postal, scripts
from gpuledger.extract.product.claims import Claim
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.price_kinds import VisiblePrice
from gpuledger.extract.product.price_text import MAX_TEXT
from gpuledger.extract.product.scan import name_of
from gpuledger.extract.product.visible import Visible, beside, by_amount


@dataclass(frozen=True, slots=True)
class Limits:
    """The scores from which a visible price counts, see `visible`.

    `strong`: if it contradicts the page's structured data. `alone`: if there is no such data. `sole`: if there is
    none, and the price is the only one and stands beside the title. `lead`: how much more it needs than another amount.
    """

    strong: float = 4.0
    alone: float = 3.6
    sole: float = 2.9
    lead: float = 0.6


LIMITS = Limits()
#: The most levels from the title up to the part that the title shares with a price that stands beside it.
_BESIDE_TITLE = 3
#: A price that is a smaller share of the stated one is a charge, a rate or a price by weight, whatever the page calls it.
_SHARE_OF_ANOTHER_THING = Decimal("0.2")


@dataclass(frozen=True, slots=True)
class Decision:
    """The price, or None with the issues that say why. `price_text` is the price as printed, if the page prints it."""

    price: Decimal | None = None
    currency: str | None = None
    kind: PriceKind | None = None
    list_price: Decimal | None = None
    price_text: str | None = None
    issues: tuple[Issue, ...] = ()


def decide(
    page: Context, claims: list[Claim], seen: Visible, script_claims: Callable[[], list[Claim]], limits: Limits = LIMITS
) -> Decision:
    """The page's price, from the claims of its structured data and the prices that are seen on the page.

    `script_claims` returns the claims of scripts. It takes long, so it is called only if the others do not settle the price.
    """
    if not claims:
        return _from_sight(page, seen, script_claims, limits)
    amounts = _common(claims)
    prices = list(by_amount(seen.prices))
    payable = [price for price in prices if price.kind not in ("list", "monthly")]
    if amounts is None:
        return _of_disagreeing(page, claims, seen, payable, limits)
    claim = claims[0]
    # If the number has several readings, the page's old price does not show which one is right.
    candidates = payable if len(amounts) > 1 else prices
    shown_price = next((price for price in candidates if price.amount in amounts and _same_money(price, claim)), None)
    main = payable[0] if payable else None
    if len(amounts) > 1 and shown_price is None:
        return _open(page, claims, seen, "ambiguous_price", "the price can be read in more than one way")
    amount = shown_price.amount if shown_price else next(iter(amounts))
    foreign = main is not None and not _same_money(main, claim)
    if (
        main is not None
        and foreign
        and (main.amount in amounts or (shown_price is None and main.score >= limits.strong))
    ):
        return _open(page, claims, seen, "currency_disagreement", "the page's sources disagree on the currency")
    if main is None or main is shown_price or main.amount in amounts or foreign:
        # Another amount in another currency is a conversion for visitors from abroad.
        return _settled(page, _Evidence(claims, prices), amount, shown_price)
    if main.amount in claim.others:
        # The page shows one of several variants.
        return _settled(
            page, _Evidence(claims, prices), main.amount, main, kind="now" if main.kind == "now" else "from"
        )
    is_range = claim.kind == "from" and bool(claim.others) and amount < main.amount <= max(claim.others)
    if is_range and shown_price is None and main.score >= limits.strong:
        # The same, but for machines the page names only the cheapest and the dearest variant.
        return _settled(
            page, _Evidence(claims, prices), main.amount, main, kind="now" if main.kind == "now" else "from"
        )
    is_old = (shown_price is not None and shown_price.kind == "list") or main.money.list_amount in amounts
    if is_old and main.amount < amount:
        return _settled(page, _Evidence(claims, prices), main.amount, main)
    if main.score >= limits.alone and (amount in seen.net or _is_before_tax(page, amount, main.amount)):
        return _settled(page, _Evidence([], prices), main.amount, main)
    if shown_price is not None and shown_price.kind != "list":
        if shown_price.score >= main.score - limits.lead and not main.current:
            return _settled(page, _Evidence(claims, prices), amount, shown_price)
        if is_range and shown_price.kind == "from":
            # The main price is one seller's. The page also names the price of the cheapest seller.
            return _settled(page, _Evidence(claims, prices), amount, shown_price)
        if main.amount < amount * _SHARE_OF_ANOTHER_THING or (main.amount > amount and not main.current):
            # The seen price is a charge, a price by weight, or an old price without a word. The stated one is shown too.
            return _settled(page, _Evidence(claims, prices), amount, shown_price)
    if main.score >= limits.strong or shown_price is not None:
        votes = [
            vote
            for vote in script_claims()
            if vote.may_be(main.amount) != (shown_price is not None and vote.may_be(amount))
        ]
        if votes and all(vote.may_be(main.amount) for vote in votes) and main.score >= limits.alone:
            return _settled(page, _Evidence([], prices), main.amount, main)
        if (
            votes
            and shown_price is not None
            and shown_price.kind != "list"
            and all(vote.may_be(amount) for vote in votes)
        ):
            return _settled(page, _Evidence(claims, prices), amount, shown_price)
        return _open(page, claims, seen, "price_disagreement", "the page's sources disagree on the price")
    return _settled(page, _Evidence(claims, prices), amount, shown_price)


def _is_before_tax(page: Context, net: Decimal, gross: Decimal, rounding: Decimal = Decimal("0.01")) -> bool:
    """Whether `gross` is `net` plus a value-added tax of the page's country, up to the rounding."""
    return any(abs(net * (100 + rate) / 100 - gross) <= rounding for rate in vat.rates(page.country) if gross > net)


def _common(claims: list[Claim]) -> set[Decimal] | None:
    """The amounts that every claim can be read as; None if there are none, or if the currencies differ."""
    if len({claim.currency for claim in claims if claim.currency}) > 1:
        return None
    shared = set(claims[0].readings)
    for claim in claims[1:]:
        both = shared & set(claim.readings)
        shared = (
            both or {amount for amount in shared if amount in claim.others} or (set(claim.readings) & claims[0].others)
        )
    return shared or None


def _same_money(price: VisiblePrice, claim: Claim) -> bool:
    return price.money.currency is None or claim.currency is None or price.money.currency == claim.currency


def _of_disagreeing(
    page: Context, claims: list[Claim], seen: Visible, payable: list[VisiblePrice], limits: Limits
) -> Decision:
    """The decision if structured sources differ: settled only if the page shows just one of their amounts as payable.

    The other amounts are marked as old on the page, are the price before tax, or do not stand on it at all (the price for
    members, of yesterday, of another country).
    """
    old = {price.amount for price in seen.prices if price.kind == "list"} | {claim.list_price for claim in claims}
    if payable and len({claim.currency for claim in claims if claim.currency}) <= 1:
        main = payable[0]
        others = [claim for claim in claims if not claim.may_be(main.amount)]
        shown_amounts = {price.amount for price in payable}
        is_strong = main.score >= limits.strong

        def is_explained(claim: Claim) -> bool:
            values = set(claim.readings)
            return bool(values & old or values & seen.net) or (is_strong and not values & shown_amounts)

        if len(others) < len(claims) and all(map(is_explained, others)):
            agreeing = [claim for claim in claims if claim.may_be(main.amount)]
            return _settled(page, _Evidence(agreeing, seen.prices), main.amount, main)
    return _open(page, claims, seen, "price_disagreement", "the page's sources disagree on the price")


def _from_sight(page: Context, seen: Visible, script_claims: Callable[[], list[Claim]], limits: Limits) -> Decision:
    """The price of a page that states no price to machines."""
    payable = [price for price in by_amount(seen.prices) if price.kind not in ("list", "monthly")]
    if not payable:
        # A template calls the price old, but the same price before tax stands beside it.
        by_tax = [
            one for one in by_amount(seen.prices) if any(_is_before_tax(page, net, one.amount) for net in seen.net)
        ]
        if len(by_tax) == 1:
            return _settled(page, _Evidence([], by_tax), by_tax[0].amount, by_tax[0])
        return _from_scripts(page, seen, script_claims())
    main = payable[0]
    if main.amount in seen.net and (gross := _with_tax_aside(page, main, seen)) is not None:
        return _settled(page, _Evidence([], seen.prices), gross.amount, gross)
    high = main.money.high_amount or main.amount
    # A price inside the main price's range does not contradict it.
    second = max((price.score for price in payable[1:] if not main.amount <= price.amount <= high), default=-9.0)
    if (cheapest := _cheapest_option(payable)) is not None:
        # That one of the rows lies next to the button says nothing about its price.
        return _settled(page, _Evidence([], seen.prices), cheapest.amount, cheapest, kind="from")
    why = ""
    is_sole = len(payable) == 1 and main.money.signed and main.distance <= _BESIDE_TITLE and main.score >= limits.sole
    if (main.score < limits.alone and not is_sole) or main.score - second < limits.lead:
        why = "several prices on the page, none clearly that of its goods"
    elif not main.money.signed and not (main.named and (main.current or main.marked or main.labelled)):
        why = "a number without a currency, in a part that is not named as the price"
    elif not main.by_system and _is_beside_another(page, main, seen):
        why = "another price stands beside it, and no word or name tells them apart"
    elif not main.by_system and _is_before_saving(main, payable[1:], seen):
        why = "a lower price is this one and a saving that the page names"
    if why and (proven := _by_share(payable)) is not None:
        now, old = proven
        return _settled(page, _Evidence([], [replace(old, kind="list"), now]), now.amount, now)
    if why and (taxed := _with_tax(page, payable)) is not None:
        return _settled(page, _Evidence([], seen.prices), taxed.amount, taxed)
    if not why:
        return _settled(page, _Evidence([], seen.prices), main.amount, main)
    # A price counts if it agrees with all that scripts say about these goods, and no other price does.
    votes = script_claims()
    agreeing = [price for price in payable if votes and all(one.may_be(price.amount) for one in votes)]
    if len(agreeing) == 1 and agreeing[0].score >= main.score - 2 * limits.lead:
        return _settled(page, _Evidence([], seen.prices), agreeing[0].amount, agreeing[0])
    return _open(page, [], seen, "ambiguous_price", why)


def _from_scripts(page: Context, seen: Visible, script_claims: list[Claim]) -> Decision:
    """The price of a page that shows none, if all that its scripts say of it is one amount; otherwise the reason why not."""
    script_claims = [one for one in script_claims if one.source != scripts.DESCRIPTION]
    values = set.intersection(*(set(one.readings) for one in script_claims)) if script_claims else set[Decimal]()
    unclear = [one for one in seen.unclear if values & set(one.readings)]
    if unclear:
        # A text has two readings, and scripts name one of them.
        values &= set(unclear[0].readings)
    if len(values) == 1 and (unclear or not (seen.unclear or seen.prices)):
        claim = replace(
            script_claims[0],
            readings=tuple(values),
            currency=next((one.currency for one in script_claims if one.currency), None),
        )
        return _settled(page, _Evidence([claim], seen.prices), values.pop(), None)
    if seen.unclear:
        texts = "; ".join(dict.fromkeys(one.text for one in seen.unclear[:3]))
        return Decision(issues=(_issue(page, "ambiguous_price", f"no price can be read from {texts!r}", texts),))
    if script_claims and values:
        return _open(
            page,
            script_claims,
            seen,
            "ambiguous_price",
            "only a script states a price, which can be read in more than one way",
        )
    return Decision()


def _is_beside_another(page: Context, main: VisiblePrice, seen: Visible) -> bool:
    """Whether an amount stands right beside the price that nothing marks as an old price, a rate or a saving."""
    amounts = beside(main, seen.part)
    if not amounts:
        return False
    explained = [
        part
        for price in seen.prices
        if price.kind in ("list", "monthly")
        for part in (price.money.text, price.money.number)
    ]
    explained += [visible_text(element) for element in seen.set_aside]
    # The whole part of the same price, if its cents are set small: `$229.99` for the ear is `$229` `99` for the eye.
    own = {*money.tokens(main.money.text), format(main.amount, ",f").partition(".")[0], str(int(main.amount))}
    if "net" in amounts.values():
        # `15 990,- bez DPH 13 215,-`: whichever amount the words describe, the lower one is this price without tax.
        rounding = Decimal(1) if main.amount >= _IN_WHOLE else Decimal("0.01")
        explained += [token for token in amounts if _is_before_tax(page, vat.value_of(token), main.amount, rounding)]
    return any(
        label in ("now", "bundle", "from")
        and token not in own
        and any(digit in token for digit in "123456789")
        and not any(token in explained_text for explained_text in explained)
        for token, label in amounts.items()
    )


#: From this amount on, a shop may round a price to whole crowns or yen before it takes off the tax.
_IN_WHOLE = 1_000


_SHARE = re.compile(r"(?<![\d.,])(\d{1,2})\s?%")
#: Words for a price that not everybody pays.
_ON_CONDITION = re.compile(
    r"coupon|code|voucher|member|club|prime|plus\b|app\b|student|card|karte?n?\b|kart[ay]|cart[ãa]o|tarjeta|carte\b|pix|vista"
    r"|transfer|efectivo|cash|vorkasse|paypal|newsletter|abo\b|쿠폰|카드|와우|회원|멤버|현금|무통장|会員|クーポン|ポイント|カード|券|会员"
    r"|pcs|pieces|stück|ab \d|from \d|vat|tax|mwst|ust\b|moms|btw|iva|tva",
    re.IGNORECASE,
)


def _by_share(payable: list[VisiblePrice]) -> tuple[VisiblePrice, VisiblePrice] | None:
    """The asked price and the old one, if a percentage beside the only two prices is the discount from one to the other.

    `₹29,799 ₹52,000 42% off`. None if a word beside them says that not everybody pays the lower one, or if the discount is
    below one per cent.
    """
    if len(payable) != 2 or any(price.kind != "now" for price in payable):
        return None
    low, high = sorted(payable, key=lambda price: price.amount)
    above = set(high.element.iterancestors())
    part = next((up for up in low.element.iterancestors() if up in above), None)
    text = visible_text(part, _PART_TEXT) if part is not None else ""
    if len(text) > _LONGEST_PAIR or len(money.tokens(text)) != 2 or _ON_CONDITION.search(text):
        return None
    off = 100 * (high.amount - low.amount) / high.amount
    return (low, high) if any(abs(int(share) - off) < 1 for share in _SHARE.findall(text)) and off >= 1 else None


_OF_OPTIONS = re.compile(
    r"ticket|ingress|entrada|billet|karte|formati?(?![a-z])|sizes|variant|options|editions|packs?(?![a-z])"
)


def _cheapest_option(payable: list[VisiblePrice]) -> VisiblePrice | None:
    """The lowest price if all prices stand in similar rows, each of which can be ordered: kinds of ticket, sizes of a bag.

    None if a row leads to other goods, or if the rows neither order nor are named as kinds of one thing.
    """
    lines = [[price.element, *price.element.iterancestors()] for price in payable]
    around = next((up for up in lines[0] if all(up in line[1:] for line in lines)), None)
    if around is None or len(payable) < 2:
        return None
    rows = [line[line.index(around) - 1] for line in lines]
    if len({(row.tag, row.get("class")) for row in rows}) > 1 or len(set(rows)) < len(rows):
        return None
    # A box that is ticked adds its amount to the price.
    fields = [
        [field for field in row.iter("input", "select", "button") if field.get("type") != "hidden"] for row in rows
    ]
    if any(field.get("type") == "checkbox" for row_fields in fields for field in row_fields):
        return None
    orders = all(fields)
    if not orders and not any(_OF_OPTIONS.search(name_of(part).lower()) for part in (around, rows[0])):
        return None
    if any(link.get("href", "#")[:1] != "#" for row in rows for link in row.iter("a")):
        return None
    low, high = min(payable, key=lambda price: price.amount), max(price.amount for price in payable)
    return low if high <= _WIDEST_CHOICE * low.amount else None


#: A kind that costs more than so many times another kind is a different thing.
_WIDEST_CHOICE = 10


def _with_tax(page: Context, payable: list[VisiblePrice]) -> VisiblePrice | None:
    """The price whose words say that it is with tax, if the only other price is the same without tax.

    `12,800円（税込14,080円）`
    """
    if len(payable) != 2 or any(price.kind != "now" for price in payable):
        return None
    low, high = sorted(payable, key=lambda price: price.amount)
    whole = currencies.minor_digits(high.money.currency) == 0 if high.money.currency else False
    if not _is_before_tax(page, low.amount, high.amount, Decimal(1) if whole else Decimal("0.01")):
        return None
    return high if vat.included(visible_text(high.element, MAX_TEXT), high.amount) else None


def _with_tax_aside(page: Context, net: VisiblePrice, seen: Visible) -> VisiblePrice | None:
    """The price with tax that belongs to `net`, from among the amounts that did not count as prices of the goods.

    `39,00 zł netto` and, in a part named after delivery, `47,97 zł brutto`; `16,80 € netto` and `19,99 €` in a part that is
    named after a unit. None if there is no such price, or several.
    """
    candidates = {
        amount: (element, text, token)
        for element in seen.set_aside
        if len(text := visible_text(element, MAX_TEXT + 1)) <= MAX_TEXT
        for token in money.tokens(text)
        if _is_before_tax(page, net.amount, amount := vat.value_of(token))
        and (vat.included(text, amount) or not any(map(str.isalpha, text)))
    }
    if len(candidates) != 1:
        return None
    ((amount, (element, text, token)),) = candidates.items()
    return replace(net, element=element, money=replace(net.money, amount=amount, text=text, number=token), net=False)


#: A longer text holds more than a price, an old one and the percentage between them.
_LONGEST_PAIR = 120


def _is_before_saving(main: VisiblePrice, others: list[VisiblePrice], seen: Visible) -> bool:
    """Whether another price is this one minus an amount that the page names: `$319.99, less $40.00, yours $279.99`."""
    savings = {main.amount - lower_price.amount for lower_price in others if lower_price.amount < main.amount}
    if not savings:
        return False
    amounts_named = money.tokens(visible_text(seen.part, _PART_TEXT))
    return any(money.to_decimal(token) in savings for token in amounts_named)


#: How much text of the goods' part of the page is searched for a saving.
_PART_TEXT = 1_500


class _Evidence(NamedTuple):
    """What a page says about its price: to programs, and to people."""

    claims: Sequence[Claim]
    prices: Sequence[VisiblePrice]


def _settled(
    page: Context, evidence: _Evidence, amount: Decimal, shown_price: VisiblePrice | None, kind: PriceKind | None = None
) -> Decision:
    """The decision for an amount, with its currency, its kind and the old price beside it."""
    claims, prices = evidence
    currency = next((claim.currency for claim in claims if claim.currency), None)
    if currency is None and shown_price is not None:
        currency = shown_price.money.currency
    text = shown_price.money.text if shown_price else next((claim.text for claim in claims), None)
    currency = currency or page_currency(page, shown_price.money.text if shown_price else None)
    if currency is None:
        issue = _issue(page, "no_currency", f"the price {text!r} has no currency, and the page names none", text)
        return Decision(price_text=text, issues=(issue,))
    if is_stated_mark(amount):
        issue = _issue(page, "no_price", f"{text!r} stands where the goods have no price", text, severity="info")
        return Decision(price_text=text, issues=(issue,))
    if kind is None:
        kinds = [claim.kind for claim in claims if claim.may_be(amount)] + ([shown_price.kind] if shown_price else [])
        # A monthly rate is never the price, even if another source calls it one.
        kind = "monthly" if "monthly" in kinds else next((one for one in kinds if one not in ("now", "list")), "now")
    olds = [claim.list_price for claim in claims if claim.list_price]
    olds += [price.amount for price in prices if price.kind == "list" and _is_close(price, shown_price)]
    olds += [shown_price.money.list_amount] if shown_price and shown_price.money.list_amount else []
    old = min((one for one in olds if one > amount), default=None)
    return Decision(amount, currency, kind, old, text)


def _is_close(price: VisiblePrice, shown_price: VisiblePrice | None) -> bool:
    """Whether an old price stands beside the asked one, and not on the tile of other goods."""
    if shown_price is None:
        return False
    return any(up in set(shown_price.element.iterancestors()) for up in [*price.element.iterancestors()][:4])


#: `"currencyCode": "USD"`, `data-currency="USD"`, `itemprop="priceCurrency" content="USD"`, `currency = {"active":"USD"`.
_IN_SOURCE = re.compile(
    rb"currency(?:[-_]?(?:code|iso))?(?:[\"']|&quot;)?\s*(?:[:=]|content=)\s*(?:\{\s*[\"']active[\"']\s*:\s*)?"
    rb"(?:[\"']|&quot;)([A-Z]{3})(?:[\"']|&quot;)",
    re.IGNORECASE,
)


#: Shopify's own variable says which one of several currencies is chosen.
_ACTIVE = re.compile(rb"Shopify\.currency\s*=\s*\{\s*[\"']active[\"']\s*:\s*[\"']([A-Z]{3})[\"']")


def page_currency(page: Context, text: str | None) -> str | None:
    """The currency of a price that is printed as `text` without a currency, or with a sign of many countries.

    It is the first of these: the currency that the page's `meta` names; the one that the page says is chosen of several; the
    only one that the page's source names, if the sign can mean it; the only money of the page's country. If no country is
    known: the only one in the source that the sign can mean; else the dollar that the page names for its prices, or the
    dollar of the addresses at its foot.
    """
    in_source = {code.decode() for code in _IN_SOURCE.findall(page.content)}
    if code := next((code for code in _named_currencies(page, in_source) if not _contradicts(text, code)), None):
        return code
    if page.country is None and text and not text.strip().replace(".", "").replace(",", "").isdigit():
        possible = {code for code in in_source if currencies.is_code(code) and not _contradicts(text, code)}
        if code := _only(possible):
            return code
    if page.country is None and text and _RAND.match(text.strip()):
        return "ZAR"
    country = currencies.of_country(page.country)
    if page.country is None and not in_source and "$" in (text or ""):
        country = postal.dollar(page.content)
    return None if country is None or _contradicts(text, country) else country


#: No other money is printed as an `R` alone before the amount.
_RAND = re.compile(r"R\s?\d")


def stated_currency(page: Context) -> str | None:
    """The currency that the page names for its prices, if neither its address nor its markup names a country.

    It decides how `$5.000` is read.
    """
    if page.country is not None:
        return None
    return next(_named_currencies(page, {code.decode() for code in _IN_SOURCE.findall(page.content)}), None)


def _named_currencies(page: Context, in_source: set[str]) -> Iterator[str]:
    """The currency that the page's `meta` names, the chosen one of several, and the only one that the source names."""
    meta_currency = page.first_meta("product:price:currency", "og:price:currency", "pricecurrency", "currency")
    active = _only({code.decode() for code in _ACTIVE.findall(page.content)})
    codes = (meta_currency.strip().upper() if meta_currency else None, active, _only(_selected(page)), _only(in_source))
    yield from (code for code in codes if code and currencies.is_code(code))


def _selected(page: Context) -> set[str]:
    """The currencies that are selected in the page's lists of currencies."""
    lists = (
        select for select in page.tree.iter("select") if "curr" in f"{select.get('name')} {select.get('id')}".lower()
    )
    return {
        (option.get("value") or "").upper() for select in lists for option in select.iterfind(".//option[@selected]")
    }


def _only(codes: set[str]) -> str | None:
    return next(iter(codes)) if len(codes) == 1 else None


def _contradicts(text: str | None, code: str) -> bool:
    """Whether the printed price has a sign that does not belong to the currency."""
    reading = money.read_price(text or "", currency=code)
    return isinstance(reading, money.Ambiguous) or (isinstance(reading, money.Money) and reading.currency != code)


def _open(page: Context, claims: list[Claim], seen: Visible, code: str, why: str) -> Decision:
    """No price, and an issue with what each source says."""
    statements = [claim.as_text() for claim in claims]
    statements += [f"seen on the page: {price.money.text!r}" for price in list(by_amount(seen.prices))[:3]]
    text = "; ".join(statements)
    return Decision(issues=(_issue(page, code, f"{why}: {text}", text),))


def _issue(page: Context, code: str, message: str, text: str | None, severity: str = "warning") -> Issue:
    return Issue(
        code=code, message=message, severity="info" if severity == "info" else "warning", text=text, url=page.url
    )
