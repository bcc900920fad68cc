"""Decides the price of a page from its claims, or gives the reason why it has none.

Claims that agree are believed. A claim that differs is explained only if the page itself explains it: it marks one amount as
the old price, or it sells variants at several prices. Otherwise the price is left open and the issue names every claim: a
wrong price costs a buyer more than a missing one. The rules of each kind of page are asked in their order, and the first
that answers decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.price import money, vat
from gpuledger.extract.price.currency import find
from gpuledger.extract.price.no_price import is_nines, is_nothing
from gpuledger.extract.product import scripts
from gpuledger.extract.product.claims import Claim
from gpuledger.extract.product.context import Context, page_currency
from gpuledger.extract.product.prices import MAX_TEXT, VisiblePrice
from gpuledger.extract.product.visible import Visible, beside, by_amount
from gpuledger.items import Issue, PriceKind, Severity


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
#: What a price without a currency consists of.
_DIGITS = "0123456789.,:-–— \u00a0'’"
#: The most levels from the title up to the part that the title shares with a price that stands beside it.
_BESIDE_TITLE = 3
#: A price that is a smaller share of the stated one is a charge, a rate or a price by weight, whatever the page calls it.
_SHARE_OF_ANOTHER_THING = Decimal("0.2")


@dataclass(frozen=True, slots=True)
class Decision:
    """The price, or None with the issues that say why. `price_text` is what the page says, as printed or as its
    structured data have it.
    """

    price: Decimal | None = None
    currency: str | None = None
    kind: PriceKind | None = None
    list_price: Decimal | None = None
    price_text: str | None = None
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """What a page says about its price, as the rules look at it."""

    page: Context
    claims: list[Claim]
    seen: Visible
    #: The claims of scripts. They take long to read, so they are asked for only if all else does not settle the price.
    scripts: Callable[[], list[Claim]]
    limits: Limits
    #: The prices on the page, one of each amount, the best first; and those that can be paid at once.
    prices: list[VisiblePrice]
    payable: list[VisiblePrice]
    #: The amounts that every claim can be read as; empty if there are none.
    amounts: set[Decimal]

    @property
    def claim(self) -> Claim:
        """The claim of the most trusted source."""
        return self.claims[0]

    @property
    def main(self) -> VisiblePrice:
        """The likeliest price on the page."""
        return self.payable[0]

    @property
    def shown(self) -> VisiblePrice | None:
        """The claimed price as the page shows it. An old price does not say which of several readings is right."""
        candidates = self.payable if len(self.amounts) > 1 else self.prices
        return next((one for one in candidates if one.amount in self.amounts and _same_money(one, self.claim)), None)

    @property
    def amount(self) -> Decimal:
        """The claimed amount."""
        return self.shown.amount if self.shown else next(iter(self.amounts))

    @property
    def is_in_range(self) -> bool:
        """Whether the likeliest price on the page lies inside the range that is claimed for the variants."""
        claim = self.claim
        return claim.kind == "from" and bool(claim.others) and self.amount < self.main.amount <= max(claim.others)

    def as_claimed(self) -> Decision:
        """The claimed price."""
        return self.settled(self.amount, self.shown, self.claims)

    def as_seen(self, price: VisiblePrice | None = None) -> Decision:
        """A price on the page, the likeliest if none is named, whatever is claimed."""
        price = price or self.main
        return self.settled(price.amount, price, prices=self.seen.prices)

    def as_variant(self) -> Decision:
        """The likeliest price on the page, as that of one of several variants."""
        kind: PriceKind = "now" if self.main.kind == "now" else "from"
        return self.settled(self.main.amount, self.main, self.claims, kind=kind)

    def settled(
        self,
        amount: Decimal,
        shown_price: VisiblePrice | None,
        claims: Sequence[Claim] = (),
        prices: Sequence[VisiblePrice] | None = None,
        kind: PriceKind | None = None,
    ) -> Decision:
        """The decision for an amount, with its currency, its kind and the old price beside it.

        It follows from what the page says to programs (`claims`) and to people (`prices`, all those of the page by default).
        """
        page, prices = self.page, self.prices if prices is None else prices
        currency = next((claim.currency for claim in claims if claim.currency), None)
        if currency is None and shown_price is not None:
            currency = shown_price.money.currency
        text = shown_price.money.text if shown_price else next((claim.text for claim in claims), None)
        currency = currency or page_currency(page, shown_price.money.text if shown_price else None)
        if currency is None and shown_price is not None and shown_price.money.text.strip(_DIGITS) == "":
            # `1.179,-` beside `excl. btw € 974,38`
            others = {find(visible_text(one, MAX_TEXT), page.country) for one in self.seen.set_aside} - {None}
            currency = others.pop() if len(others) == 1 else None
        if currency is None:
            way = "write the shop's country behind its address, such as #country=us"
            issue = _issue(
                page, "no_currency", f"the price {text!r} has no currency, and the page names none: {way}", text
            )
            return Decision(price_text=text, issues=(issue,))
        if is_nothing(amount) or (is_nines(amount, currency) and not (claims and shown_price)):
            issue = _issue(page, "no_price", f"{text!r} stands where the goods have no price", text, severity="info")
            return Decision(price_text=text, issues=(issue,))
        if kind is None:
            kinds = [claim.kind for claim in claims if claim.may_be(amount)] + (
                [shown_price.kind] if shown_price else []
            )
            # A monthly rate is never the price, even if another source calls it one.
            kind = (
                "monthly" if "monthly" in kinds else next((one for one in kinds if one not in ("now", "list")), "now")
            )
        olds = [claim.list_price for claim in claims if claim.list_price]
        olds += [price.amount for price in prices if price.kind == "list" and _is_close(price, shown_price)]
        olds += [shown_price.money.list_amount] if shown_price and shown_price.money.list_amount else []
        old = min((one for one in olds if one > amount), default=None)
        return Decision(amount, currency, kind, old, text)

    def left_open(self, code: str, why: str, claims: Sequence[Claim] | None = None) -> Decision:
        """No price, and an issue with what each source says: the claims, those of the page if none are given."""
        statements = [claim.as_text() for claim in (self.claims if claims is None else claims)]
        statements += [f"seen on the page: {price.money.text!r}" for price in self.prices[:3]]
        text = "; ".join(statements)
        return Decision(issues=(_issue(self.page, code, f"{why}: {text}", text),))


class Rule(NamedTuple):
    """One way to a decision. `decide` returns it; None if the rule does not apply."""

    reason: str
    #: What a page says that this rule decides.
    case: str
    decide: Callable[[Question], Decision | None]


def decide(
    page: Context, claims: list[Claim], seen: Visible, script_claims: Callable[[], list[Claim]], limits: Limits = LIMITS
) -> Decision:
    """The page's price, from the claims of its structured data and the prices that are seen on the page.

    `script_claims` returns the claims of scripts. It takes long, so it is called only if the others do not settle the price.
    """
    prices = list(by_amount(seen.prices))
    payable = [price for price in prices if price.kind not in ("list", "monthly")]
    # Forms that need a number are filled with nines. They are a price if the page shows the same to its buyers.
    seen_amounts = {price.amount for price in payable}
    claims = [
        one
        for one in claims
        if not seen_amounts.isdisjoint(one.readings) or not is_nines(one.readings[0], one.currency)
    ]
    amounts = (_common(claims) if claims else None) or set()
    question = Question(page, claims, seen, script_claims, limits, prices, payable, amounts)
    rules = OF_CLAIMS if amounts else OF_DISAGREEING if claims else OF_SIGHT if payable else OF_NOTHING_PAYABLE
    return next(decision for rule in rules if (decision := rule.decide(question)) is not None)


# ── rules of claims that agree ────────────────────────────────────────────────────────────────────────────────────────


def _several_readings(q: Question) -> Decision | None:
    if len(q.amounts) == 1 or q.shown is not None:
        return None
    return q.left_open("ambiguous_price", "the price can be read in more than one way")


def _nothing_else(q: Question) -> Decision | None:
    return None if q.payable else q.as_claimed()


def _other_currency(q: Question) -> Decision | None:
    if _same_money(q.main, q.claim):
        return None
    if q.main.amount in q.amounts or (q.shown is None and q.main.score >= q.limits.strong):
        return q.left_open("currency_disagreement", "the page's sources disagree on the currency")
    # Another amount in another currency is a conversion for visitors from abroad.
    return q.as_claimed()


def _same_amount(q: Question) -> Decision | None:
    return q.as_claimed() if q.main is q.shown or q.main.amount in q.amounts else None


def _one_variant(q: Question) -> Decision | None:
    # Or for machines the page names only the cheapest and the dearest variant.
    is_named = q.main.amount in q.claim.others
    # A range on the page is that of all variants, and the current price that of the chosen one.
    is_of_all = q.shown is None or (q.main.current and q.shown.kind == "from")
    is_inside = q.is_in_range and is_of_all and q.main.score >= q.limits.strong
    return q.as_variant() if is_named or is_inside else None


def _old_price(q: Question) -> Decision | None:
    is_old = (q.shown is not None and q.shown.kind == "list") or q.main.money.list_amount in q.amounts
    if not is_old or q.main.amount >= q.amount:
        return None
    if _FOR_SOME.search(_beside(q.main)):
        return q.as_claimed()  # the lower price is for buyers with a code or a card to trade in
    return q.settled(q.main.amount, q.main, q.claims)


#: What makes a lower price one that only some buyers pay.
_FOR_SOME = re.compile(
    r"\b(?:with|use|using|enter|after|mit|nach|avec|con)\b[^.]{0,20}\b"
    r"(?:code|coupon|voucher|gutschein\w*|trade-?\s?in|inzahlungnahme|cup[oó]n)|쿠폰\s?적용|쿠폰가",
    re.IGNORECASE,
)


def _beside(price: VisiblePrice) -> str:
    """The text of the largest part of the page around a price that still holds little more than prices."""
    text = ""
    for up in (price.element, *price.element.iterancestors()):
        if len(larger := visible_text(up, _PART_TEXT)) > _LONGEST_PAIR:
            break
        text = larger
    return text


def _before_tax(q: Question) -> Decision | None:
    is_net = q.amount in q.seen.net or vat.is_before_tax(q.amount, q.main.amount, q.page.country)
    if not is_net or q.main.score < q.limits.alone:
        return None
    return q.settled(q.main.amount, q.main)


def _shown_too(q: Question) -> Decision | None:
    shown, main = q.shown, q.main
    if shown is None or shown.kind == "list":
        return None
    as_likely = shown.score >= main.score - q.limits.lead and not main.current
    # The main price is one seller's. The page also names the price of the cheapest seller.
    of_sellers = q.is_in_range and shown.kind == "from"
    # The seen price is a charge, a price by weight, or an old price without a word.
    is_another = main.amount < q.amount * _SHARE_OF_ANOTHER_THING or (main.amount > q.amount and not main.current)
    return q.as_claimed() if as_likely or of_sellers or is_another else None


def _by_votes(q: Question) -> Decision | None:
    shown, main = q.shown, q.main
    if main.score < q.limits.strong and shown is None:
        return None
    votes = [one for one in q.scripts() if one.may_be(main.amount) != (shown is not None and one.may_be(q.amount))]
    if votes and all(one.may_be(main.amount) for one in votes) and main.score >= q.limits.alone:
        return q.settled(main.amount, main)
    if votes and shown is not None and shown.kind != "list" and all(one.may_be(q.amount) for one in votes):
        return q.as_claimed()
    return _disagreement(q)


_DISAGREE = "the page's sources disagree on the price"

OF_CLAIMS: tuple[Rule, ...] = (
    Rule("the number can be read in two ways, and the page shows neither", "2.449 in JSON-LD alone", _several_readings),
    Rule("nothing on the page contradicts the claim", "a price in JSON-LD alone", _nothing_else),
    Rule("the currencies differ", "549 USD in JSON-LD, 549 € on the page", _other_currency),
    Rule("the page shows the claimed amount", "549 in JSON-LD, $549 on the page", _same_amount),
    Rule("the page shows one of several variants", "from 549 to 599 in JSON-LD, $599 on the page", _one_variant),
    Rule("the claim is the old price", "599 in JSON-LD, <s>$599</s> $549 on the page", _old_price),
    Rule("the claim is the price before tax", "100 in JSON-LD, 119 € on the page of a German shop", _before_tax),
    Rule("the page shows the claimed price as well", "549 in JSON-LD, $599 and $549 on the page", _shown_too),
    Rule("scripts side with one of the two", "549 in JSON-LD, $499 on the page and in its script", _by_votes),
    Rule("what the page shows is hardly a price", "549 in JSON-LD, 30 far from the title", Question.as_claimed),
)


# ── a rule of claims that differ ──────────────────────────────────────────────────────────────────────────────────────


def _one_is_payable(q: Question) -> Decision | None:
    """The only payable amount of those that are claimed.

    The other amounts are marked as old on the page, are the price before tax, or do not stand on it at all (the price for
    members, of yesterday, of another country).
    """
    if not q.payable or len({claim.currency for claim in q.claims if claim.currency}) > 1:
        return None
    main = q.main
    old = {price.amount for price in q.seen.prices if price.kind == "list"} | {claim.list_price for claim in q.claims}
    others = [claim for claim in q.claims if not claim.may_be(main.amount)]
    shown_amounts = {price.amount for price in q.payable}

    def is_explained(claim: Claim) -> bool:
        values = set(claim.readings)
        is_absent = main.score >= q.limits.strong and not values & shown_amounts
        return bool(values & old or values & q.seen.net) or is_absent

    if len(others) == len(q.claims) or not all(map(is_explained, others)):
        return None
    agreeing = [claim for claim in q.claims if claim.may_be(main.amount)]
    return q.settled(main.amount, main, agreeing, q.seen.prices)


def _disagreement(q: Question) -> Decision:
    return q.left_open("price_disagreement", _DISAGREE)


OF_DISAGREEING: tuple[Rule, ...] = (
    Rule(
        "the page shows only one of the claimed amounts",
        "549 in JSON-LD, 599 in meta, $549 on the page",
        _one_is_payable,
    ),
    Rule(
        "nothing says which of the claims",
        "549 in JSON-LD, 599 in meta",
        _disagreement,
    ),
)


# ── rules of pages that state no price to machines ────────────────────────────────────────────────────────────────────


def _gross_of_old(q: Question) -> Decision | None:
    by_tax = [one for one in q.prices if any(vat.is_before_tax(net, one.amount, q.page.country) for net in q.seen.net)]
    return q.settled(by_tax[0].amount, by_tax[0], prices=by_tax) if len(by_tax) == 1 else None


OF_NOTHING_PAYABLE: tuple[Rule, ...] = (
    Rule("an old price is payable if the same before tax stands beside it", "<s>119 €</s> 100 € netto", _gross_of_old),
    Rule(
        "scripts state the price",
        "product_price = 549 in a script",
        lambda q: _from_scripts(q),
    ),
)


def _clear(q: Question) -> Decision | None:
    return None if _doubt(q) else q.as_seen()


def _discount(q: Question) -> Decision | None:
    proven = _by_share(q.payable)
    if proven is None:
        return None
    now, old = proven
    return q.settled(now.amount, now, prices=[replace(old, kind="list"), now])


def _taxed(q: Question) -> Decision | None:
    taxed = _with_tax(q.page, q.payable)
    return q.as_seen(taxed) if taxed is not None else None


def _agreeing(q: Question) -> Decision | None:
    votes = q.scripts()
    agreeing = [price for price in q.payable if votes and all(one.may_be(price.amount) for one in votes)]
    if len(agreeing) != 1 or agreeing[0].score < q.main.score - 2 * q.limits.lead:
        return None
    return q.as_seen(agreeing[0])


def _doubt(q: Question) -> str:
    """Why the likeliest price on the page may not be that of its goods; empty if nothing speaks against it."""
    main, limits = q.main, q.limits
    high = main.money.high_amount or main.amount
    # A price inside the main price's range does not contradict it.
    second = max((one.score for one in q.payable[1:] if not main.amount <= one.amount <= high), default=-9.0)
    is_sole = len(q.payable) == 1 and main.money.signed and main.distance <= _BESIDE_TITLE and main.score >= limits.sole
    if (main.score < limits.alone and not is_sole) or main.score - second < limits.lead:
        return "several prices on the page, none clearly that of its goods"
    if not main.money.signed and not (main.named and (main.current or main.marked or main.labelled)):
        return "a number without a currency, in a part that is not named as the price"
    if _is_beside_another(q.page, main, q.seen):
        return "another price stands beside it, and no word or name tells them apart"
    others = [one for one in q.payable[1:] if not vat.is_before_tax(one.amount, main.amount, q.page.country)]
    if _is_before_saving(main, others, q.seen):
        return "a lower price is this one and a saving that the page names"
    return ""


def _several_prices(q: Question) -> Decision:
    return q.left_open("ambiguous_price", _doubt(q))


OF_SIGHT: tuple[Rule, ...] = (
    Rule("one price is clearly that of the goods", "$549 beside the title and the button", _clear),
    Rule("a percentage proves which of two is the old price", "₹29,799 ₹52,000 42% off", _discount),
    Rule("words say which of two is with tax", "12,800円 税込14,080円", _taxed),
    Rule("all scripts name one of the prices", "$549 and $499 on the page, 499 in a script", _agreeing),
    Rule("nothing says which of the prices", "$549 and $499", _several_prices),
)


# ── what the rules need ───────────────────────────────────────────────────────────────────────────────────────────────


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


def _from_scripts(q: Question) -> Decision:
    """The price of a page that shows none, if all that its scripts say of it is one amount; otherwise the reason why not."""
    page, seen = q.page, q.seen
    script_claims = [one for one in q.scripts() if one.source != scripts.DESCRIPTION]
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
        return q.settled(values.pop(), None, [claim], seen.prices)
    if seen.unclear:
        texts = "; ".join(dict.fromkeys(one.text for one in seen.unclear[:3]))
        return Decision(issues=(_issue(page, "ambiguous_price", f"no price can be read from {texts!r}", texts),))
    if script_claims and values:
        why = "only a script states a price, which can be read in more than one way"
        return q.left_open("ambiguous_price", why, script_claims)
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
        explained += [token for token in amounts if vat.is_before_tax(vat.value_of(token), main.amount, page.country)]
    return any(
        label in ("now", "bundle", "from")
        and token not in own
        and any(digit in token for digit in "123456789")
        and not any(token in explained_text for explained_text in explained)
        for token, label in amounts.items()
    )


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


def _with_tax(page: Context, payable: list[VisiblePrice]) -> VisiblePrice | None:
    """The price whose words say that it is with tax, if the only other price is the same without tax.

    `12,800円 税込14,080円`
    """
    if len(payable) != 2 or any(price.kind != "now" for price in payable):
        return None
    low, high = sorted(payable, key=lambda price: price.amount)
    if not vat.is_before_tax(low.amount, high.amount, page.country):
        return None
    return high if vat.included(visible_text(high.element, MAX_TEXT), high.amount) else None


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


def _is_close(price: VisiblePrice, shown_price: VisiblePrice | None) -> bool:
    """Whether an old price stands beside the asked one, and not on the tile of other goods."""
    if shown_price is None:
        return False
    return any(up in set(shown_price.element.iterancestors()) for up in [*price.element.iterancestors()][:4])


def _issue(page: Context, code: str, message: str, text: str | None, severity: Severity = "warning") -> Issue:
    return Issue(code=code, message=message, severity=severity, text=text, url=page.url)
