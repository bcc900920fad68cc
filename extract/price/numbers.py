"""The numbers of a price text, each with the currency that touches it and with the label that the words around it give."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuledger.extract.price import amounts
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import words as price_words

_SPACED_DOLLAR = re.compile(r"(?<![^\W\d_])(US|AU|CA|NZ|HK|NT|MX|C|A|S|R)[ \u00a0](?=\$)")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]")
_WHITE = re.compile(r"[^\S\u00a0]+")
#: Euros and cents with the sign as the separator, as printed in France: `35€99`.
_EURO_CENTS = re.compile(
    r"(?<![.,\d])(\d{1,3}(?:[ .\u00a0]\d{3})+|\d+)€(?:(\d{2})(?![\d.,€%\w])| (\d{2})(?=$|\s*\*|\s(?:dont|ttc|ht)\b))",
    re.IGNORECASE,
)


def tidy(text: str) -> str:
    """The text with ASCII digits, single spaces, no invisible characters, and joined euros and cents (`35€99` is `35,99€`).

    No-break spaces stay: they join groups of digits.
    """
    text = _INVISIBLE.sub("", amounts.digits_to_ascii(text)).replace("\u202f", "\u00a0").replace("\u2009", "\u00a0")
    text = _SPACED_DOLLAR.sub(r"\1", _WHITE.sub(" ", text)).strip(" \u00a0")
    text = _SPACED_POINT.sub(r"\1", text)
    return _EURO_CENTS.sub(lambda match: f"{match[1]},{match[2] or match[3]}€", text)


#: A point in an element of its own, with spaces around it: `1499 . 99`.
_SPACED_POINT = re.compile(r"(?<=\d)[ \u00a0]+([.,])[ \u00a0]*(?=\d\d(?![\d.,]))")
#: A dash for the cents: `1.299,-`, `1'299.–`, in Sweden `7 990:-`.
#: In `£60 - £68` the dash separates two amounts.
_CENTS_DASH = re.compile(
    r"^(?::-|[.,]\s?[-–—]{1,2}(?![\d$€£¥₩])|[-–—]{1,2}(?![\d$€£¥₩])|\s[-–—]{1,2}(?!\d|\s?[$€£¥₩]))"
)
_DASHED = re.compile(r"[.,:][-–—]{1,2}(?![\d\w])")
_NEGATIVE = re.compile(r"[\s\u00a0(]*[-−–]\s?")
#: The unit of a term, of a warranty or a plan.
_TERM = re.compile(
    r"[ \u00a0]?(?:years?|yrs?|jahre?|ans?|années?|años?|ann[io]|anos?|jaar|lata?|roky|rok[uů]|år|vuo[dt]\w+|лет|года?|yıl"
    r"|年|년)(?!\w{3})",
    re.IGNORECASE,
)
_SHARE_AND_SUM = re.compile(r"[\s\u00a0]*%[\s\u00a0]*[/(=|][\s\u00a0]*[^\w\s]?[\s\u00a0]*")
#: A number with cents. No price begins with two zeros, as numbers of goods do (`002.638.50`), or separates thousands and
#: cents by the same sign (`304.499.08`).
MONEY_LIKE = re.compile(r"(?!00)(?!\d{1,3}([.,])\d{3}\1\d{2}$).*[.,]\s?\d{2}", re.DOTALL)


#: The unit behind a number that is a length, an area, a volume or a weight.
_MEASURE = re.compile(r"[ \u00a0]?(?:[kcm]?m[²2³]|qm|[cm]?m|[mcd]?l|k?g|mg|oz|lbs?)(?![^\W_])", re.IGNORECASE)


class PrintedNumber(NamedTuple):
    """One number of the text. `before` and `after` are the words up to its neighbours, without its currency symbols."""

    token: str
    before: str
    after: str
    symbols: tuple[str, ...]
    label: price_words.Label
    #: Whether nothing but spaces stands between it and the number before.
    follows: bool
    cents_mark: str
    #: Whether a dash for the cents stands right behind it. Only money has such a dash (`1'299.–`, `649,-`, `7 990:-`).
    is_dashed: bool

    @property
    def is_signed(self) -> bool:
        """Whether the text itself says that the number is money."""
        return bool(self.symbols) or self.is_dashed


def numbers(tidy_text: str) -> list[PrintedNumber]:
    """The numbers of a tidy text that may be amounts, in order, without percentages and parts of words (32GB, 1e5)."""
    spans = [match.span() for match in amounts.NUMBER.finditer(tidy_text)]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    gaps = [tidy_text[end:start] for end, start in zip([0, *ends], [*starts, len(tidy_text)], strict=True)]
    printed: list[PrintedNumber] = []
    last_suffix = ""
    for place, (prefix, suffix) in enumerate(_symbols([tidy_text[start:end] for start, end in spans], gaps)):
        before, after = (
            gaps[place].lstrip(" \u00a0").removeprefix(last_suffix) if last_suffix else gaps[place],
            gaps[place + 1],
        )
        last_suffix = suffix or ""
        dash = _CENTS_DASH.match(after)
        if prefix and _is_code(prefix, before, tidy_text[starts[place] : ends[place]]):
            prefix = None
        symbols = tuple(symbol for symbol in (prefix, suffix) if symbol)
        is_percentage = after.lstrip(" \u00a0")[:1] == "%"
        in_word = before[-1:].isalpha() or before[-1:] == "#" or after[:1].isalpha()
        in_code = after.isalpha() and not suffix and place + 1 < len(spans)
        if is_percentage or in_code or (in_word and not symbols):
            continue
        shares_sign = prefix is not None and suffix is None and bool(printed) and prefix in printed[-1].symbols
        if _MEASURE.match(after) and (not symbols or after.startswith("L") or shares_sign):
            # `0,95 € 0,3 l`, `22,09 € (2,22 m²)`
            continue
        if 0 < place == len(printed) and printed[-1].label == "net" and not any(map(str.isalpha, printed[0].before)):
            # In a text that begins with an amount, words describe the amount before them: `499 € ex VAT 599 € inc VAT`.
            before = price_words.without_net_words(printed[-1].after)
        if place and (_SHARE_AND_SUM.fullmatch(before) or _TERM.match(before)):
            # `You save 10% / $100.00`, `Garantie 2 ans 69 €`: the words before the share or the term describe the sum too.
            before = gaps[place - 1] + before
        if prefix:
            before = before.rstrip(" \u00a0:").removesuffix(prefix)
        # Words behind an amount may hold a number of their own (`/100 g`, `for 24 months`).
        text_after = tidy_text[ends[place] :]
        if suffix:
            skipped = dash.end() if dash else 0
            after = after[skipped:].lstrip(" \u00a0").removeprefix(suffix)
            text_after = text_after[skipped:].lstrip(" \u00a0").removeprefix(suffix)
        follows = place > 0 and prefix is None and not gaps[place].strip(" \u00a0")
        negative = place == 0 and _NEGATIVE.fullmatch(before)
        printed.append(
            PrintedNumber(
                token=tidy_text[starts[place] : ends[place]],
                before=before,
                after=after,
                symbols=symbols,
                label="noise" if negative else price_words.label(before, text_after),
                follows=follows,
                cents_mark=dash.group()[0] if dash and dash.group()[0] in ".,:" else "",
                is_dashed=suffix is None and _DASHED.match(after) is not None,
            )
        )
    return printed


#: Letters that begin product codes (`VT4070`, `VT 4070`, `AZ-P44`) far more often than they stand before an amount.
_RARE_SIGNS = frozenset(("p", "р", "vt", "um", "nu", "fg", "rf", "ks", "zk", "ff", "kd", "km", "nt"))


def _is_code(sign: str, before: str, token: str) -> bool:
    """Whether letters that could be a sign of money begin a code that continues with digits."""
    return sign.lower() in _RARE_SIGNS and token.isdigit() and before.rstrip(" \u00a0").endswith(sign)


def _symbols(tokens: list[str], gaps: list[str]) -> list[tuple[str | None, str | None]]:
    """The currency symbols before and behind each number, given the texts before, between and after the numbers."""
    prefixes = [currencies.at_end(gap.rstrip(" \u00a0:")) for gap in gaps[:-1]]
    suffixes = [currencies.at_start(_CENTS_DASH.sub("", gap).lstrip(" \u00a0")) for gap in gaps[1:]]
    for here, gap in enumerate(gaps[1:-1]):
        symbol = suffixes[here]
        if symbol is None or symbol != prefixes[here + 1] or gap.count(symbol) > 1:
            continue
        # A symbol between two numbers belongs to the number that has no other symbol; else to the number that it touches;
        # else to the number that looks like money; else to both.
        if prefixes[here] and not suffixes[here + 1]:
            suffixes[here] = None
        elif suffixes[here + 1] and not prefixes[here]:
            prefixes[here + 1] = None
        elif gap[0].isspace() != gap[-1].isspace():
            (suffixes if gap[0].isspace() else prefixes)[here + (not gap[0].isspace())] = None
        elif _LONG_CODE.fullmatch(tokens[here]) and MONEY_LIKE.fullmatch(tokens[here + 1]):
            # `Art. 104711 € 349,00`
            suffixes[here] = None
        elif symbol in _ALWAYS_BEHIND or (MONEY_LIKE.fullmatch(tokens[here]) and tokens[here + 1].isdigit()):
            prefixes[here + 1] = None
    return list(zip(prefixes, suffixes, strict=True))


#: Digits that nobody groups are a code if they stand beside an amount with cents.
_LONG_CODE = re.compile(r"\d{5,}")
#: Currencies that nobody prints before the amount.
_ALWAYS_BEHIND = frozenset(
    ("zł", "Kč", "Ft", "원", "円", "元", "грн", "грн.", "руб", "руб.", "р.", "₽", "лв", "лв.", "тг", "тг.", "kn", "lei",
     "Lei")
)  # fmt: skip
