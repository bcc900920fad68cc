"""From the claims of a page to its price, or to the reason why there is none.

Claims that agree are believed. A claim that differs is explained only where the page itself explains it: by marking one
amount as the old price, or by selling variants at several prices. Otherwise the price is left open and every claim is
named: a wrong price costs a buyer more than a missing one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.extract.items import Issue, PriceKind
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import money
from gpuledger.extract.price.no_price import is_stated_mark
from gpuledger.extract.product.claims import Claim
from gpuledger.extract.product.context import Context
from gpuledger.extract.product.price_kinds import VisiblePrice
from gpuledger.extract.product.visible import Visible, beside, by_amount

#: Score from which a visible price counts as the page's word against its structured data.
STRONG = 4.0
#: Score from which a visible price is believed alone, and by how much it must lead over another amount.
ALONE, LEAD = 3.6, 0.6


@dataclass(frozen=True, slots=True)
class Decision:
    """The price, or None with the issues that say why; `price_text` is as printed where it is printed."""

    price: Decimal | None = None
    currency: str | None = None
    kind: PriceKind | None = None
    list_price: Decimal | None = None
    price_text: str | None = None
    issues: tuple[Issue, ...] = ()


def decide(page: Context, claims: list[Claim], seen: Visible) -> Decision:
    """The page's price by the claims of its structured data and the prices that are seen on it."""
    if not claims:
        return _from_sight(page, seen)
    amounts = _common(claims)
    prices = list(by_amount(seen.prices))
    asked = [price for price in prices if price.kind not in ("list", "monthly")]
    if amounts is None:
        return _of_disagreeing(page, claims, seen, asked)
    claim = claims[0]
    # Of several readings, the page's old price settles nothing.
    candidates = asked if len(amounts) > 1 else prices
    shown = next((price for price in candidates if price.amount in amounts and _same_money(price, claim)), None)
    main = asked[0] if asked else None
    if len(amounts) > 1 and shown is None:
        return _open(page, claims, seen, "ambiguous_price", "the price can be read in more than one way")
    amount = shown.amount if shown else next(iter(amounts))
    foreign = main is not None and not _same_money(main, claim)
    if main is not None and foreign and (main.amount in amounts or (shown is None and main.score >= STRONG)):
        return _open(page, claims, seen, "currency_disagreement", "the page's sources disagree on the currency")
    if main is None or main is shown or main.amount in amounts or foreign:
        # Another amount in another currency is a conversion for visitors from abroad.
        return _settled(page, claims, amount, shown, prices)
    if main.amount in claim.others:
        # The page shows one of several variants.
        return _settled(page, claims, main.amount, main, prices, kind="now" if main.kind == "now" else "from")
    is_old = (shown is not None and shown.kind == "list") or main.money.list_amount in amounts
    if is_old and main.amount < amount:
        return _settled(page, claims, main.amount, main, prices)
    if shown is not None and shown.kind != "list" and shown.score >= main.score - LEAD and not main.current:
        return _settled(page, claims, amount, shown, prices)
    if main.score >= STRONG or shown is not None:
        return _open(page, claims, seen, "price_disagreement", "the page's sources disagree on the price")
    return _settled(page, claims, amount, shown, prices)


def _common(claims: list[Claim]) -> set[Decimal] | None:
    """The amounts that every claim can be read as; None where there is none, or the currencies differ."""
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


def _of_disagreeing(page: Context, claims: list[Claim], seen: Visible, asked: list[VisiblePrice]) -> Decision:
    """Where structured sources differ: settled only if the page shows one amount as asked and marks all others as old."""
    old = {price.amount for price in seen.prices if price.kind == "list"} | {claim.list_price for claim in claims}
    if asked:
        main = asked[0]
        others = [claim for claim in claims if not claim.may_be(main.amount)]
        if len(others) < len(claims) and all(set(claim.readings) & old for claim in others):
            agreeing = [claim for claim in claims if claim.may_be(main.amount)]
            return _settled(page, agreeing, main.amount, main, list(seen.prices))
    return _open(page, claims, seen, "price_disagreement", "the page's sources disagree on the price")


def _from_sight(page: Context, seen: Visible) -> Decision:
    """The price of a page that states none to machines."""
    asked = [price for price in by_amount(seen.prices) if price.kind not in ("list", "monthly")]
    if not asked:
        if seen.unclear:
            texts = "; ".join(dict.fromkeys(unclear.text for unclear in seen.unclear[:3]))
            return Decision(issues=(_issue(page, "ambiguous_price", f"no price can be read from {texts!r}", texts),))
        return Decision()
    main = asked[0]
    second = asked[1].score if len(asked) > 1 else -9.0
    if main.score < ALONE or main.score - second < LEAD:
        return _open(page, [], seen, "ambiguous_price", "several prices on the page, none clearly that of its goods")
    if not main.money.signed and not (main.named and main.current):
        return _open(
            page, [], seen, "ambiguous_price", "a number without a currency, in a part that is not named as the price"
        )
    if _is_beside_another(main, seen):
        return _open(
            page, [], seen, "ambiguous_price", "another price stands beside it, and no word or name tells them apart"
        )
    return _settled(page, [], main.amount, main, list(seen.prices))


def _is_beside_another(main: VisiblePrice, seen: Visible) -> bool:
    """Whether an amount stands right beside the price that nothing marks as an old price, a rate or a saving."""
    amounts = beside(main, seen.part)
    if not amounts:
        return False
    told = [price.money.text for price in seen.prices if price.kind in ("list", "monthly")]
    told += [visible_text(element) for element in seen.set_aside]
    # The whole part of the same price, whose cents are set small: `$229.99` for the ear and `$229` `99` for the eye.
    own = {*money.tokens(main.money.text), format(main.amount, ",f").partition(".")[0], str(int(main.amount))}
    return any(
        label in ("now", "bundle", "from") and token not in own and not any(token in one for one in told)
        for token, label in amounts.items()
    )


def _settled(
    page: Context,
    claims: list[Claim],
    amount: Decimal,
    shown: VisiblePrice | None,
    prices: list[VisiblePrice],
    kind: PriceKind | None = None,
) -> Decision:
    """The decision for an amount, with its currency, its kind and the old price beside it."""
    currency = next((claim.currency for claim in claims if claim.currency), None)
    if currency is None and shown is not None:
        currency = shown.money.currency
    text = shown.money.text if shown else next((claim.text for claim in claims), None)
    currency = currency or page_currency(page, shown.money.text if shown else None)
    if currency is None:
        issue = _issue(page, "no_currency", f"the price {text!r} has no currency, and the page names none", text)
        return Decision(price_text=text, issues=(issue,))
    if is_stated_mark(amount):
        issue = _issue(page, "no_price", f"{text!r} stands where the goods have no price", text, severity="info")
        return Decision(price_text=text, issues=(issue,))
    if kind is None:
        kinds = [claim.kind for claim in claims if claim.may_be(amount)] + ([shown.kind] if shown else [])
        # A rate is never a price, whoever calls it one.
        kind = "monthly" if "monthly" in kinds else next((one for one in kinds if one not in ("now", "list")), "now")
    olds = [claim.list_price for claim in claims if claim.list_price]
    olds += [price.amount for price in prices if price.kind == "list" and _close(price, shown)]
    olds += [shown.money.list_amount] if shown and shown.money.list_amount else []
    old = min((one for one in olds if one > amount), default=None)
    return Decision(amount, currency, kind, old, text)


def _close(price: VisiblePrice, shown: VisiblePrice | None) -> bool:
    """Whether an old price stands beside the asked one and not on the tile of other goods."""
    if shown is None:
        return False
    return any(up in set(shown.element.iterancestors()) for up in [*price.element.iterancestors()][:4])


_IN_SOURCE = re.compile(rb"currency(?:_?code|_?iso)?[\"']?\s*[:=]\s*[\"']([A-Z]{3})[\"']", re.IGNORECASE)


def page_currency(page: Context, text: str | None) -> str | None:
    """The currency of a price that carries none, or a sign of many countries, and is printed as `text`.

    What the page's `meta` names; else the only one that its source names, if the sign can mean it; else the only money of
    its country.
    """
    named = page.first_meta("product:price:currency", "og:price:currency", "pricecurrency", "currency")
    found = {code.decode() for code in _IN_SOURCE.findall(page.content)}
    for code in (named.strip().upper() if named else None, found.pop() if len(found) == 1 else None):
        if code and currencies.is_code(code) and not _contradicts(text, code):
            return code
    country = currencies.of_country(page.country)
    return None if country is None or _contradicts(text, country) else country


def _contradicts(text: str | None, code: str) -> bool:
    """Whether the printed price has a sign that is not of the currency."""
    found = money.read_price(text or "", currency=code)
    return isinstance(found, money.Ambiguous) or (isinstance(found, money.Money) and found.currency != code)


def _open(page: Context, claims: list[Claim], seen: Visible, code: str, why: str) -> Decision:
    """No price, and what each source said."""
    said = [claim.shown() for claim in claims]
    said += [f"seen on the page: {price.money.text!r}" for price in list(by_amount(seen.prices))[:3]]
    text = "; ".join(said)
    return Decision(issues=(_issue(page, code, f"{why}: {text}", text),))


def _issue(page: Context, code: str, message: str, text: str | None, severity: str = "warning") -> Issue:
    return Issue(
        code=code, message=message, severity="info" if severity == "info" else "warning", text=text, url=page.url
    )
