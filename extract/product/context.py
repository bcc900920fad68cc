"""What a page says about itself: its address, title, country, language and `meta` properties."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from babel.languages import get_official_languages
from lxml.html import HtmlElement

from gpuledger.extract import source
from gpuledger.extract.market import country_of_domain
from gpuledger.extract.markup.html import visible_text
from gpuledger.extract.markup.links import joined, parts_of
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price import money
from gpuledger.extract.source import Page

_LOCALE = re.compile(r"\s*([a-z]{2,3})(?:[-_](?:[A-Za-z]{4}[-_])?([A-Za-z]{2}))?\b")
#: Codes of the language part of an address, which stands beside the country: `/en-ca/`, `/gb/en/`, `/ie/en/`.
_LANGUAGES = frozenset(
    re.findall(
        r"\w+",
        """en de fr it es pt nl pl cs sk sl hr sr hu ro bg sv da nb no fi et lv lt ru uk tr el ja zh ko ar he th vi id
        ms is ca hi""",
    )
)
#: Languages that are at home in one country. That country is the last resort: a page in Swedish counts in Swedish crowns.
_HOME_OF_LANGUAGE = {
    "bg": "BG", "cs": "CZ", "da": "DK", "et": "EE", "fi": "FI", "hr": "HR", "hu": "HU", "id": "ID", "is": "IS", "ja": "JP",
    "ko": "KR", "lt": "LT", "lv": "LV", "nb": "NO", "nn": "NO", "no": "NO", "pl": "PL", "sk": "SK", "sl": "SI", "sv": "SE",
    "th": "TH", "tr": "TR", "uk": "UA", "vi": "VN",
}  # fmt: skip
_PATH_LOCALE = re.compile(r"^/(?:([a-z]{2})[-_]([A-Za-z]{2})|([a-z]{2})/([a-z]{2}))/")


@dataclass(frozen=True)
class Context:
    """One page and what it says about itself. `country` is ISO 3166, `language` ISO 639; None if the page does not say."""

    tree: HtmlElement
    content: bytes
    url: str
    country: str | None
    language: str | None
    meta: dict[str, list[str]]
    canonical: str | None

    def first_meta(self, *names: str) -> str | None:
        """The content of the first of these `meta` properties or names that the page has."""
        return next((value for name in names for value in self.meta.get(name, ()) if value.strip()), None)

    @cached_property
    def headings(self) -> list[tuple[HtmlElement, str]]:
        """The page's `h1` elements that have text, each with its text."""
        return [(h1, text) for h1 in self.tree.iter("h1") if (text := visible_text(h1))]

    @cached_property
    def document_title(self) -> str:
        """The text of `title`."""
        return " ".join((self.tree.findtext(".//title") or "").split())

    @cached_property
    def titles(self) -> list[str]:
        """What the page calls its goods: its headings, its title for other sites, its document's title."""
        others = (self.first_meta("og:title", "twitter:title"), self.document_title)
        return [*(text for _, text in self.headings), *(title for title in others if title)]

    @cached_property
    def chosen(self) -> frozenset[str]:
        """The words of what is chosen on the page (`16gb`): of selected options, and of the labels of checked boxes."""
        labels = "//label[@for = //input[@checked]/@id] | //input[@checked]/ancestor::label"
        pressed = "//option[@selected] | //*[@aria-checked='true' or @aria-pressed='true']"
        texts = [visible_text(part, 60) for part in self.tree.xpath(f"{labels} | {pressed}")]
        return frozenset(re.findall(r"\w+", re.sub(r"(\d)\s+([gt]b)\b", r"\1\2", " ".join(texts).lower())))

    @cached_property
    def address_words(self) -> str:
        """The page's addresses (fetched, canonical, og:url), unquoted, in small letters, to search for codes and names."""
        addresses = (self.url, self.canonical or "", self.first_meta("og:url") or "")
        return " ".join(unquote(address) for address in addresses).lower()


def build(page: Page, tree: HtmlElement, country: str | None, language: str | None) -> Context:
    """The context of a page. `country` and `language` are what the caller knows; they override what the page says."""
    meta: dict[str, list[str]] = {}
    for element in tree.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop")
        if name and (content := element.get("content")):
            meta.setdefault(name.strip().lower(), []).append(content.strip())
    canonical = next(
        (link.get("href") for link in tree.iter("link") if (link.get("rel") or "").lower() == "canonical"), None
    )
    url = page.final_url or page.url
    page_country, page_language = _locale(tree, url, canonical, meta)
    return Context(
        tree=tree,
        content=page.content,
        url=url,
        country=country or page_country,
        language=language or page_language,
        meta=meta,
        canonical=(joined(url, canonical) or None) if canonical else None,
    )


def _locale(
    tree: HtmlElement, url: str, canonical: str | None, meta: dict[str, list[str]]
) -> tuple[str | None, str | None]:
    """Country and language. The address comes first (a shop's domain is no template's default), then what it declares."""
    declared = [tree.get("lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"), tree.get("xml:lang")]
    declared += [*meta.get("og:locale", ())[:1], *meta.get("content-language", ())[:1], *meta.get("language", ())[:1]]
    locales = [match.groups() for text in declared if text and (match := _LOCALE.match(text))]
    language = next((str(code).lower() for code, _ in locales), None)
    host = parts_of(url).hostname or ""
    told = (
        _country_of_path(url), country_of_domain(url), source.country_of(host), country_of_domain(canonical or ""),
        _country_of_directory(url, language),
    )  # fmt: skip
    country = next((code for code in told if code and code != "EU"), None)
    if country is None:
        regions = Counter(str(region).upper() for _, region in locales if region)
        country = regions.most_common(1)[0][0] if regions else _HOME_OF_LANGUAGE.get(language or "")
    return country, language


def _country_of_path(url: str) -> str | None:
    """The country in the first directories of an address, if the directory or word beside it is a language."""
    match = _PATH_LOCALE.match(parts_of(url).path)
    if match is None:
        return None
    language, region, first, second = match.groups()
    for spoken, country in ((language, region), (second, first), (first, second)):
        if spoken in _LANGUAGES and country and currencies.is_country(country.upper()):
            return str(country.upper())
    return None


def _country_of_directory(url: str, language: str | None) -> str | None:
    """The country of the first directory alone (`/us/`), which means what such a top-level domain would, if the page is
    written in a language of that country and the directory is not the name of that language.
    """
    match = _DIRECTORY.match(parts_of(url).path)
    country = country_of_domain(f"https://shop.{match[1]}") if match and match[1] != language else None
    return country if country and language in get_official_languages(country, de_facto=True) else None


_DIRECTORY = re.compile(r"/([a-z]{2})/")


# ── its currency ────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    known: the only one in the source that the sign can mean.
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
    codes = (meta_currency.strip().upper() if meta_currency else None, active, _only(in_source))
    yield from (code for code in codes if code and currencies.is_code(code))


def _only(codes: set[str]) -> str | None:
    return next(iter(codes)) if len(codes) == 1 else None


def _contradicts(text: str | None, code: str) -> bool:
    """Whether the printed price has a sign that does not belong to the currency."""
    reading = money.read_price(text or "", currency=code)
    return isinstance(reading, money.Ambiguous) or (isinstance(reading, money.Money) and reading.currency != code)
